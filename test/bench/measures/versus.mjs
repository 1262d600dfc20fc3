// The same black-box measurements on pi and on another installed agent, interleaved.
import { spawnSync } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { tokens } from "../lib/markdown.mjs";
import { startModelServer } from "../lib/model-server.mjs";
import { memoryOf } from "../lib/process.mjs";
import { interleave } from "../lib/stats.mjs";
import { mark, startInTerminal } from "../lib/terminal.mjs";
import { upToRequest } from "./print.mjs";
import { streamInto, TEXT } from "./screen.mjs";

const TURNS = 50;
const SETTLE_MS = 2_000;
const KEY_TIMEOUT_MS = 5_000;
const PACE_MS = 8;
const PACED_MS = 4_700;

/**
 * @param {{ command: string, print: string, setup?: string }} other
 * `command` opens its screen; `print` are the arguments for one prompt without a screen, with `{prompt}`; `setup` is run by
 * the shell once, in its home. `{url}` in all three is the address of the scripted model.
 */
export async function versus({ rounds, workshop, other }) {
	const chunks = tokens(TEXT);
	const paced = tokens(TEXT, Math.ceil(TEXT.length / (PACED_MS / PACE_MS)));
	let answer = () => ({ text: "hello" });
	const server = await startModelServer((body) => answer(body));
	const sandbox = () => {
		const made = workshop.sandbox({ "models.json": server.modelsJson() });
		return { ...made, env: { ...made.env, OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: "bench-key" } };
	};
	const words = (text) => splitWords(text).map((word) => word.replaceAll("{url}", server.url));
	const agents = {
		pi: { command: [...workshop.pi, "--model", "bench/scripted", "--no-session"], print: ["-p", "{prompt}"], sandbox: sandbox() },
		other: { command: words(other.command), print: words(other.print), sandbox: sandbox() },
	};
	if (other.setup) {
		const { cwd, env } = agents.other.sandbox;
		const { status, stderr } = spawnSync("sh", ["-c", other.setup.replaceAll("{url}", server.url)], { cwd, env, encoding: "utf8" });
		if (status !== 0) throw new Error(`the setup of the other agent failed: ${stderr.slice(-400)}`);
	}
	const each = (run) => interleave(rounds, { pi: () => run(agents.pi), other: () => run(agents.other) });
	const printing = ({ command, print, sandbox }, count) =>
		upToRequest(server, [...command, ...print.map((word) => word.replaceAll("{prompt}", "go"))], sandbox, count);
	try {
		const screen = await each(openScreen);
		const print = await each((agent) => printing(agent, 1));
		answer = (body) => (body.messages.filter(({ role }) => role === "tool").length < TURNS ? { call: shellCall(body) } : { text: "done" });
		const turns = await each(async (agent) => {
			const { wall, cpu } = await printing(agent, TURNS + 1);
			return { wall: wall / TURNS, cpu: cpu / TURNS };
		});
		answer = () => ({ chunks });
		const full = await each(({ command, sandbox }) => streamInto(command, sandbox));
		answer = () => ({ chunks: paced, delayMs: PACE_MS });
		const slow = await each(({ command, sandbox }) => streamInto(command, sandbox));
		const row = (name, unit, values, key) => ({ name, unit, values: values.pi[key], floor: "other", floorValues: values.other[key] });
		return [
			row("first paint", "ms", screen, "painted"),
			row("key typed at spawn: shown after", "ms", screen, "shown"),
			row("key typed at spawn: lost", "of 1", screen, "lost"),
			row("open screen: memory", "MiB", screen, "rss"),
			row("print: spawn to request", "ms", print, "sent"),
			row("print: spawn to exit", "ms", print, "total"),
			row("print: answer to exit", "ms", print, "tail"),
			row("print: peak memory", "MiB", print, "peak"),
			row("tool turn, wall", "ms", turns, "wall"),
			row("tool turn, CPU", "ms", turns, "cpu"),
			row("stream 300 KB: CPU", "s", full, "cpu"),
			row("stream 300 KB: echo p95", "ms", full, "echo"),
			row("stream 300 KB: longest gap between frames", "ms", full, "gap"),
			row("the same paced: CPU", "s", slow, "cpu"),
			row("the same paced: echo p95", "ms", slow, "echo"),
		];
	} finally {
		await server.close();
	}
}

/** Opens the screen with a key typed at spawn. `shown` is the timeout for a lost key. */
async function openScreen({ command, sandbox }) {
	const terminal = startInTerminal(command, sandbox);
	terminal.write(mark(1));
	try {
		const from = await terminal.painted(mark(1));
		const painted = terminal.chunks[from].at;
		const shown = await terminal.waitFor(mark(1), { from, timeoutMs: KEY_TIMEOUT_MS }).catch(() => undefined);
		await delay(SETTLE_MS);
		return { painted, shown: shown ?? KEY_TIMEOUT_MS, lost: shown === undefined ? 1 : 0, rss: memoryOf(terminal.pid).now };
	} finally {
		await terminal.close();
	}
}

/** A call of the agent's own tool for shell commands that runs `true`. */
function shellCall({ tools = [] }) {
	const functions = tools.map((tool) => tool.function ?? tool);
	const shell = functions.find(({ parameters }) => parameters?.properties?.command !== undefined);
	if (!shell) throw new Error("the agent has no tool with the parameter `command`");
	const isList = shell.parameters.properties.command.type === "array";
	return { name: shell.name, arguments: { command: isList ? ["true"] : "true" } };
}

/** Splits a command into words, as a shell does with quotes. */
function splitWords(text) {
	return [...text.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)].map(([word]) => word.replace(/"([^"]*)"|'([^']*)'/g, (_, one, two) => one ?? two));
}
