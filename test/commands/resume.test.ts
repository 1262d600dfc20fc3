import { expect, test } from "vitest";
import { acquireLock } from "../../src/util/file-lock.js";
import { startSession } from "../helpers/session.js";
import { tempDir } from "../helpers/temp.js";

/** A session and another one that is open in a second pi; `copies` answers the question about a copy. */
async function besideAnOpenOne(copies: boolean) {
	const sessionDir = tempDir();
	const cwd = tempDir();
	const other = await startSession({ sessionDir, cwd, session: { kind: "new" } });
	other.provider.reply("hello");
	await other.session.prompt("hi");
	const path = other.session.sessionFile ?? "";
	await other.session.dispose();
	const lock = acquireLock(path);
	const own = await startSession({ sessionDir, cwd, session: { kind: "new" }, ui: { confirm: async () => copies } });
	return { ...own, path, release: () => lock.release() };
}

test("/resume opens a copy of a session that another pi has open, after a confirmation", async () => {
	const { session, path, release } = await besideAnOpenOne(true);
	await session.prompt(`/resume ${path}`);
	expect(session.sessionFile).not.toBe(path);
	expect(session.entries[0]).toMatchObject({ type: "session", branchedFrom: path });
	expect(session.entries.slice(1)).toEqual([
		expect.objectContaining({ message: expect.objectContaining({ role: "user", content: "hi" }) }),
		expect.objectContaining({ message: expect.objectContaining({ role: "assistant" }) }),
	]);
	release();
});

test("/resume fails and keeps the session when the copy is refused", async () => {
	const { session, path, release } = await besideAnOpenOne(false);
	const before = session.sessionFile;
	await expect(session.prompt(`/resume ${path}`)).rejects.toMatchObject({ code: "log_locked" });
	expect(session.sessionFile).toBe(before);
	release();
});
