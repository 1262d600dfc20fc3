import { mkdirSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkSession } from "../../src/log/check-session.js";
import { encodeEntry } from "../../src/log/codec.js";
import type { ContextRecord, RecordedPreamble, RecordedRequest, SessionEntry } from "../../src/log/entry.js";
import { SessionLog } from "../../src/log/session-log.js";
import { acquireLock } from "../../src/util/file-lock.js";
import { assistant, compaction, custom, result, user } from "../helpers/entries.js";
import { closing, fileWith, HEADER, startProcess, tempDir } from "./support.js";

/** A session file: entries, and texts of other lines. */
function fileOf(...lines: (SessionEntry | string)[]): string {
	return fileWith(HEADER + lines.map((line) => (typeof line === "string" ? `${line}\n` : encodeEntry(line))).join(""));
}

function issuesOf(path: string): [line: number | null, entry: number | null, kind: string, text: string][] {
	return checkSession(path).issues.map(({ line, entryIndex, kind, text }) => [line, entryIndex, kind, text]);
}

test("a healthy session has no problems, also with blank lines and without a last line end", () => {
	const path = fileWith(
		`${HEADER}\n  \n${encodeEntry(user("hi"))}${encodeEntry(assistant("", [{ id: "c1" }]))}${encodeEntry(result("c1")).trimEnd()}`,
	);
	expect(checkSession(path)).toEqual({
		path,
		entries: 4,
		issues: [],
		openIn: null,
		hasMessages: true,
		isEnded: false,
	});
	expect(issuesOf(fileWith(""))).toEqual([]);
});

test("damaged lines are named by line and entry, blank lines counted as lines only", () => {
	const path = fileOf(
		user("a"),
		"",
		"garbage {",
		'{"type":"message","message":{"role":"user"}}',
		"\0\0\0",
		'{"type":"mess',
	);
	expect(issuesOf(path)).toEqual([
		[4, 2, "damaged_line", "damaged: the line is not JSON"],
		[5, 3, "damaged_line", "damaged: user message without text or image content"],
		[6, 4, "damaged_line", "damaged: the line is not JSON"],
		[7, 5, "damaged_line", "damaged: the line is not JSON"],
	]);
	const deep = `${'{"type":"x","a":'.padEnd(16)}${"[".repeat(600)}${"]".repeat(600)}}`;
	expect(issuesOf(fileOf(deep))).toEqual([[2, 1, "damaged_line", expect.stringContaining("damaged: ")]]);
});

test.each([
	["a message first", encodeEntry(user("a")), "no_header", "no header: its first line is not a session header"],
	[
		"another version",
		HEADER.replace('"version":1', '"version":3'),
		"other_format",
		"no header: it has session format version 3, not 1",
	],
	["a damaged header", HEADER.slice(5), "no_header", "no header: its first line is not JSON"],
	["a part of a header", HEADER.slice(0, 30), "no_header", "the file holds only a part of a header"],
	["a blank line first", `\n${HEADER}`, "no_header", "no header: its first line is not JSON"],
	["a byte order mark", `\ufeff${HEADER}`, "no_header", "no header: its first line is not JSON"],
])("%s is a missing header", (_, text, kind, words) => {
	expect(issuesOf(fileWith(text))).toEqual([[1, 0, kind, words]]);
});

test("tool calls without a result and results without a call are named by their id", () => {
	const path = fileOf(
		user("a"),
		assistant("", [{ id: "c1", name: "bash" }, { id: "c2" }]),
		result("c2"),
		result("c2"),
		result("c9"),
		assistant("", [{ id: "c3" }], "error"),
		{ ...assistant("", [{ id: "c4" }]), retried: true },
	);
	expect(checkSession(path).issues).toEqual([
		{
			...{ kind: "unanswered_call", line: 3, entryIndex: 2, text: "bash call c1 has no result" },
			...{ callId: "c1", toolName: "bash" },
		},
		{
			...{ kind: "stray_result", line: 5, entryIndex: 4, text: "a second result of read call c2" },
			...{ callId: "c2", toolName: "read" },
		},
		{
			...{ kind: "stray_result", line: 6, entryIndex: 5, text: "a result without read call c9" },
			...{ callId: "c9", toolName: "read" },
		},
	]);
});

