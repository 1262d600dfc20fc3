import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { encodeEntry } from "../../../src/log/codec.js";
import { sessionDirName } from "../../../src/log/session-paths.js";
import { findSessionFile, listSessionPage } from "../../../src/modes/acp/session-files.js";
import { user } from "../../helpers/entries.js";
import { tempDir } from "../../helpers/temp.js";

function writeSession(dir: string, cwd: string, id: string, second: number, hasMessage = true): string {
	mkdirSync(dir, { recursive: true });
	const path = join(dir, `${id}.jsonl`);
	const header = { type: "session", version: 1, id, timestamp: "2026-01-01T00:00:00.000Z", cwd } as const;
	writeFileSync(path, [header, ...(hasMessage ? [user(`question ${id}`)] : [])].map(encodeEntry).join(""));
	utimesSync(path, second, second);
	return path;
}

test("the list has pages of 100 sessions, newest first, without empty ones", async () => {
	const root = tempDir("pi-sessions-");
	const dir = join(root, sessionDirName("/p"));
	for (let n = 1; n <= 101; n++) writeSession(dir, "/p", `a${n}`, n);
	writeSession(dir, "/p", "empty", 500, false);
	writeSession(join(root, sessionDirName("/q")), "/q", "b", 1000);
	const directories = { root, dir: null };
	const first = await listSessionPage(directories, "/p", null);
	expect(first.sessions).toHaveLength(100);
	expect(first.sessions[0]).toEqual({
		...{ sessionId: "a101", cwd: "/p", title: "question a101", updatedAt: "1970-01-01T00:01:41.000Z" },
	});
	const { sessions, nextCursor } = await listSessionPage(directories, "/p", first.nextCursor ?? "");
	expect({ ids: sessions.map(({ sessionId }) => sessionId), nextCursor }).toEqual({
		ids: ["a1"],
		nextCursor: undefined,
	});
	expect((await listSessionPage(directories, null, null)).sessions[0]?.sessionId).toBe("b");
});

test("a session is found in its directory, then in any other, and never by a path", () => {
	const root = tempDir("pi-sessions-");
	const here = writeSession(join(root, sessionDirName("/p")), "/p", "a1", 1);
	const there = writeSession(join(root, sessionDirName("/q")), "/q", "b1", 1);
	const directories = { root, dir: null };
	expect(findSessionFile(directories, "a1", "/p")).toBe(here);
	expect(findSessionFile(directories, "b1", "/p")).toBe(there);
	for (const id of [here, "a1.jsonl", "../a1", ""]) {
		expect(() => findSessionFile(directories, id, "/p")).toThrow(/is not the id of a session/);
	}
	expect(() => findSessionFile({ root, dir: join(root, "other") }, "a1", "/p")).toThrow(/There is no session "a1"/);
});
