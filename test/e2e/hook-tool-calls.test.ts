import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { tempDir } from "../helpers/temp.js";
import { agentDirFor, openPi, submit, submitIdle } from "./support.js";

test("the screen shows the calls of a batch while they run, and after a resume", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider, { settings: { hooks: ["pi:batch"] } });
	const cwd = tempDir("pi-project-");
	writeFileSync(join(cwd, "a.txt"), "alpha\n");
	const calls = [
		{ tool: "read", args: { path: "a.txt" } },
		{ tool: "bash", args: { command: "while [ ! -e go ]; do sleep 0.05; done; echo went" } },
	];
	provider.reply([toolCall("batch", { calls })], "All is done.");
	const pi = await openPi({ agentDir, cwd, columns: 100, rows: 30 });
	await submit(pi, "look");
	await pi.waitForText("│ bash  while");
	expect(await pi.waitForText("│ read  a.txt")).not.toContain("All is done.");
	writeFileSync(join(cwd, "go"), "");
	expect(await pi.waitForText("All is done.")).toMatch(
		/batch[^\n]*\n[^\n]*│ read {2}a\.txt +1 line\n[^\n]*│ bash {2}while/,
	);
	await submitIdle(pi, "/quit");
	await pi.exited;
	const again = await openPi({ agentDir, cwd, columns: 100, rows: 30, args: ["--continue"] });
	expect(await again.waitForText("All is done.")).toMatch(/│ read {2}a\.txt +1 line\n[^\n]*│ bash {2}while/);
});

test("a context is compacted after a commit, in the middle of a run", async () => {
	const provider = await startProvider();
	const settings = { hooks: ["pi:commit-compact"], compaction: { enabled: false, keepRecentTokens: 1 } };
	const agentDir = agentDirFor(provider, { settings });
	const usage = { input: 110_000, output: 10 };
	provider.reply({ content: [{ type: "text", text: "I explained it. ".repeat(50) }], usage });
	const pi = await openPi({ agentDir, columns: 100, rows: 30 });
	await submit(pi, "explain it");
	await pi.waitForText("I explained it.");
	const commit = [toolCall("bash", { command: "true git commit -m x" })];
	provider.reply({ content: commit, usage }, "A SUMMARY", "Committed and compacted.");
	await submit(pi, "commit it");
	expect(await pi.waitForText("Committed and compacted.")).toContain("compacted here");
	expect(JSON.stringify(provider.requests.at(-1)?.messages)).toContain("A SUMMARY");
});