test("an id that a provider uses twice needs two results", () => {
	const turn = [assistant("", [{ id: "c" }]), result("c")];
	expect(issuesOf(fileOf(user("a"), ...turn, ...turn))).toEqual([]);
	expect(issuesOf(fileOf(user("a"), ...turn, assistant("", [{ id: "c" }])))).toEqual([
		[5, 4, "unanswered_call", "read call c has no result"],
	]);
});

test("indices that point outside of the session or at an entry of another kind are named", () => {
	const at = { timestamp: "2026-01-02T03:04:05.000Z" };
	const record = { digest: "d", messages: 1, tokens: 1 };
	const shape = (shape: RecordedRequest): SessionEntry => ({ ...assistant("x"), context: { ...record, shape } });
	const path = fileOf(
		user("a"), // 1
		compaction(2, "ok"), // 2
		{ ...compaction(9, "bad"), keptEntries: [1, 7], shortened: [{ entryIndex: 8, characters: 1 }] }, // 3
		{ type: "context_undo", ...at, entryIndex: 2 }, // 4
		{ type: "context_undo", ...at, entryIndex: 1 }, // 5
		{ type: "context_undo", ...at, entryIndex: 99 }, // 6
		{ type: "context_freeze", ...at, entryIndex: 1 }, // 7
		{
			type: "image_omission",
			...at,
			images: [{ digest: "d", entryIndex: 50 }],
			provider: "p",
			modelId: "m",
			reason: "r",
		}, // 8
		shape([
			[1, 2],
			{ message: { role: "user", content: "m", timestamp: 1 }, entryIndex: 1 },
			{ compaction: 2, entry: 1 },
		]), // 9
		shape([[3, 2], [1, 60], { reply: 9, part: 1 }, { reply: 9, part: 3 }, { compaction: 1 }]), // 10
		{ ...assistant("x"), context: { ...record, native: 2 } }, // 11
		{ ...assistant("x"), context: { ...record, native: 1 } }, // 12
	);
	expect(issuesOf(path).map(([line, , kind, text]) => [line, kind, text])).toEqual([
		[4, "bad_index", "firstKeptEntryIndex refers to entry 9, which does not precede it"],
		[4, "bad_index", "keptEntries refers to entry 7, which does not precede it"],
		[4, "bad_index", "shortened refers to entry 8, which does not precede it"],
		[6, "bad_index", "entryIndex refers to entry 1, which is of type user"],
		[7, "bad_index", "entryIndex refers to entry 99, which does not precede it"],
		[8, "bad_index", "entryIndex refers to entry 1, which is of type user"],
		[9, "bad_index", "images refers to entry 50, which does not precede it"],
		[11, "bad_index", "context.shape refers to the entries 3 to 2"],
		[11, "bad_index", "context.shape refers to entry 60, which does not precede it"],
		[11, "bad_index", "context.shape refers to part 3 of entry 9, which it lacks"],
		[11, "bad_index", "context.shape refers to entry 1, which is of type user"],
		[13, "bad_index", "context.native refers to entry 1, which is of type user"],
	]);
});

test("a recorded system prompt may refer only to parts that exist", () => {
	const record = { digest: "d", messages: 1, tokens: 1 };
	const reply = (preamble: RecordedPreamble): SessionEntry => ({ ...assistant("x"), context: { ...record, preamble } });
	const part = { id: "base", text: "t" };
	const path = fileOf(
		user("a"), // 1
		reply({ parts: [part, part], core: [0, 1], sent: [1], generated: { tools: null } }), // 2
		reply({ reply: 2 }), // 3
		reply({ parts: [part], core: [[2, 1], 0] }), // 4
		reply({ reply: 3 }), // 5
		reply({ parts: [part], core: [1], sent: [[2, 5]], generated: { tools: [1, 0] } }), // 6
	);
	expect(issuesOf(path).map(([line, , kind, text]) => [line, kind, text])).toEqual([
		[6, "bad_index", "context.preamble refers to the preamble of entry 3, which it lacks"],
		[7, "bad_index", "context.preamble refers to part 1 of entry 6, which it lacks"],
		[7, "bad_index", "context.preamble refers to part 5 of entry 2, which it lacks"],
		[7, "bad_index", "context.preamble refers to part 0 of entry 1, which it lacks"],
	]);
});

