import { startModelServer } from "../lib/model-server.mjs";
import { cpuOf, memoryOf, startProcess } from "../lib/process.mjs";
import { interleave } from "../lib/stats.mjs";
import { withTimeout } from "./start.mjs";

const JSON_MODE = ["--model", "bench/scripted", "--no-session", "--mode", "json"];
const MEGABYTE = 1_000_000;
const FLOOD_MB = 400;

/**
 * Runs pi in JSON mode for one tool call.
 * @param cwd default: an empty directory
 * @returns time from the end of the model's call to the request with the result in ms, CPU of pi without children in ms,
 * peak memory in MiB, events in MB
 */
export async function overCall(call, { rounds, workshop }, cwd) {
	const server = await startModelServer((body) => (body.messages.at(-1).role === "tool" ? { text: "done" } : { call }));
	const own = workshop.sandbox({ "models.json": server.modelsJson() });
	const sandbox = { ...own, cwd: cwd ?? own.cwd };
	const run = async () => {
		const before = server.requests.length;
		const pi = startProcess([...workshop.pi, ...JSON_MODE, "go"], sandbox);
		try {
			const failed = pi.ended.then(({ code, stderr }) => {
				if (server.requests.length < before + 2) throw new Error(`exited with ${code} too early: ${stderr.slice(-400)}`);
			});
			await Promise.race([withTimeout(server.request(before + 2), 120_000, "no second request"), failed]);
			const wall = server.requests[before + 1].arrivedAt - server.requests[before].answeredAt;
			const [cpu, { peak }] = [cpuOf(pi.pid), memoryOf(pi.pid)];
			const { code, stdoutBytes } = await pi.ended;
			if (code !== 0) throw new Error(`exited with ${code}`);
			return { wall, cpu, peak, events: stdoutBytes / MEGABYTE };
		} finally {
			pi.kill();
		}
	};
	try {
		return (await interleave(rounds, { run })).run;
	} finally {
		await server.close();
	}
}

/** A command that prints 400 MB: cost for pi, and size of the events. */
export async function bashFlood(bench) {
	const command = `yes 0123456789abcdef | head -c ${FLOOD_MB * MEGABYTE}`;
	const { peak, events } = await overCall({ name: "bash", arguments: { command } }, bench);
	return [
		{ name: "bash, 400 MB: peak memory", unit: "MiB", values: peak, budget: { atMost: 200 } },
		{ name: "bash, 400 MB: events", unit: "MB", values: events, budget: { atMost: 30 } },
	];
}

/** A file of 300 KB that the model writes in chunks of 16 characters. */
export async function longArguments(bench) {
	const content = "a line of a file that is written\n".repeat(9000);
	const { cpu, peak } = await overCall({ name: "write", arguments: { path: "long.txt", content }, pieces: 16 }, bench);
	return [
		{ name: "arguments of 300 KB: CPU", unit: "ms", values: cpu, budget: { atMost: 2500 } },
		{ name: "arguments of 300 KB: peak memory", unit: "MiB", values: peak, budget: { atMost: 150 } },
	];
}
