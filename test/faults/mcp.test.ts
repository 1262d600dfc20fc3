import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { agentDirFor } from "../e2e/support.js";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { expectNoStack } from "./judge.js";
import { LISTS_PROGRAMS, running } from "./processes.js";
import { faultTest } from "./rounds.js";

const SERVER = fileURLToPath(new URL("hostile-mcp.mjs", import.meta.url));

faultTest(
	"mcp",
	"random answers of a server fail only its calls",
	{ short: 1, long: 80, runIf: LISTS_PROGRAMS },
	async ({ seed, random }) => {
		const provider = await startProvider();
		const agentDir = agentDirFor(provider);
		const mark = `mark-${process.pid}-${seed}`;
		const server = { command: process.execPath, args: [SERVER, String(random.below(2 ** 31)), mark], timeoutMs: 400 };
		writeFiles(agentDir, { "mcp.json": { mcpServers: { odd: server } } });
		const calls = [toolCall("mcp_search", { query: "echo" }), toolCall("odd_echo", {}), toolCall("odd_echo", { a: 7 })];
		provider.on(({ messages }) => {
			const results = messages.filter(({ role }) => role === "tool").length;
			const call = calls[results];
			return call ? [call] : "Fine.";
		});
		const run = await runPi(["-p", "go"], { agentDir, cwd: tempDir() });
		expect(run, run.stderr).toMatchObject({ code: 0, stdout: "Fine.\n" });
		expectNoStack(run.stderr);
		await expect.poll(() => running(mark), { timeout: 5000, interval: 50 }).toEqual([]);
		expect(provider.violations).toEqual([]);
	},
);
