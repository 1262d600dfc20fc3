import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { tempAgentDir, tempDir } from "../../helpers/temp.js";
import { run } from "./run.js";

const chat = (day: number, prompt: string) =>
	`# aider chat started at 2025-01-0${day} 10:00:00\n\n#### ${prompt}\n\nDone.\n\n`;
const HISTORY = chat(1, "Add a test") + chat(2, "Rename it") + chat(3, "Fix it");

function project(): { agentDir: string; cwd: string } {
	const cwd = tempDir("pi-project-");
	writeFileSync(join(cwd, ".aider.chat.history.md"), HISTORY);
	return { agentDir: tempAgentDir(), cwd };
}

const importing = (target?: string, more: { list?: boolean; again?: boolean; from?: string } = {}) => ({
	...({ name: "sessions", action: "import", list: false, again: false } as const),
	...(target === undefined ? {} : { target }),
	...more,
});

test("without a file, the sessions of this directory are listed, newest first, with those imported before", async () => {
	const at = project();
	const { stdout, stderr } = await run(importing(), at);
	expect(stdout).toMatch(/^program +id +modified \(UTC\) +imported +name or text\n/);
	expect(stdout).toMatch(/Fix it[\s\S]*Rename it[\s\S]*Add a test/);
	expect(stderr).toContain("pi sessions import <id>");
	await run(importing("2025-01-02"), at);
	const listed = JSON.parse((await run(importing(), { ...at, json: true })).stdout);
	expect(listed.map(({ importedBefore }: { importedBefore: unknown }) => importedBefore !== null)).toEqual([
		...[false, true, false],
	]);
});

test("of a file with several sessions the newest is imported, of a directory all", async () => {
	const at = project();
	const one = await run(importing(".aider.chat.history.md"), at);
	expect(one.stdout).toContain("of aider\n");
	expect(one.stderr).toContain("the file has 2 earlier sessions");
	expect((await run({ name: "sessions", action: "list" }, at)).stdout).toMatch(/Fix it\n$/);
	const again = await run(importing(".aider.chat.history.md"), at);
	expect(again.stdout).toMatch(/^imported before: /);
	expect((await run(importing(".aider.chat.history.md", { again: true }), at)).stdout).toMatch(/^file /);

	const other = join(at.cwd, "other", ".aider.chat.history.md");
	mkdirSync(dirname(other));
	writeFileSync(other, chat(4, "Elsewhere"));
	const all = JSON.parse((await run(importing(".", { from: "aider" }), { ...at, json: true })).stdout);
	expect(all).toHaveLength(4);
});

test("an id that no session has, a program that pi does not know and a file of no program are refused", async () => {
	const at = project();
	await expect(run(importing("0123"), at)).rejects.toMatchObject({ code: "log_not_found" });
	await expect(run(importing("2025"), at)).rejects.toThrow("3 sessions of other programs");
	await expect(run(importing(undefined, { from: "cursor" }), at)).rejects.toMatchObject({ code: "bad_arguments" });
	await expect(run(importing(".", { from: "codex" }), at)).rejects.toThrow("holds no session of Codex");
	const none = await run(importing(), { agentDir: tempAgentDir(), cwd: tempDir() });
	expect(none).toMatchObject({ code: 0, stderr: expect.stringContaining("No sessions of other programs") });
});
