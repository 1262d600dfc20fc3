import { interleave } from "../lib/stats.mjs";
import { runToEnd } from "../lib/process.mjs";
import { mark, startInTerminal } from "../lib/terminal.mjs";
import { startModelServer } from "../lib/model-server.mjs";

/** `--version` and `--help` against a bare Node. */
export async function fastPaths({ rounds, workshop }) {
	const { env, cwd } = workshop.place();
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

/** First paint in a terminal, with a key typed at the moment of spawn, and memory once it is there. */
export async function firstPaint({ rounds, workshop }) {
	const server = await startModelServer(() => ({ text: "hello" }));
	const paint = (command, place) => async () => {
		const terminal = startInTerminal(command, place);
		terminal.write(mark(1));
		try {
			const painted = await terminal.waitFor("─");
			// The terminal itself echoes what is typed before the program takes over: count from the paint on.
			const from = terminal.chunks.findIndex((chunk) => chunk.at === painted);
			const echoed = await terminal.waitFor(mark(1), { from });
			return { painted, echoed };
		} finally {
			await terminal.close();
		}
	};
	const request = (place) => async () => {
		const count = server.requests.length + 1;
		const started = performance.now();
		const terminal = startInTerminal([...workshop.pi, "--model", "bench/scripted"], place);
		try {
			// Not before the paint: until the program takes over, the terminal turns Enter into a line feed.
			const painted = started + (await terminal.waitFor("─"));
			terminal.write("hi\r");
			const arrived = await withTimeout(server.request(count), 20_000, "no request from the terminal");
			return { sent: arrived.arrivedAt - painted };
		} finally {
			await terminal.close();
		}
	};
	try {
		const place = workshop.place({ "models.json": server.modelsJson() });
		const { editor, pi, ready } = await interleave(rounds, {
			editor: paint([process.execPath, workshop.floor("editor")], workshop.place()),
			pi: paint([...workshop.pi, "--model", "bench/scripted"], place),
			ready: request(place),
		});
		return [
			{ name: "first paint", unit: "ms", values: pi.painted, floor: "editor", floorValues: editor.painted, budget: { ratio: 1.3 } },
			{ name: "key typed at spawn shown", unit: "ms", values: pi.echoed, floor: "editor", floorValues: editor.echoed, budget: { ratio: 1.3 } },
			{ name: "prompt typed at first paint: request", unit: "ms", values: ready.sent, budget: { atMost: 100 } },
		];
	} finally {
		await server.close();
	}
}

/** Rejects when a promise does not settle in time: a program that hangs must not hang the measurement. */
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
