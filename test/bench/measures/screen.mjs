import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { END_MARK, longMarkdown, tokens } from "../lib/markdown.mjs";
import { startModelServer } from "../lib/model-server.mjs";
import { cpuOf, memoryOf, runToEnd } from "../lib/process.mjs";
import { interleave, percentile } from "../lib/stats.mjs";
import { startInTerminal } from "../lib/terminal.mjs";

export const TEXT = longMarkdown(300_000);
const PACED_MS = 4_700;
const KEY_EVERY_MS = 60;
const SETTLE_MS = 1_500;
const IDLE_MS = 5_000;

/** Number of keys typed on an idle screen. */
const IDLE_KEYS = 40;

const SCREEN = ["--model", "bench/scripted", "--no-session"];

/** Streams the answer into the terminal while keys are typed, and measures the cost. */
export async function streamInto(command, sandbox) {
	const terminal = startInTerminal(command, sandbox);
	try {
		await terminal.painted();
		await delay(SETTLE_MS);
		const from = terminal.chunks.length;
		const bytesBefore = terminal.bytes();
		const cpuBefore = cpuOf(terminal.pid);
		terminal.write("go\r");
		let done = false;
		const finished = terminal.waitFor(END_MARK, { from, timeoutMs: 120_000 }).finally(() => {
			done = true;
		});
		const echoes = [];
		for (let key = 2; !done; key++) {
			await Promise.race([delay(KEY_EVERY_MS), finished]);
			if (!done) echoes.push(await terminal.echo(key));
		}
		const endedAt = await finished;
		const cpu = (cpuOf(terminal.pid) - cpuBefore) / 1000;
		const stream = terminal.chunks.slice(from).filter(({ at }) => at <= endedAt);
		const frames = stream.filter(({ data }) => data.includes("\x1b[?2026h")).map(({ at }) => at);
		const written = stream.map(({ data }) => data).join("");
		return {
			cpu,
			echo: echoes.length > 0 ? percentile(echoes, 95) : Number.NaN,
			slowest: echoes.length > 0 ? Math.max(...echoes) : Number.NaN,
			gap: Math.max(...frames.slice(1).map((at, index) => at - frames[index])),
			bytes: (terminal.bytes() - bytesBefore) / Buffer.byteLength(TEXT),
			clears: written.split(/\x1b\[[23]?J/).length - 1,
		};
	} finally {
		await terminal.close();
	}
}

/** Types on an idle screen. @returns the ms until each key is shown */
async function typeIdly(terminal) {
	const echoes = [];
	for (let key = 2; key < 2 + IDLE_KEYS; key++) {
		echoes.push(await terminal.echo(key));
		await delay(20);
	}
	return echoes;
}

/** Echo time in a single editor: the floor of all echo times. */
async function bareEditor(workshop) {
	const terminal = startInTerminal([process.execPath, workshop.floor("editor")], workshop.sandbox());
	try {
		await terminal.waitFor("─");
		await delay(SETTLE_MS);
		return { echo: percentile(await typeIdly(terminal), 95) };
	} finally {
		await terminal.close();
	}
}

/** Streams 300 KB of Markdown to the screen: at full speed, and at the speed of a fast model. */
export async function screenStream({ rounds, workshop }) {
	const chunks = tokens(TEXT);
	const paced = tokens(TEXT, Math.ceil(TEXT.length / (PACED_MS / 8)));
	let delayMs = 0;
	const server = await startModelServer(() => (delayMs > 0 ? { chunks: paced, delayMs } : { chunks }));
	const path = join(workshop.dir, "answer.md");
	writeFileSync(path, TEXT);
	try {
		const sandbox = workshop.sandbox({ "models.json": server.modelsJson() });
		const { editor, blocks, full, slow } = await interleave(rounds, {
			editor: () => bareEditor(workshop),
			blocks: async () => {
				const run = (file) => runToEnd([process.execPath, workshop.floor("markdown"), file], sandbox);
				const [whole, nothing] = [await run(path), await run("/dev/null")];
				return { cpu: (whole.cpuMs - nothing.cpuMs) / 1000 };
			},
			full: () => {
				delayMs = 0;
				return streamInto([...workshop.pi, ...SCREEN], sandbox);
			},
			slow: () => {
				delayMs = 8;
				return streamInto([...workshop.pi, ...SCREEN], sandbox);
			},
		});
		return [
			{ name: "stream 300 KB: CPU", unit: "s", values: full.cpu, floor: "blocks", floorValues: blocks.cpu, budget: { atMost: 0.9 } },
			{ name: "stream 300 KB: echo p95", unit: "ms", values: full.echo, floor: "editor", floorValues: editor.echo, budget: { atMost: 33 } },
			{ name: "stream 300 KB: longest gap between frames", unit: "ms", values: full.gap, budget: { atMost: 100 } },
			{ name: "stream 300 KB: bytes written, of the text", unit: "×", values: full.bytes, budget: { atMost: 2 } },
			{ name: "stream 300 KB: full clears", unit: "", values: full.clears, budget: { atMost: 0 } },
			{ name: "the same paced: CPU", unit: "s", values: slow.cpu, floor: "blocks", floorValues: blocks.cpu, budget: { atMost: 1.2 } },
			{ name: "the same paced: bytes written, of the text", unit: "×", values: slow.bytes, budget: { atMost: 3 } },
			{ name: "the same paced: echo p95", unit: "ms", values: slow.echo, floor: "editor", floorValues: editor.echo, budget: { atMost: 10 } },
			{ name: "the same paced: slowest echo", unit: "ms", values: slow.slowest, budget: { atMost: 50 } },
		];
	} finally {
		await server.close();
	}
}

/** Not bundled: it loads the libraries as they are installed. */
const TUI_STREAM = fileURLToPath(new URL("../floors/editor-stream.mjs", import.meta.url));

/** Characters of each part that a fast local model sends. */
const DELTA = 64;

/**
 * Streams the answer as a fast local model on this machine does: Anthropic messages in parts of 64 characters, at full speed
 * and one each millisecond. It is the first stream of a process.
 */
export async function deltaStream({ rounds, workshop }) {
	const chunks = tokens(TEXT, DELTA);
	let delayMs = 0;
	const server = await startModelServer(() => ({ chunks, delayMs }));
	try {
		const sandbox = workshop.sandbox({ "models.json": server.modelsJson() });
		const screen = ["--model", "bench-messages/scripted", "--no-session"];
		const pi = [...workshop.pi, ...screen];
		const tui = [process.execPath, TUI_STREAM, server.url];
		const stream = (command, ms) => () => {
			delayMs = ms;
			return streamInto(command, sandbox);
		};
		const { full, slow, tuiFull, tuiSlow, onceFull, onceSlow } = await interleave(rounds, {
			...{ full: stream(pi, 0), slow: stream(pi, 1), tuiFull: stream(tui, 0), tuiSlow: stream(tui, 1) },
			// What no program with pi-ai and pi-tui can save.
			...{ onceFull: stream([...tui, "once"], 0), onceSlow: stream([...tui, "once"], 1) },
		});
		return [
			{ name: "parts of 64 bytes: CPU", unit: "s", values: full.cpu, floor: "pi-tui", floorValues: tuiFull.cpu, budget: { ratio: 0.5 } },
			{ name: "parts of 64 bytes: CPU, drawn once", unit: "s", values: onceFull.cpu, floor: "pi-tui", floorValues: tuiFull.cpu },
			{ name: "parts of 64 bytes: echo p95", unit: "ms", values: full.echo, budget: { atMost: 33 } },
			{ name: "parts of 64 bytes: longest gap between frames", unit: "ms", values: full.gap, budget: { atMost: 100 } },
			{ name: "parts of 64 bytes, paced: CPU", unit: "s", values: slow.cpu, floor: "pi-tui", floorValues: tuiSlow.cpu, budget: { ratio: 0.25 } },
			{ name: "parts of 64 bytes, paced: CPU, drawn once", unit: "s", values: onceSlow.cpu, floor: "pi-tui", floorValues: tuiSlow.cpu },
			{ name: "parts of 64 bytes, paced: echo p95", unit: "ms", values: slow.echo, budget: { atMost: 10 } },
			{ name: "parts of 64 bytes, paced: slowest echo", unit: "ms", values: slow.slowest, budget: { atMost: 50 } },
			{ name: "parts of 64 bytes, paced: longest gap between frames", unit: "ms", values: slow.gap, budget: { atMost: 100 } },
		];
	} finally {
		await server.close();
	}
}

const WAIT_MS = 10_000;

/** Cost of the spinner while the model is silent. */
export async function waitingScreen({ rounds, workshop }) {
	const server = await startModelServer(() => ({ chunks: ["", " "], delayMs: WAIT_MS * 2 }));
	try {
		const sandbox = workshop.sandbox({ "models.json": server.modelsJson() });
		const { pi } = await interleave(rounds, {
			pi: async () => {
				const terminal = startInTerminal([...workshop.pi, ...SCREEN], sandbox);
				try {
					await terminal.waitFor("─");
					await delay(SETTLE_MS);
					terminal.write("go\r");
					await delay(SETTLE_MS);
					const [cpu, bytes] = [cpuOf(terminal.pid), terminal.bytes()];
					await delay(WAIT_MS);
					return { share: ((cpuOf(terminal.pid) - cpu) / WAIT_MS) * 100, bytes: (terminal.bytes() - bytes) / (WAIT_MS / 1000) };
				} finally {
					await terminal.close();
				}
			},
		});
		return [
			{ name: "waiting 10 s: CPU, of a core", unit: "%", values: pi.share, budget: { atMost: 2 } },
			{ name: "waiting 10 s: bytes per second", unit: "B", values: pi.bytes },
		];
	} finally {
		await server.close();
	}
}

const HISTORY_MESSAGES = 10_000;

/** A session of many short messages. @returns its path */
function writeHistory(dir, cwd) {
	const timestamp = "2026-01-01T00:00:00.000Z";
	const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
	const lines = [{ type: "session", version: 1, id: "00000000-0000-4000-8000-000000000000", timestamp, cwd }];
	for (let message = 0; message < HISTORY_MESSAGES; message += 2) {
		lines.push({ type: "message", timestamp, message: { role: "user", content: `question ${message}`, timestamp: 1 } });
		const answer = [{ type: "text", text: `Answer ${message} with **bold** and \`code\`.` }];
		lines.push({
			type: "message",
			timestamp,
			message: { role: "assistant", content: answer, api: "openai-completions", provider: "bench", model: "scripted", usage, stopReason: "stop", timestamp: 1 },
		});
	}
	const path = join(dir, "history.jsonl");
	writeFileSync(path, `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`, { mode: 0o600 });
	return path;
}

/** Echo time below a long history, compared with an empty one. */
export async function historyEcho({ rounds, workshop }) {
	const server = await startModelServer(() => ({ text: "hello" }));
	const type = (args, sandbox) => async () => {
		const terminal = startInTerminal([...workshop.pi, "--model", "bench/scripted", ...args], sandbox);
		try {
			await terminal.waitFor("─");
			await delay(SETTLE_MS);
			const echoes = [];
			for (let key = 2; key < 62; key++) {
				echoes.push(await terminal.echo(key));
				await delay(20);
			}
			return { echo: percentile(echoes, 50) };
		} finally {
			await terminal.close();
		}
	};
	try {
		const sandbox = workshop.sandbox({ "models.json": server.modelsJson() });
		const path = writeHistory(workshop.dir, sandbox.cwd);
		const { none, long } = await interleave(rounds, { none: type(["--no-session"], sandbox), long: type(["--session", path], sandbox) });
		return [{ name: "echo below 10 000 messages", unit: "ms", values: long.echo, floor: "none", floorValues: none.echo, budget: { ratio: 1.5 } }];
	} finally {
		await server.close();
	}
}

/** Cost of an idle screen, and the echo time on it. */
export async function idleScreen({ rounds, workshop }) {
	const server = await startModelServer(() => ({ text: "hello" }));
	const watch = (command, sandbox) => async () => {
		const terminal = startInTerminal(command, sandbox);
		try {
			await terminal.waitFor("─");
			await delay(SETTLE_MS);
			const [cpu, bytes] = [cpuOf(terminal.pid), terminal.bytes()];
			await delay(IDLE_MS);
			const idle = { cpu: cpuOf(terminal.pid) - cpu, bytes: terminal.bytes() - bytes, rss: memoryOf(terminal.pid).now };
			return { ...idle, echo: percentile(await typeIdly(terminal), 95) };
		} finally {
			await terminal.close();
		}
	};
	try {
		const sandbox = workshop.sandbox({ "models.json": server.modelsJson() });
		const { editor, pi } = await interleave(rounds, {
			editor: watch([process.execPath, workshop.floor("editor")], workshop.sandbox()),
			pi: watch([...workshop.pi, ...SCREEN], sandbox),
		});
		return [
			{ name: "idle 5 s: CPU", unit: "ms", values: pi.cpu, floor: "editor", floorValues: editor.cpu, budget: { atMost: 5 } },
			{ name: "idle 5 s: bytes", unit: "B", values: pi.bytes, floor: "editor", floorValues: editor.bytes, budget: { atMost: 0 } },
			{ name: "idle: memory", unit: "MiB", values: pi.rss, floor: "editor", floorValues: editor.rss, budget: { atMost: 90 } },
			{ name: "idle: echo p95", unit: "ms", values: pi.echo, floor: "editor", floorValues: editor.echo, budget: { atMost: 3 } },
		];
	} finally {
		await server.close();
	}
}

