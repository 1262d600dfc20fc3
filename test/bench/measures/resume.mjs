import { closeSync, copyFileSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { startModelServer } from "../lib/model-server.mjs";
import { memoryOf, startProcess } from "../lib/process.mjs";
import { interleave } from "../lib/stats.mjs";
import { mark, startInTerminal } from "../lib/terminal.mjs";
import { settled, withTimeout } from "./start.mjs";

const MEGABYTES = [1, 10, 100];
/** Lines of output of each command in a session. */
const OUTPUT_LINES = 60;

/**
 * Writes a session of about `megabytes` MB, by default compacted shortly before its end, as is usual for that size.
 * @returns its path
 */
function writeSession(dir, cwd, megabytes, { lines = OUTPUT_LINES, isCompacted = true } = {}) {
	const path = join(dir, `session-${megabytes}-${lines}.jsonl`);
	const file = openSync(path, "w", 0o600);
	const timestamp = "2026-01-01T00:00:00.000Z";
	const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
	const assistant = (content, stopReason) => ({
		role: "assistant", content, api: "openai-completions", provider: "bench", model: "scripted", usage, stopReason, timestamp: 1,
	});
	const output = "a line of output that a tool has printed, neither long nor short\n".repeat(lines);
	let index = 0;
	let bytes = 0;
	let pending = "";
	const append = (entry) => {
		const { type, ...rest } = entry;
		pending += `${JSON.stringify({ type, timestamp, ...rest })}\n`; // in the order in which pi writes them
		index += 1;
		if (pending.length > 1_000_000) flush();
	};
	const flush = () => {
		bytes += writeSync(file, pending);
		pending = "";
	};
	const turn = () => {
		const id = `c${index}`;
		append({ type: "message", message: { role: "user", content: `please look at part ${index}`, timestamp: 1 } });
		append({ type: "message", message: assistant([{ type: "toolCall", id, name: "bash", arguments: { command: "make" } }], "toolUse") });
		append({ type: "message", message: { role: "toolResult", toolCallId: id, toolName: "bash", content: [{ type: "text", text: output }], isError: false, timestamp: 1 } });
		append({ type: "message", message: assistant([{ type: "text", text: "It builds. Some **markdown** with `code` as well." }], "stop") });
	};
	append({ type: "session", version: 1, id: "00000000-0000-4000-8000-000000000000", cwd });
	while (bytes + pending.length < megabytes * 1_000_000) turn();
	if (isCompacted) append({ type: "compaction", summary: "Much was built.", firstKeptEntryIndex: index - 4, tokensBefore: 100_000 });
	for (let count = 0; count < 5; count++) turn();
	flush();
	closeSync(file);
	return path;
}

const BACKSPACE = "\x7f";
/** Text of the last answer of each session; it shows that the session is on the screen. */
const LAST_WORDS = "It builds.";

/** Opening a session compared with a fresh start: in the terminal, and for one turn in print mode. */
export async function resumeSession({ rounds, workshop }) {
	const server = await startModelServer(() => ({ text: "hello" }));
	const sandbox = workshop.sandbox({ "models.json": server.modelsJson() });
	const base = [...workshop.pi, "--model", "bench/scripted"];
	const open = (args, shown) => async () => {
		const terminal = startInTerminal([...base, ...args], sandbox);
		try {
			await terminal.waitFor("─");
			const from = terminal.chunks.length;
			terminal.write(mark(3));
			await terminal.waitFor(mark(3), { from });
			await terminal.waitFor(shown);
			const found = { settled: await settled(terminal), rss: memoryOf(terminal.pid).now };
			terminal.write(BACKSPACE); // a draft would be kept for the next round
			await settled(terminal);
			return found;
		} finally {
			await terminal.close();
		}
	};
	const print = (args) => async () => {
		const count = server.requests.length + 1;
		const started = performance.now();
		const run = startProcess([...base, ...args, "-p", "hi"], sandbox);
		try {
			const { arrivedAt } = await withTimeout(server.request(count), 60_000, "no request");
			await run.ended;
			return { sent: arrivedAt - started };
		} finally {
			run.kill();
		}
	};
	try {
		const sessions = MEGABYTES.map((size) => ({ size, path: writeSession(workshop.dir, sandbox.cwd, size) }));
		// The first start writes the index of a large file, as pi did when it wrote the session.
		for (const { path } of sessions) await open(["--session", path], LAST_WORDS)();
		const values = await interleave(rounds, {
			fresh: open(["--no-session"], "Scripted"),
			freshPrint: print(["--no-session"]),
			...Object.fromEntries(sessions.map(({ size, path }) => [`open${size}`, open(["--session", path], LAST_WORDS)])),
			...Object.fromEntries(sessions.map(({ size, path }) => [`print${size}`, print(["--session", path])])),
		});
		return sessions.flatMap(({ size }) => [
			{ name: `resume ${size} MB: settled`, unit: "ms", values: values[`open${size}`].settled, floor: "fresh start", floorValues: values.fresh.settled, budget: { ratio: 1.3 } },
			{ name: `resume ${size} MB: memory`, unit: "MiB", values: values[`open${size}`].rss, floor: "fresh start", floorValues: values.fresh.rss, budget: { ratio: 1.5 } },
			{ name: `print turn on ${size} MB: spawn to request`, unit: "ms", values: values[`print${size}`].sent, floor: "fresh start", floorValues: values.freshPrint.sent, budget: { ratio: 1.5 } },
		]);
	} finally {
		await server.close();
	}
}

const REQUEST_MEGABYTES = 94;

/** A print turn whose request is as long as a session: time, and memory compared with the request. */
export async function largeRequest({ rounds, workshop }) {
	const server = await startModelServer(() => ({ text: "hello" }));
	const sandbox = workshop.sandbox({ "models.json": server.modelsJson() });
	const path = writeSession(workshop.dir, sandbox.cwd, REQUEST_MEGABYTES, { lines: 1500, isCompacted: false });
	try {
		const { pi } = await interleave(rounds, {
			async pi() {
				const copy = `${path}.copy`;
				copyFileSync(path, copy);
				const count = server.requests.length + 1;
				const started = performance.now();
				const run = startProcess([...workshop.pi, "--model", "bench/scripted", "--session", copy, "-p", "hi"], sandbox);
				try {
					const { body } = await withTimeout(server.request(count), 60_000, "no request");
					const { peak } = memoryOf(run.pid);
					await run.ended;
					const wall = performance.now() - started;
					const megabytes = Buffer.byteLength(JSON.stringify(body)) / 1024 / 1024;
					server.requests[count - 1] = null;
					return { wall, peak: peak / megabytes };
				} finally {
					run.kill();
				}
			},
		});
		return [
			{ name: `print turn on a ${REQUEST_MEGABYTES} MB request`, unit: "ms", values: pi.wall, budget: { atMost: 2000 } },
			{ name: `print turn on a ${REQUEST_MEGABYTES} MB request: peak memory, of the request`, unit: "×", values: pi.peak, budget: { atMost: 4 } },
		];
	} finally {
		await server.close();
	}
}
