import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { agentDirFor } from "../e2e/support.js";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { spawnPi } from "../helpers/run-pi.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { faultEnv } from "./driver.js";
import { LISTS_PROGRAMS, running } from "./processes.js";
import { IS_LONG } from "./rounds.js";

const IGNORES_TERM = `process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)`;

/** Programs that pi starts; `mark` is in their arguments, and they end only by SIGKILL. */
const PROGRAMS: Record<string, (mark: string) => { call?: ReturnType<typeof toolCall>; hook?: string; mcp?: object }> =
	{
		bash: (mark) => ({ call: toolCall("bash", { command: `trap '' TERM; while :; do sleep 1; done # ${mark}` }) }),
		"a background command": (mark) => ({
			call: toolCall("bash", { command: `trap '' TERM; while :; do sleep 1; done # ${mark}`, background: true }),
		}),
		// Ripgrep waits for a writer of the FIFO.
		grep: (mark) => ({ call: toolCall("grep", { pattern: mark, path: "fifo" }) }),
		"exec of a hook": (mark) => ({
			hook: `export default (pi) => pi.on("agent_start", (event, ctx) =>
			void ctx.exec(process.execPath, ["-e", ${JSON.stringify(IGNORES_TERM)}, "${mark}"]));`,
		}),
		"an MCP server": (mark) => ({
			call: toolCall("mcp_search", { query: "echo" }),
			mcp: { mcpServers: { stays: { command: process.execPath, args: ["-e", IGNORES_TERM, mark] } } },
		}),
	};

/** Other tests of the suite kill pi during a command; ripgrep is started like one. */
const TRIED = Object.keys(PROGRAMS).filter((name) => IS_LONG || !/bash|command|grep/.test(name));

test.runIf(LISTS_PROGRAMS).each(TRIED)(
	"children: kill -9 right after the start of %s leaves no process",
	async (name) => {
		const mark = `mark-${process.pid}-${Object.keys(PROGRAMS).indexOf(name)}`;
		const { call, hook, mcp } = PROGRAMS[name]?.(mark) ?? {};
		const provider = await startProvider();
		const agentDir = agentDirFor(provider, hook ? { hooks: { "runs.ts": hook } } : {});
		if (mcp) writeFiles(agentDir, { "mcp.json": mcp });
		const cwd = tempDir();
		spawnSync("mkfifo", [join(cwd, "fifo")]);
		onTestFinished(() => {
			for (const pid of running(mark)) process.kill(pid, "SIGKILL");
		});
		provider.reply(call ? [call] : "Hello.");
		const env = faultEnv({ under: "/nowhere", killAfterSpawn: mark });
		const pi = spawnPi(["-p", "go"], { agentDir, cwd, env });
		pi.end();
		expect(await pi.exited).toMatchObject({ signal: "SIGKILL" });
		await expect.poll(() => running(mark), { timeout: 5000, interval: 50 }).toEqual([]);
	},
);
