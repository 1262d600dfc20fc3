import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir } from "../helpers/temp.js";
import { agentDirFor, conversation, openPi, STACKING, submit, submitIdle } from "./support.js";

/** A Claude Code session in which a file was read. */
function claudeSession(home: string, cwd: string): string {
	const dir = join(home, ".claude", "projects", cwd.replace(/[^a-zA-Z0-9]/g, "-"));
	const usage = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
	const said = (id: string, block: object) => ({
		type: "assistant",
		message: { id, role: "assistant", model: "claude-opus-4-5-20251101", content: [block], usage },
	});
	const typed = (content: unknown) => ({ type: "user", message: { role: "user", content } });
	const parts = [
		typed("Where is the price rounded?"),
		said("m1", { type: "thinking", thinking: "I look.", signature: "c2lnbmVk" }),
		said("m1", { type: "tool_use", id: "toolu_1", name: "Read", input: { file_path: "price.ts" } }),
		typed([{ type: "tool_result", tool_use_id: "toolu_1", content: "1→export const price = 1;" }]),
		said("m2", { type: "text", text: "In price.ts." }),
	];
	const lines = parts.map((part, index) => {
		const place = { uuid: `u${index}`, parentUuid: index === 0 ? null : `u${index - 1}`, isSidechain: false };
		return JSON.stringify({ ...place, ...part, sessionId: "c-77", cwd, timestamp: `2026-01-01T10:00:0${index}.000Z` });
	});
	mkdirSync(dir, { recursive: true });
	const path = join(dir, "c-77.jsonl");
	writeFileSync(path, `${lines.join("\n")}\n`);
	return path;
}

test("a session of another program is found in /resume, imported, continued, popped and counted", async () => {
	const provider = await startProvider();
	const [agentDir, cwd, home] = [
		agentDirFor(provider, { hooks: { "stacking.ts": STACKING } }),
		tempDir("pi-project-"),
		tempDir("pi-user-"),
	];
	const source = claudeSession(home, cwd);
	const before = readFileSync(source, "utf8");
	const at = { agentDir, cwd, env: { HOME: home } };
	const pi = await openPi(at);
	await submitIdle(pi, "/resume");
	await pi.waitForText("tab all directories");
	await pi.press("tab");
	await pi.waitForText("tab other programs");
	await pi.press("tab");
	const list = await pi.waitForText("Where is the price rounded?");
	expect(list).toContain("Claude Code");
	await pi.press("enter");
	await pi.waitForText("Imported 4 entries from Claude Code");
	expect(await pi.waitForText("In price.ts.")).toMatch(/read +price\.ts/);

	await submit(pi, "/model loopback/scripted");
	await pi.waitForText(/scripted/);
	provider.reply("On line 1.");
	await submit(pi, "On which line?");
	await pi.waitForText("On line 1.");
	expect(conversation(provider, 0).join("\n")).toMatch(
		/Where is the price rounded\?[\s\S]*export const price[\s\S]*In price\.ts\.[\s\S]*On which line\?/,
	);
	provider.reply("The price is rounded in price.ts, line 1.");
	await submit(pi, "/pop 1");
	await pi.waitForText("popped to turn 1");
	await submitIdle(pi, "/quit");
	await pi.exited;
	expect(readFileSync(source, "utf8")).toBe(before);

	const again = await runPi(["sessions", "import", "c-77"], at);
	expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining(`imported before: ${source}`) });
	const listed = await runPi(["sessions", "import", "--json"], at);
	expect(JSON.parse(listed.stdout)).toMatchObject([
		{ program: "claude", id: "c-77", importedBefore: expect.any(String) },
	]);
	const verified = await runPi(["context", "--verify"], at);
	expect(verified).toMatchObject({ code: 0 });
	expect(verified.stdout).toContain("The request matches the recorded one");
	expect(verified.stdout).toContain("2 replies without a recorded request");
	expect((await runPi(["usage", "--days", "10000"], at)).stdout).toContain("2026-01-01");

	// It can go back, with what was said here.
	const [{ id }] = JSON.parse((await runPi(["sessions", "list", "--json"], at)).stdout);
	const back = await runPi(["sessions", "export", id, "-", "--format", "claude"], at);
	expect(back.stdout).toMatch(/"name":"Read"[\s\S]*In price\.ts\.[\s\S]*On line 1\./);
	const text = await runPi(["sessions", "export", id, "notes.md"], at);
	expect(text).toMatchObject({ code: 0, stdout: expect.stringMatching(/\/notes\.md\n$/) });
});
