import { expect, test } from "vitest";
import { startSession } from "../helpers/session.js";

/** A compacted session right after a switch to it: only the entries after the compaction have been read. */
async function startSwitched() {
	const userSettings = { compaction: { enabled: false, keepRecentTokens: 1 } };
	const { session, provider } = await startSession({ session: { kind: "new" }, userSettings });
	provider.reply("a1", "a2", "summary");
	await session.prompt("one");
	await session.prompt("two");
	await session.compact();
	const path = session.sessionFile ?? "";
	await session.newSession();
	await session.switchSession(path);
	return session;
}

test("a compacted session that was just opened can be replaced by a new one", async () => {
	const session = await startSwitched();
	expect(await session.newSession()).toBe(true);
	expect(session.entries.map(({ type }) => type)).toEqual(["session"]);
});

test("a compacted session that was just opened can be disposed", async () => {
	const session = await startSwitched();
	await expect(session.dispose()).resolves.toBeUndefined();
});
