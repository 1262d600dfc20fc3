import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { OpenAs } from "../../../src/commands/open-locked.js";
import type { SessionUI } from "../../../src/hooks/session-ui.js";
import { acquireLock } from "../../../src/util/file-lock.js";
import { startSession } from "../../helpers/session.js";
import { tempAgentDir, tempDir } from "../../helpers/temp.js";

/** A session and another one that is open in a second pi; `as` answers how to open it. */
async function besideAnOpenOne(as: OpenAs | null) {
	const sessionDir = tempDir();
	const cwd = tempDir();
	const other = await startSession({ sessionDir, cwd, session: { kind: "new" } });
	other.provider.reply("hello");
	await other.session.prompt("hi");
	const path = other.session.sessionFile ?? "";
	await other.session.dispose();
	const lock = acquireLock(path);
	const own = await startSession({ sessionDir, cwd, session: { kind: "new" }, ui: { select: async () => as } });
	return { ...own, path, release: () => lock.release() };
}

test("/resume opens a copy of a session that another pi has open, if the user wants it", async () => {
	const { session, path, release } = await besideAnOpenOne("copy");
	await session.prompt(`/resume ${path}`);
	expect(session.sessionFile).not.toBe(path);
	expect(session.entries[0]).toMatchObject({ type: "session", branchedFrom: path });
	expect(session.entries.slice(1)).toEqual([
		expect.objectContaining({ message: expect.objectContaining({ role: "user", content: "hi" }) }),
		expect.objectContaining({ message: expect.objectContaining({ role: "assistant" }) }),
	]);
	release();
});

test("/resume fails and keeps the session when the user wants neither a copy nor to read it", async () => {
	const { session, path, release } = await besideAnOpenOne(null);
	const before = session.sessionFile;
	await expect(session.prompt(`/resume ${path}`)).rejects.toMatchObject({ code: "log_locked" });
	expect(session.sessionFile).toBe(before);
	release();
});

test("a session that is only read accepts a model and a thinking level, and records neither", async () => {
	const { session, path, release } = await besideAnOpenOne("readOnly");
	await session.prompt(`/resume ${path}`);
	const before = readFileSync(path, "utf8");
	expect([session.sessionFile, session.isReadOnly]).toEqual([path, true]);
	session.setThinkingLevel("high");
	expect(session.thinkingLevel).toBe("high");
	await expect(session.prompt("more")).rejects.toMatchObject({ code: "log_read_only" });
	await expect(session.runBash("echo x", { excludeFromContext: false })).rejects.toMatchObject({
		code: "log_read_only",
	});
	await expect(session.compact()).rejects.toMatchObject({ code: "log_read_only" });
	release();
	await session.prompt(`/resume ${path}`);
	expect(session.isReadOnly).toBe(false);
	expect(readFileSync(path, "utf8")).toBe(before);
});

test("/resume lists and opens the sessions of the directory when the open one is not saved", async () => {
	const place = { agentDir: tempAgentDir(), cwd: tempDir() };
	const saved = await startSession({ ...place, session: { kind: "new" } });
	saved.provider.reply("hello");
	await saved.session.prompt("hi");
	const { sessionFile, sessionId } = saved.session;
	await saved.session.dispose();
	const offered: unknown[] = [];
	const select = async (_: string, options: readonly { label: string }[]) => {
		offered.push(...options.map(({ label }) => label));
		return null;
	};
	const { session } = await startSession({
		...place,
		session: { kind: "memory" },
		ui: { select: select as SessionUI["select"] },
	});
	await session.prompt("/resume");
	expect(offered).toEqual(["hi"]);
	expect(session.sessionFile).toBeNull();
	await session.prompt(`/resume ${sessionId.slice(0, 8)}`);
	expect(session.sessionFile).toBe(sessionFile);
});
