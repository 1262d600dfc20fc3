import { readdirSync, statSync, truncateSync, utimesSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { SessionLog } from "../../../src/log/session-log.js";
import { openLog } from "../../../src/services/store/open-log.js";
import { assistant, user } from "../../helpers/entries.js";
import { startSession } from "../../helpers/session.js";
import { tempDir } from "../../helpers/temp.js";

function saved(dir: string): { log: SessionLog; path: string } {
	const log = SessionLog.create({ dir, cwd: "/" });
	log.append(user("hi"));
	onTestFinished(() => log.close());
	return { log, path: log.path ?? "" };
}

function continued(dir: string) {
	const { log, warning } = openLog({ kind: "continue" }, dir, "/");
	const path = log.path ?? "";
	log.close();
	return { path, warning };
}

test("the latest session is continued; without one a session begins", () => {
	const dir = tempDir();
	const empty = continued(dir);
	expect(empty.warning).toBeUndefined();
	const { log, path } = saved(dir);
	log.close();
	expect(continued(dir)).toEqual({ path, warning: undefined });
});

test("a warning says why the latest session is not continued", () => {
	const dir = tempDir();
	const [a, b] = [saved(dir), saved(dir)];
	b.log.close();
	utimesSync(b.path, 1, 1);
	const inUse = `Session ${a.path} is in use by this process (${process.pid})`;
	expect(continued(dir)).toEqual({
		path: b.path,
		warning: `${inUse}, so pi continues an earlier session · quit that process to continue the latest one`,
	});
	const open = SessionLog.open(b.path);
	onTestFinished(() => open.close());
	const created = continued(dir);
	expect([a.path, b.path]).not.toContain(created.path);
	expect(created.warning).toContain("so pi begins a new session");
});

test("a script does not continue another session than the latest", () => {
	const dir = tempDir();
	const [a, b] = [saved(dir), saved(dir)];
	b.log.close();
	utimesSync(b.path, 1, 1);
	const open = () => openLog({ kind: "continue", printed: true }, dir, "/");
	expect(open).toThrow(
		expect.objectContaining({
			code: "log_locked",
			message: `Session ${a.path} is in use by this process (${process.pid})`,
			hint: "quit that process, or choose another session with --session: `pi sessions` lists them",
		}),
	);
	a.log.close();
	const { log, warning } = open();
	expect([log.path, warning]).toEqual([a.path, undefined]);
	log.close();
});

describe("a session of a name", () => {
	const name = (text: string) => ({ type: "session_info", timestamp: "2026-01-01T00:00:00.000Z", name: text }) as const;
	const named = (dir: string, wanted = "nightly") => openLog({ kind: "named", name: wanted }, dir, "/").log;

	test("begins with that name, and leaves no file until it is used", () => {
		const dir = tempDir();
		const log = named(dir);
		expect(log.entry(1)).toMatchObject({ type: "session_info", name: "nightly" });
		log.close();
		expect(readdirSync(dir)).toEqual([]);
	});

	test("is continued if its name is exactly that, the one that was used last", () => {
		const dir = tempDir();
		const [old, other, renamed, latest] = [saved(dir), saved(dir), saved(dir), saved(dir)];
		old.log.append(name("nightly"));
		other.log.append(name("nightly 2"));
		renamed.log.append(name("nightly"));
		renamed.log.append(name("weekly"));
		latest.log.append(name("nightly"));
		for (const { log } of [old, other, renamed, latest]) log.close();
		utimesSync(old.path, 1, 1);
		const log = named(dir, " nightly ");
		expect(log.path).toBe(latest.path);
		log.close();
		const spaced = saved(dir);
		spaced.log.append(name("two  blanks\nand a line"));
		spaced.log.close();
		const found = named(dir, "two  blanks\nand a line");
		expect(found.path).toBe(spaced.path);
		found.close();
		const weekly = named(dir, "weekly");
		expect(weekly.path).toBe(renamed.path);
		weekly.close();
		const none = named(dir, "night");
		expect([old, other, renamed, latest].map(({ path }) => path)).not.toContain(none.path);
		none.close();
	});

	test("that another process has open is an error", () => {
		const dir = tempDir();
		const { log, path } = saved(dir);
		log.append(name("nightly"));
		expect(() => named(dir)).toThrow(
			expect.objectContaining({ code: "log_locked", message: expect.stringContaining(path) }),
		);
	});
});

test("a last line that was cut off is reported when the session is opened, and after /resume", async () => {
	const first = await startSession({ session: { kind: "new" } });
	first.provider.reply("one");
	await first.session.prompt("a");
	await first.session.dispose();
	const path = first.session.sessionFile ?? "";
	truncateSync(path, statSync(path).size - 40);
	const { provider, agentDir, cwd } = first;
	const damage = expect.stringMatching(
		/^1 line of the session file is damaged and ignored; details: pi sessions check/,
	);
	const reader = await startSession({ provider, agentDir, cwd, session: { kind: "new" } });
	await reader.session.prompt(`/resume ${path}`);
	expect(reader.session.loaded.warnings).toEqual([damage]);
	await reader.session.dispose();
	const opened = await startSession({ provider, agentDir, cwd, session: { kind: "open", target: path } });
	expect(opened.notices()).toEqual([damage]);
});

test("a prompt without a reply, as a killed pi leaves it, is reported", async () => {
	const dir = tempDir();
	const { log, path } = saved(dir);
	log.close();
	const options = { cwd: "/", session: { kind: "open", target: path } } as const;
	const { notices, session } = await startSession(options);
	expect(notices()).toEqual(["The last prompt has no reply"]);
	await session.dispose();
	const open = SessionLog.open(path);
	open.append(assistant("hello"));
	open.close();
	expect((await startSession(options)).notices()).toEqual([]);
});

test("a fault of the log is reported once, although the context is computed for each request", async () => {
	const dir = tempDir();
	const { log, path } = saved(dir);
	log.append({
		type: "compaction",
		timestamp: "2026-01-01T00:00:00.000Z",
		summary: "S",
		firstKeptEntryIndex: 99,
		tokensBefore: 5,
	});
	log.close();
	const { session, provider, notices } = await startSession({ session: { kind: "open", target: path } });
	provider.reply("one", "two");
	await session.prompt("a");
	await session.prompt("b");
	expect(notices().filter((line) => line.includes("firstKeptEntryIndex"))).toHaveLength(1);
});
