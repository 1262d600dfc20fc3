import { appendFileSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTick } from "node:timers/promises";
import { expect, test } from "vitest";
import { readPastSession, searchPastSessions } from "../../src/log/past-sessions.js";
import { searchEntries } from "../../src/log/search.js";
import { SessionLog } from "../../src/log/session-log.js";
import { tempDir } from "../helpers/temp.js";

const never = new AbortController().signal;

/** A session file in `dir`; `day` is the day of its start and of its last change. */
function session(dir: string, id: string, day: number, texts: readonly string[], more = ""): string {
	mkdirSync(dir, { recursive: true });
	const timestamp = `2026-01-${String(day).padStart(2, "0")}T10:00:00.000Z`;
	const lines = [
		{ type: "session", version: 1, id, timestamp, cwd: "/project" },
		...texts.map((content) => ({ type: "message", timestamp, message: { role: "user", content, timestamp: 0 } })),
	];
	const path = join(dir, `2026-01-0${day}T10-00-00-000Z_${id}.jsonl`);
	writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join("") + more);
	utimesSync(path, new Date(timestamp), new Date(timestamp));
	return path;
}

const search = (dirs: readonly string[], text: string, options: { limit?: number; without?: string } = {}) =>
	searchPastSessions(dirs, text, { limit: 20, without: null, signal: never, ...options });

test("sessions that contain a text are found with their facts, newest first, over several directories", async () => {
	const [a, b] = [tempDir(), tempDir()];
	session(a, "old", 1, ["the Parser fails", "why", "fix the parser"]);
	const current = session(a, "new", 3, ["the parser again"]);
	session(b, "mid", 2, ["parser"], '{"type":"session_info","timestamp":"t","name":"Parsing"}\n');
	session(b, "none", 4, ["other"]);
	const found = await search([a, b], "PARSER");
	const facts = { cwd: "/project", name: null };
	const hit = (entryIndex: number, text: string) => ({ entryIndex, role: "user", text });
	expect(found).toEqual([
		{ ...facts, id: "new", startedAt: "2026-01-03T10:00:00.000Z", messages: 1, hits: [hit(1, "the parser again")] },
		{
			...facts,
			id: "mid",
			name: "Parsing",
			startedAt: "2026-01-02T10:00:00.000Z",
			messages: 1,
			hits: [hit(1, "parser")],
		},
		{
			...{ ...facts, id: "old", startedAt: "2026-01-01T10:00:00.000Z", messages: 3 },
			hits: [hit(1, "the Parser fails"), hit(3, "fix the parser")],
		},
	]);
	expect(Object.isFrozen(found[0]?.hits[0])).toBe(true);
	expect((await search([a, b], "parser", { limit: 1 })).map(({ id }) => id)).toEqual(["new"]);
	expect((await search([a, b], "parser", { without: current })).map(({ id }) => id)).toEqual(["mid", "old"]);
	expect(await search([join(a, "missing")], "parser")).toEqual([]);
});

test("hits have at most 300 characters, and there are at most 10 for a session", async () => {
	const dir = tempDir();
	const text = "word ".repeat(100).trim();
	session(
		dir,
		"long",
		1,
		Array.from({ length: 30 }, () => `before ${text} after`),
	);
	const [found] = await search([dir], text);
	expect(found?.hits).toHaveLength(10);
	expect(found?.hits[0]?.text).toHaveLength(300);
});

test("the index of a hit counts damaged lines and no blank ones, also across chunks", async () => {
	const dir = tempDir();
	const big = "x".repeat(400_000);
	const path = session(dir, "damaged", 1, ["one", big], '\n{"torn\n  \t\n');
	const line = (content: string) =>
		`${JSON.stringify({ type: "message", timestamp: "t", message: { role: "user", content } })}\n`;
	appendFileSync(path, line("needle") + line(big).repeat(6) + line("a needle"));
	const log = SessionLog.open(path, { readOnly: true });
	const indices = (await searchEntries(path, "needle")).map(({ entryIndex }) => entryIndex);
	expect(indices).toEqual([4, 11]);
	for (const index of indices) expect(JSON.stringify(log.entry(index))).toContain("needle");
	log.close();
});