test("a damaged line is the only problem, not what refers to its content", () => {
	const record = { digest: "d", messages: 1, tokens: 1 };
	const reply = (rest: Partial<ContextRecord>): SessionEntry => ({
		...assistant("x"),
		context: { ...record, ...rest },
	});
	const path = fileOf(
		user("a"), // 1
		'{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1"', // 2
		result("c1"), // 3
		reply({ preamble: { parts: [], core: [[2, 0]] } }), // 4
		reply({ preamble: { reply: 2 }, shape: [{ reply: 2, part: 1 }, { compaction: 2 }] }), // 5
		result("c2"), // 6
	);
	expect(issuesOf(path).map(([line, , kind]) => [line, kind])).toEqual([
		[3, "damaged_line"],
		[7, "stray_result"],
	]);
});

test("a second header is named", () => {
	expect(issuesOf(fileOf(user("a"), HEADER.trim(), custom("x")))).toEqual([[3, 2, "second_header", "a second header"]]);
});

test("a line over the limit is named and keeps its index", () => {
	const path = fileOf(user("a".repeat(900)), user("b"), assistant("", [{ id: "c1" }]));
	expect(checkSession(path, { maxLineBytes: 800 }).issues).toMatchObject([
		{ kind: "long_line", line: 2, entryIndex: 1, text: expect.stringMatching(/^too long to be read: 1\d\d\d bytes$/) },
		{ kind: "unanswered_call", line: 4, entryIndex: 3 },
	]);
});

test("a file that cannot be read is named with the reason", () => {
	const dir = tempDir();
	mkdirSync(join(dir, "a.jsonl"));
	expect(issuesOf(join(dir, "a.jsonl"))).toEqual([[null, null, "unreadable", "it is a directory"]]);
	expect(issuesOf(join(dir, "b.jsonl"))).toEqual([[null, null, "unreadable", expect.stringContaining("b.jsonl")]]);
});

test("a session that a pi has open may have calls that still run, and is named with the process", async () => {
	const path = fileOf(
		user("a"),
		assistant("", [{ id: "c0" }]),
		user("b"),
		assistant("", [{ id: "c1" }]),
		'{"type":"me',
	);
	const other = startProcess(`
		const { SessionLog } = await load("session-log.ts");
		SessionLog.open(${JSON.stringify(path)});
		console.log("open");
		setInterval(() => {}, 1000);
	`);
	expect(await other.nextLine()).toBe("open");
	const { openIn, issues } = checkSession(path);
	expect(openIn).toBe(other.child.pid);
	expect(issues.map(({ kind, callId }) => [kind, callId])).toEqual([
		["unanswered_call", "c0"],
		["damaged_line", undefined],
	]);
});

test("an interrupted write of several entries is named, unless a pi is writing it", () => {
	const path = fileOf(user("a"));
	writeFileSync(`${path}.batch`, '{"offset":0,"bytes":9}\n');
	expect(issuesOf(path)).toEqual([[null, null, "unfinished_write", "pi stopped while it wrote entries"]]);
	const lock = acquireLock(path);
	expect(issuesOf(path)).toEqual([]);
	lock.release();
});

test("a session as pi writes it has no problems", () => {
	const log = closing(SessionLog.create({ dir: tempDir(), cwd: "/x" }));
	for (const entry of [
		user("a"),
		assistant("", [{ id: "c" }]),
		result("c"),
		compaction(2, "s"),
		custom("mine", { a: [1] }),
	])
		log.append(entry);
	log.close();
	expect(checkSession(log.path ?? "").issues).toEqual([]);
});

