import { existsSync, readdirSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { agentDirFor } from "../e2e/support.js";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { runPi, spawnPi } from "../helpers/run-pi.js";
import { tempDir } from "../helpers/temp.js";
import { expectNoStack } from "./judge.js";
import { LISTS_PROGRAMS, running } from "./processes.js";
import { faultTest } from "./rounds.js";

const SIGNALS = ["SIGTERM", "SIGHUP", "SIGINT"] as const;

faultTest(
	"signals",
	"one or two signals at any moment end every mode, its children and nothing else",
	{ short: 1, long: 80, runIf: LISTS_PROGRAMS },
	async ({ seed, random }) => {
		const provider = await startProvider();
		const mark = `mark-${process.pid}-${seed}`;
		provider.on(({ messages }) =>
			messages.at(-1)?.role === "user" ? [toolCall("bash", { command: `echo $$; sleep 30 # ${mark}` })] : "Fine.",
		);
		const [agentDir, cwd] = [agentDirFor(provider), tempDir()];
		const session = ["--session", join(agentDir, "session.jsonl")];
		const mode = random.pick(["text", "json", "rpc"]);
		const pi = spawnPi([...session, "--mode", mode, ...(mode === "rpc" ? [] : ["-p", "go"])], { agentDir, cwd });
		if (mode === "rpc") pi.write('{"type":"prompt","message":"go"}\n');
		else pi.end();
		// At any moment. Before Node has installed the program's handlers, a signal ends it as it ends any program.
		await new Promise((resolve) => setTimeout(resolve, random.below(900)));
		const signals: NodeJS.Signals[] = [random.pick(SIGNALS)];
		if (random.chance(0.6)) signals.push(random.pick(SIGNALS));
		for (const signal of signals) pi.kill(signal);
		const run = await pi.exited;
		const codes = signals.map((signal) => 128 + constants.signals[signal]);
		if (run.code !== null) expect(codes, `${signals} ${mode}`).toContain(run.code);
		else expect(signals).toContain(run.signal);
		expectNoStack(run.stderr);
		await expect.poll(() => running(mark), { timeout: 5000, interval: 50 }).toEqual([]);
		expect(readdirSync(agentDir).filter((name) => name.endsWith(".lock") && run.code !== null)).toEqual([]);
		if (!existsSync(session[1] ?? "")) return;
		provider.on(() => "Continued.");
		expect(await runPi(["-p", ...session, "go on"], { agentDir, cwd })).toMatchObject({
			code: 0,
			stdout: "Continued.\n",
		});
		expect(provider.violations).toEqual([]);
	},
);
