import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor, conversation, openPi, submit, submitIdle } from "./support.js";

test("the model pushes, works and pops; the screen shows the frame, /unpop brings it back, and every request verifies", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider, { settings: { hooks: ["pi:stack"] } });
	const cwd = tempDir();
	writeFiles(cwd, { "a.txt": "alpha\n", "b.txt": "beta\n" });
	provider
		.reply([toolCall("push", { task: "find beta" })])
		.reply([toolCall("read", { path: "a.txt" })])
		.reply([toolCall("read", { path: "b.txt" })])
		.reply([toolCall("pop", { result: "It is in b.txt." })])
		.reply("In b.txt.", "Both files.");
	const pi = await openPi({ agentDir, cwd, columns: 100, rows: 40 });
	await pi.waitForText("0% of");
	await submit(pi, "where is it?");
	await pi.waitForText("In b.txt.");
	const shown = await pi.scrollback();
	expect(shown).toMatch(/◇ pushed “find beta”/);
	expect(shown).toMatch(/◇ popped “find beta” · \/unpop restores it/);
	expect(shown).toMatch(/^◆ It is in b\.txt\./m);
	expect(shown).toMatch(/^ {2}read +a\.txt/m);
	expect(conversation(provider, 4)).toEqual([
		"user: where is it?",
		'assistant:  → push {"task":"find beta"}',
		"tool: Frame “find beta” begins. It ends when you call pop with its result.",
		"user: [Summary]\n\nIt is in b.txt.",
		'assistant:  → pop {"result":"It is in b.txt."}',
		expect.stringContaining("tool: Frame “find beta” is closed: 4 messages"),
	]);

	await submitIdle(pi, "/unpop");
	await pi.waitForText("undid the pop “find beta”");
	await submit(pi, "which files did you read?");
	await pi.waitForText("Both files.");
	expect(conversation(provider, 5).filter((line) => /^tool: .*(alpha|beta$)/m.test(line))).toHaveLength(2);
	await submitIdle(pi, "/quit");
	expect(await pi.exited).toEqual({ code: 0, signal: 0 });

	const sessions = readdirSync(join(agentDir, "sessions"), { recursive: true, encoding: "utf8" });
	const file = sessions.find((name) => name.endsWith(".jsonl")) ?? "";
	const verified = await runPi(["context", "--verify", "--session", join(agentDir, "sessions", file)], {
		agentDir,
		cwd,
	});
	expect(verified).toMatchObject({ code: 0, stdout: "All 6 requests match the recorded ones\n" });
});
