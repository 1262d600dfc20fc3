import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { draftPath, keepDraft, takeDraft } from "../../src/log/drafts.js";
import { removeSession, trashSession } from "../../src/log/manage-sessions.js";
import { tempDir } from "../helpers/temp.js";

test("a draft is returned once, and only its owner can read it", () => {
	const dir = join(tempDir(), "sessions");
	const path = draftPath(join(dir, "a.jsonl"));
	keepDraft(path, "a thought\nof two lines");
	if (process.platform !== "win32") expect(statSync(path).mode & 0o777).toBe(0o600);
	expect(takeDraft(path)).toBe("a thought\nof two lines");
	expect(takeDraft(path)).toBe("");
	expect(readdirSync(dir)).toEqual([]);
});

test("a second draft follows the first", () => {
	const dir = tempDir();
	const path = draftPath(join(dir, "a.jsonl"));
	keepDraft(path, "first");
	keepDraft(path, "second");
	expect(takeDraft(path)).toBe("first\n\nsecond");
});

test("a draft that cannot be written leaves no part of it", () => {
	const dir = join(tempDir(), "in-the-way");
	writeFileSync(dir, "");
	expect(() => keepDraft(draftPath(join(dir, "a.jsonl")), "text")).toThrow();
});

test.each<[string, (path: string) => unknown]>([
	["deleted", removeSession],
	["moved to the trash", (path) => trashSession(path, async () => null)],
])("the draft of a session that is %s is deleted", async (_, remove) => {
	const dir = tempDir();
	const path = join(dir, "a.jsonl");
	writeFileSync(path, "{}\n");
	keepDraft(draftPath(path), "text");
	await remove(path);
	expect(existsSync(draftPath(path))).toBe(false);
});
