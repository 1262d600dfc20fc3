import { readdirSync, readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { spawnPi } from "../helpers/run-pi.js";
import { agentDirFor } from "./support.js";

/** Times between the first program that the hook starts and the kill, ms. */
const DELAYS = [0, 0.2, 0.5, 1, 2, 3, 5, 8, 13, 21, 34, 55];

/** Running programs with this argument. */
function running(argument: string): string[] {
	return readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name))
		.filter((pid) => {
			try {
				// A process that has ended has no arguments.
				return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(argument);
			} catch {
				return false;
			}
		});
}

test("kill -9 at any moment leaves no program that a hook runs with exec", async () => {
	const provider = await startProvider();
	const left: Record<string, number> = {};
	for (const [round, delay] of DELAYS.entries()) {
		const argument = `1000.${process.pid}${round}`;
		const hook = `export default (pi) => pi.on("session", async (event, ctx) => {
			process.stderr.write("started\\n");
			for (let count = 0; count < 60; count++) {
				void ctx.exec("sleep", ["${argument}"]);
				await new Promise((resolve) => setImmediate(resolve));
			}
		});`;
		const agentDir = agentDirFor(provider, { hooks: { "starts.ts": hook } });
		const pi = spawnPi(["--mode", "rpc"], { agentDir });
		await pi.waitFor(({ stderr }) => stderr.includes("started"), 20_000);
		// A kill at any moment.
		await new Promise((resolve) => setTimeout(resolve, delay));
		pi.kill("SIGKILL");
		await pi.exited;
		// A process that is just being started has no arguments of its own yet, so one look without any is not enough.
		let free = 0;
		const isFree = () => {
			free = running(argument).length > 0 ? 0 : free + 1;
			return free >= 4;
		};
		await vi.waitUntil(isFree, { timeout: 8000, interval: 50 }).catch(() => {});
		if (running(argument).length > 0) left[delay] = running(argument).length;
		for (const pid of running(argument)) process.kill(Number(pid), "SIGKILL");
	}
	expect(left).toEqual({});
});