test("a large session is searched and read without holding up other work", async () => {
	const dir = tempDir();
	session(dir, "large", 1, Array.from({ length: 24 }, (_, at) => `${at} ${"y".repeat(1_000_000)}`).concat("the end"));
	let turns = 0;
	let isDone = false;
	const others = (async () => {
		while (!isDone) {
			turns++;
			await nextTick();
		}
	})();
	const [found] = await search([dir], "the end");
	const first = await readPastSession([dir], "large", { from: 0, limit: 1000, signal: never });
	isDone = true;
	await others;
	expect(turns).toBeGreaterThan(20);
	expect(found).toEqual(expect.objectContaining({ hits: [expect.objectContaining({ entryIndex: 25 })] }));
	expect(found).not.toHaveProperty("messages");
	// 8 MB, and on from there.
	expect([first.entries.length, first.next]).toEqual([9, 9]);
	const last = await readPastSession([dir], "large", { from: 24, limit: 1000, signal: never });
	expect([last.entries.length, last.next]).toEqual([2, null]);
});

test("a session is read by its id or the start of it, with damaged lines as opaque entries, frozen", async () => {
	const dir = tempDir();
	session(dir, "abc-1", 1, ["one"], '{"torn\n{"type":"session_info","timestamp":"t","name":"Mine"}\n');
	const read = (id: string, from = 0) => readPastSession([dir], id, { from, limit: 1000, signal: never });
	const past = await read("ABC");
	expect(past).toMatchObject({ id: "abc-1", name: "Mine", cwd: "/project", next: null });
	expect(past.entries.map(({ type }) => type)).toEqual(["session", "message", "opaque", "session_info"]);
	expect([Object.isFrozen(past), Object.isFrozen(past.entries), Object.isFrozen(past.entries[1])]).toEqual([
		true,
		true,
		true,
	]);
	expect((await read("abc-1", 3)).entries).toHaveLength(1);
	expect(await read("abc-1", 99)).toMatchObject({ entries: [], next: null });
});

test("an entry that is larger than a read is read alone", async () => {
	const dir = tempDir();
	session(dir, "huge", 1, ["one", "z".repeat(9_000_000), "two"]);
	const read = async (from: number) => {
		const { entries, next } = await readPastSession([dir], "huge", { from, limit: 1000, signal: never });
		return [entries.length, next];
	};
	expect([await read(0), await read(2), await read(3)]).toEqual([
		[2, 2],
		[1, 3],
		[1, null],
	]);
});

test("several sessions, none, and files elsewhere are refused by name", async () => {
	const dir = tempDir();
	const path = session(dir, "abc-1", 1, ["one"]);
	session(dir, "abc-2", 2, ["two"]);
	const outside = session(tempDir(), "other", 3, ["three"]);
	const read = (id: string) =>
		readPastSession([dir], id, { from: 0, limit: 1000, signal: never }).catch(
			({ code, message }) => `${code}: ${message}`,
		);
	expect(await read("abc")).toBe('bad_arguments: 2 session ids begin with "abc": abc-1, abc-2');
	expect(await read("zzz")).toBe('log_not_found: There is no session "zzz"');
	expect(await read(path)).toMatchObject({ id: "abc-1" });
	for (const target of [outside, `${dir}/../${outside}`, "../x.jsonl", "/etc/passwd", "nothing.jsonl"])
		expect(await read(target)).toBe(`bad_arguments: ${target} is not in a directory of sessions`);
});

test("an aborted search ends with the reason", async () => {
	const dir = tempDir();
	session(dir, "abc", 1, ["one"]);
	const signal = AbortSignal.abort(new Error("enough"));
	await expect(searchPastSessions([dir], "one", { limit: 1, without: null, signal })).rejects.toThrow("enough");
});
