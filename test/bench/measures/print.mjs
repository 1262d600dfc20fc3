import { fileURLToPath } from "node:url";
import { longMarkdown, tokens } from "../lib/markdown.mjs";
import { startModelServer } from "../lib/model-server.mjs";
import { childrenCpuOf, cpuOf, memoryOf, runToEnd, startProcess } from "../lib/process.mjs";
import { interleave } from "../lib/stats.mjs";
import { startInTerminal } from "../lib/terminal.mjs";
import { withTimeout } from "./start.mjs";

const TURNS = 50;
/** Not bundled: it loads the library as it is installed. */
const LIBRARY_CLIENT = fileURLToPath(new URL("../floors/library-client.mjs", import.meta.url));

/** Runs a command to its end and samples it when its request number `count` has arrived. */
export async function upToRequest(server, command, sandbox, count) {
	const before = server.requests.length;
	const started = performance.now();
	const run = startProcess(command, sandbox);
	try {
		const failed = run.ended.then(({ code, stderr }) => {
			if (server.requests.length < before + count) throw new Error(`exited with ${code} too early: ${stderr.slice(-400)}`);
		});
		const first = withTimeout(server.request(before + 1), 30_000, "no request");
		await Promise.race([first, failed]);
		const [cpuAtFirst, childrenAtFirst] = [cpuOf(run.pid), childrenCpuOf(run.pid)];
		const last = withTimeout(server.request(before + count), 60_000, `no request ${count}`);
		await Promise.race([last, failed]);
		const [cpuAtLast, childrenAtLast] = [cpuOf(run.pid), childrenCpuOf(run.pid)];
		const { peak } = memoryOf(run.pid);
		const { endedAt } = await run.ended;
		const firstAt = (await first).arrivedAt;
		const { arrivedAt, answeredAt } = await last;
		return {
			sent: firstAt - started,
			total: endedAt - started,
			tail: endedAt - answeredAt,
			peak,
			wall: arrivedAt - firstAt,
			cpu: cpuAtLast - cpuAtFirst,
			withChildren: cpuAtLast - cpuAtFirst + childrenAtLast - childrenAtFirst,
		};
	} finally {
		run.kill();
	}
}

/** Starts pi in print mode. @returns ms from the spawn to its first request at the server */
export async function timeToRequest(pi, sandbox, server) {
	const { sent } = await upToRequest(server, [...pi, ...PRINT, "hi"], sandbox, 1);
	return { sent };
}

const PRINT = ["--model", "bench/scripted", "--no-session", "-p"];

/** Print mode: time from spawn to the request at the server. */
export async function firstRequest({ rounds, workshop }) {
	const server = await startModelServer(() => ({ text: "hello" }));
	try {
		const sandbox = workshop.sandbox({ "models.json": server.modelsJson() });
		const { client, editor, pi } = await interleave(rounds, {
			client: () => upToRequest(server, [process.execPath, workshop.floor("client"), server.url, "hi"], workshop.sandbox(), 1),
			editor: async () => {
				const terminal = startInTerminal([process.execPath, workshop.floor("editor")], sandbox);
				const painted = await terminal.waitFor("─").finally(() => terminal.close());
				return { painted };
			},
			pi: () => upToRequest(server, [...workshop.pi, ...PRINT, "hi"], sandbox, 1),
		});
		return [
			{ name: "print: spawn to request", unit: "ms", values: pi.sent, floor: "editor", floorValues: editor.painted, budget: { ratio: 1.4 } },
			{ name: "print: spawn to request, of a bare client", unit: "ms", values: pi.sent, floor: "client", floorValues: client.sent, budget: { ratio: 2.3 } },
			{ name: "print turn, wall", unit: "ms", values: pi.total, floor: "client", floorValues: client.total, budget: { ratio: 3 } },
			{ name: "print turn, last byte to exit", unit: "ms", values: pi.tail, floor: "client", floorValues: client.tail, budget: { atMost: 15 } },
			{ name: "print: peak memory", unit: "MiB", values: pi.peak, floor: "client", floorValues: client.peak, budget: { atMost: 90 } },
		];
	} finally {
		await server.close();
	}
}

/**
 * Cost of one tool turn, averaged over 50 turns that run `true`. The floor runs it in bash with pipes, like pi, and sends with
 * pi-ai as it is published, without pi's patches. Other rows compare a bare client that runs it in bash and counts the CPU of the
 * shells too, or runs it without a shell; those of pi-ai alone, a client that sends with pi-ai and runs nothing.
 */