test("the messages of every kind of record are checked against the entries before them", () => {
	const at = { timestamp: "2026-01-02T03:04:05.000Z" };
	const record = { digest: "d", messages: 1, tokens: 1 };
	const shape = (shape: RecordedRequest): SessionEntry => ({ ...assistant("x"), context: { ...record, shape } });
	const note = { role: "user" as const, content: "m", timestamp: 1 };
	const omission = (entryIndex: number | null): SessionEntry => ({
		...{ type: "image_omission", ...at, images: [{ digest: "d", entryIndex }] },
		...{ provider: "p", modelId: "m", reason: "r" },
	});
	const path = fileOf(
		user("a"), // 1
		omission(1), // 2
		omission(null), // 3
		assistant("reply"), // 4
		{ type: "context_freeze", ...at, entryIndex: 4 }, // 5
		{ type: "context_undo", ...at, entryIndex: 5 }, // 6
		{ type: "context_undo", ...at, entryIndex: 2 }, // 7
		compaction(8, "itself"), // 8
		shape([[1, 1], [1, 9], { message: note, entryIndex: null }, { message: note, entryIndex: 8 }]), // 9
		shape([[1, 10], { message: note, entryIndex: 10 }, { compaction: 8, entry: 10 }]), // 10
		shape([
			{ reply: 9, part: 3 },
			{ reply: 9, part: 4 },
			{ reply: 4, part: 0 },
			{ reply: 11, part: 0 },
			{ reply: 1, part: 0 },
		]), // 11
	);
	expect(issuesOf(path).map(([line, , , text]) => [line, text])).toEqual([
		[11, "context.shape refers to entry 10, which does not precede it"],
		[11, "context.shape refers to entry 10, which does not precede it"],
		[12, "context.shape refers to part 4 of entry 9, which it lacks"],
		[12, "context.shape refers to part 0 of entry 4, which it lacks"],
		[12, "context.shape refers to entry 11, which does not precede it"],
		[12, "context.shape refers to entry 1, which is of type user"],
		[12, "context.shape refers to part 0 of entry 1, which it lacks"],
	]);
});

test("a session has messages if one of the user or the model can be read", () => {
	const has = (...entries: (SessionEntry | string)[]) => checkSession(fileOf(...entries)).hasMessages;
	expect([has(user("a")), has(assistant("b")), has(result("c")), has(custom("x")), has("garbage"), has()]).toEqual([
		...[true, true],
		...[false, false, false, false],
	]);
});

test("calls of a reply that broke off need no result", () => {
	for (const stopReason of ["error", "aborted"] as const) {
		expect(issuesOf(fileOf(user("a"), assistant("", [{ id: "c1" }], stopReason)))).toEqual([]);
	}
	expect(issuesOf(fileOf(user("a"), assistant("", [{ id: "c1" }], "stop")))).toHaveLength(1);
});

test("while a session is open, only its end may be unfinished", () => {
	const cut = '{"type":"message","mess';
	const both = [user("a"), assistant("", [{ id: "c1" }]), user("b"), assistant("", [{ id: "c2" }]), "garbage", cut];
	const path = fileOf(...both);
	truncateSync(path, statSync(path).size - 1);
	const lock = acquireLock(path);
	const kinds = () => checkSession(path).issues.map(({ kind, line }) => [kind, line]);
	expect(kinds()).toEqual([
		["unanswered_call", 3],
		["damaged_line", 6],
	]);
	lock.release();
	expect(kinds()).toEqual([
		["unanswered_call", 3],
		["unanswered_call", 5],
		["damaged_line", 6],
		["damaged_line", 7],
	]);
	const ended = fileOf(user("a"), cut);
	const other = acquireLock(ended);
	expect(checkSession(ended)).toMatchObject({ isEnded: true, issues: [{ kind: "damaged_line" }] });
	other.release();
});

test("a file that cannot be read has no entries", () => {
	const path = join(tempDir(), "missing");
	expect(checkSession(path)).toEqual({
		...{ path, entries: 0, openIn: null, hasMessages: false, isEnded: true },
		issues: [
			{ kind: "unreadable", line: null, entryIndex: null, text: expect.stringContaining("There is no session file") },
		],
	});
});
