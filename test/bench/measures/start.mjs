import { setTimeout as delay } from "node:timers/promises";
import { interleave } from "../lib/stats.mjs";
import { cpuOf, runToEnd } from "../lib/process.mjs";
import { mark, startInTerminal } from "../lib/terminal.mjs";
import { startModelServer } from "../lib/model-server.mjs";

/** `--version` and `--help` compared with plain Node. */
export async function fastPaths({ rounds, workshop }) {
	const { env, cwd } = workshop.sandbox();
	const run = (...command) => async () => {
		const { wallMs, cpuMs, code, stderr } = await runToEnd(command, { env, cwd });
		if (code !== 0) throw new Error(`${command.join(" ")} exited with ${code}: ${stderr.slice(0, 300)}`);
		return { wall: wallMs, cpu: cpuMs };
	};
	const { node, version, help } = await interleave(rounds * 2, {
		node: run(process.execPath, "-e", "0"),
		version: run(...workshop.pi, "--version"),
		help: run(...workshop.pi, "--help"),
	});
	return [
		{ name: "--version wall", unit: "ms", values: version.wall, floor: "node", floorValues: node.wall, budget: { ratio: 1.5 } },
		{ name: "--help wall", unit: "ms", values: help.wall, floor: "node", floorValues: node.wall, budget: { ratio: 1.5 } },
		{ name: "--version CPU", unit: "ms", values: version.cpu, floor: "node", floorValues: node.cpu, budget: null },
	];
}

/** Time without output after which a screen counts as settled. */
const SETTLE_MS = 500;

/** Time to first paint in a terminal, with a key typed at spawn, and CPU until nothing more happens. */
export async function firstPaint({ rounds, workshop }) {
	const server = await startModelServer(() => ({ text: "hello" }));
	const paint = (command, sandbox) => async () => {
		const terminal = startInTerminal(command, sandbox);
		terminal.write(mark(1));
		try {
			const painted = await terminal.waitFor("─");
			// Until the program takes over, the terminal itself echoes keys: search the output after the paint.
			const from = terminal.chunks.findIndex((chunk) => chunk.at === painted);
			const echoed = await terminal.waitFor(mark(1), { from });
			await settled(terminal);
			return { painted, echoed, cpu: cpuOf(terminal.pid) };
		} finally {
			await terminal.close();
		}
	};
	const request = (sandbox) => async () => {
		const count = server.requests.length + 1;
		const started = performance.now();
		const terminal = startInTerminal([...workshop.pi, "--model", "bench/scripted"], sandbox);
		try {
			// Wait for the paint: until the program takes over, the terminal turns Enter into a line feed.
			const painted = started + (await terminal.waitFor("─"));
			terminal.write("hi\r");
			const arrived = await withTimeout(server.request(count), 20_000, "no request from the terminal");
			return { sent: arrived.arrivedAt - painted };
		} finally {
			await terminal.close();
		}
	};
	try {
		const sandbox = workshop.sandbox({ "models.json": server.modelsJson() });
		const { editor, pi, ready } = await interleave(rounds, {
			editor: paint([process.execPath, workshop.floor("editor")], workshop.sandbox()),
			pi: paint([...workshop.pi, "--model", "bench/scripted"], sandbox),
			ready: request(sandbox),
		});
		return [
			{ name: "first paint", unit: "ms", values: pi.painted, floor: "editor", floorValues: editor.painted, budget: { ratio: 1.3 } },
			{ name: "key typed at spawn shown", unit: "ms", values: pi.echoed, floor: "editor", floorValues: editor.echoed, budget: { ratio: 1.3 } },
			{ name: "prompt typed at first paint: request", unit: "ms", values: ready.sent, budget: { atMost: 100 } },
			{ name: "start to settled: CPU", unit: "ms", values: pi.cpu, floor: "editor", floorValues: editor.cpu, budget: { atMost: 220 } },
		];
	} finally {
		await server.close();
	}
}

/** Waits until a terminal shows nothing new for a while. @returns the time of its last output */
export async function settled(terminal) {
	let chunks = -1;
	while (chunks !== terminal.chunks.length) {
		chunks = terminal.chunks.length;
		await delay(SETTLE_MS);
	}
	return terminal.chunks.at(-1).at;
}

/** Rejects when a promise does not settle in time, so that a hanging program does not block the benchmark. */
export async function withTimeout(promise, ms, what) {
	let timer;
	const late = new Promise((_resolve, reject) => {
		timer = setTimeout(() => reject(new Error(what)), ms);
	});
	try {
		return await Promise.race([promise, late]);
	} finally {
		clearTimeout(timer);
	}
}