export async function toolTurns({ rounds, workshop }) {
	const server = await startModelServer((body) => {
		const results = body.messages.filter((message) => message.role === "tool").length;
		return results < TURNS ? { call: { name: "bash", arguments: { command: "true" } } } : { text: "done" };
	});
	const perTurn = ({ wall, cpu, withChildren }) => ({ wall: wall / TURNS, cpu: cpu / TURNS, withChildren: withChildren / TURNS });
	try {
		const sandbox = workshop.sandbox({ "models.json": server.modelsJson() });
		const floor = (file, ...shell) => async () =>
			perTurn(await upToRequest(server, [process.execPath, file, server.url, "go", ...shell], sandbox, TURNS + 1));
		const { client, bash, library, alone, pi } = await interleave(rounds, {
			client: floor(workshop.floor("client")),
			bash: floor(workshop.floor("client"), "bash"),
			library: floor(LIBRARY_CLIENT, "bash"),
			alone: floor(LIBRARY_CLIENT),
			pi: async () => perTurn(await upToRequest(server, [...workshop.pi, ...PRINT, "go"], sandbox, TURNS + 1)),
		});
		return [
			{ name: "tool turn, wall", unit: "ms", values: pi.wall, floor: "client with pi-ai", floorValues: library.wall, budget: { ratio: 1.2 } },
			{ name: "tool turn, CPU", unit: "ms", values: pi.cpu, floor: "client with pi-ai", floorValues: library.cpu, budget: { ratio: 1.2 } },
			{ name: "tool turn, wall, of a bare client", unit: "ms", values: pi.wall, floor: "client", floorValues: client.wall, budget: null },
			{ name: "tool turn, CPU, of a bare client", unit: "ms", values: pi.cpu, floor: "client", floorValues: client.cpu, budget: null },
			{ name: "tool turn, wall, of a client with bash", unit: "ms", values: pi.wall, floor: "client", floorValues: bash.wall, budget: null },
			{ name: "tool turn, CPU with the shell, of a client with bash", unit: "ms", values: pi.withChildren, floor: "client", floorValues: bash.withChildren, budget: null },
			{ name: "tool turn of pi-ai alone, wall", unit: "ms", values: alone.wall, floor: "client", floorValues: client.wall, budget: null },
			{ name: "tool turn of pi-ai alone, CPU", unit: "ms", values: alone.cpu, floor: "client", floorValues: client.cpu, budget: null },
		];
	} finally {
		await server.close();
	}
}

/** CPU for an answer of 300 KB in print mode. */
export async function printStream({ rounds, workshop }) {
	const long = tokens(longMarkdown(300_000));
	const server = await startModelServer((body) => (body.messages.at(-1).content.includes("long") ? { chunks: long } : { text: "short" }));
	const cpu = async (command, sandbox) => {
		const { cpuMs, code, stderr } = await runToEnd(command, sandbox);
		if (code !== 0) throw new Error(`exited with ${code}: ${stderr.slice(-400)}`);
		return { cpu: cpuMs };
	};
	try {
		const sandbox = workshop.sandbox({ "models.json": server.modelsJson() });
		const client = (prompt) => () => cpu([process.execPath, workshop.floor("client"), server.url, prompt], sandbox);
		const library = (prompt) => () => cpu([process.execPath, LIBRARY_CLIENT, server.url, prompt], sandbox);
		const pi = (prompt) => () => cpu([...workshop.pi, ...PRINT, prompt], sandbox);
		const values = await interleave(rounds, {
			clientShort: client("short"),
			clientLong: client("long"),
			libraryShort: library("short"),
			libraryLong: library("long"),
			piShort: pi("short"),
			piLong: pi("long"),
		});
		const added = (long, short) => long.cpu.map((value, round) => value - short.cpu[round]);
		const of = { name: "print: CPU added by 300 KB", unit: "ms", values: added(values.piLong, values.piShort) };
		const floor = added(values.clientLong, values.clientShort);
		const libraryFloor = added(values.libraryLong, values.libraryShort);
		return [
			{ ...of, floor: "client", floorValues: floor, budget: { atMost: 60 } },
			{ ...of, name: `${of.name}, of a client with pi-ai`, floor: "client with pi-ai", floorValues: libraryFloor, budget: { ratio: 1.2 } },
		];
	} finally {
		await server.close();
	}
}
