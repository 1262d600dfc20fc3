import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { describeError, PiError } from "../../src/errors.js";
import { decodeLine } from "../../src/log/codec.js";
import type { SessionEntry } from "../../src/log/entry.js";
import { SessionLog } from "../../src/log/session-log.js";
import { isLocked } from "../../src/util/file-lock.js";
import { anyText } from "../helpers/any-text.js";
import { closing, fileWith, HEADER, pathOf, tempDir, textOf, userMessage } from "./support.js";

const COMPACTION = { type: "compaction", timestamp: "t", summary: "s", firstKeptEntryIndex: 1, tokensBefore: 9 };

test("the first append creates the file of a new session, readable only by the user", async () => {
	const dir = join(tempDir(), "sessions", "--x--");
	const log = closing(SessionLog.create({ dir, cwd: "/x" }));
	expect(existsSync(dir)).toBe(false);
	expect(log.length).toBe(1);
	expect(log.append(userMessage("hi"))).toBe(1);
	expect(textOf(log)).toBe(`${JSON.stringify(log.header)}\n${JSON.stringify(userMessage("hi"))}\n`);
	expect(pathOf(log)).toMatch(/\/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z_[0-9a-f-]{36}\.jsonl$/);
	expect(pathOf(log)).toContain(log.id);
	expect([statSync(pathOf(log)).mode & 0o777, statSync(dir).mode & 0o777]).toEqual([0o600, 0o700]);
	await log.flush();
});

test("a session without entries leaves no file", async () => {
	const dir = tempDir();
	const log = SessionLog.create({ dir, cwd: "/x" });
	await log.flush();
	log.close();
	expect(readdirSync(dir)).toEqual([]);
});

test("append adds the time to entries without one and keeps an existing one", () => {
	const log = SessionLog.inMemory("/x");
	log.appendAll([{ type: "a" }, { type: "a", timestamp: 7 }, { type: "a", timestamp: undefined }]);
	expect(log.entries.slice(1)).toEqual([
		{ type: "a", timestamp: expect.stringMatching(/^\d{4}-.*Z$/) },
		{ type: "a", timestamp: 7 },
		{ type: "a", timestamp: expect.stringMatching(/^\d{4}-.*Z$/) },
	]);
});

test("a reopened log and a log in memory return the same entries that were appended", () => {
	const json = fc.object({
		maxDepth: 3,
		values: [anyText(), fc.integer(), fc.boolean(), fc.constant(null)],
	});
	const entry: fc.Arbitrary<SessionEntry> = fc.oneof(
		fc
			.tuple(fc.stringMatching(/^[a-z_ü"]{1,12}$/), json)
			.map(([type, rest]) => ({ ...rest, timestamp: "t", type: `x${type}` })),
		anyText().map(userMessage),
		fc.constant(COMPACTION),
	);
	fc.assert(
		fc.property(fc.array(fc.array(entry, { maxLength: 3 }), { maxLength: 6 }), (batches) => {
			const log = SessionLog.create({ dir: tempDir(), cwd: "/x" });
			const twin = SessionLog.inMemory("/x");
			for (const batch of batches) expect(log.appendAll(batch)).toEqual(twin.appendAll(batch));
			log.close();
			if (log.length > 1) {
				const again = SessionLog.open(pathOf(log), { readOnly: true });
				expect(again.entries).toEqual(log.entries);
				expect(again.entries.slice(1)).toEqual(twin.entries.slice(1));
				again.close();
			}
		}),
		{ numRuns: 60 },
	);
});

test("entries are deeply frozen and the list is the same array until the next append", () => {
	const log = SessionLog.inMemory("/x");
	log.append(userMessage("a"));
	const before = log.entries;
	expect(log.entries).toBe(before);
	expect(Object.isFrozen(before)).toBe(true);
	log.append(userMessage("b"));
	expect(before.length).toBe(2);
	expect(log.entries.length).toBe(3);
	expect(log.entries[1]).toBe(before[1]);
	const entry = log.entry(1);
	expect(() => Object.assign(entry?.type === "message" ? Object(entry.message) : {}, { content: "" })).toThrow(
		TypeError,
	);
});

test("an entry that cannot be saved is refused and gets no index", () => {
	const log = closing(SessionLog.create({ dir: tempDir(), cwd: "/x" }));
	log.append(userMessage("a"));
	const text = textOf(log);
	for (const entry of [
		{ type: "x", n: 1n },
		{ type: "opaque", reason: "" },
		{ type: "compaction" },
		{ ...log.header },
	]) {
		expect(() => log.appendAll([userMessage("fine"), entry])).toThrow(PiError);
	}
	expect([log.length, textOf(log)]).toEqual([2, text]);
});

test("single entries, ranges and the last entry of a type can be read separately", () => {
	const path = fileWith(`${HEADER}{"type":"a","n":1}\n \r\n{"n":2,"type":"a"}\n{"type":"b"}\ngarbage\n{"type":"a"\n`);
	const log = closing(SessionLog.open(path));
	expect(log.length).toBe(6);
	expect(log.entry(2)).toEqual({ n: 2, type: "a" });
	expect(log.slice(1, 3)).toEqual([
		{ type: "a", n: 1 },
		{ n: 2, type: "a" },
	]);
	expect(log.slice(4).map(({ type }) => type)).toEqual(["opaque", "opaque"]);
	expect([log.entry(-1), log.entry(6), log.entry(0.5)]).toEqual([undefined, undefined, undefined]);
	expect([
		log.findLast("a"),
		log.findLast("a", 2),
		log.findLast("b"),
		log.findLast("z"),
		log.findLast("session"),
	]).toEqual([2, 1, 3, -1, 0]);
	log.append({ type: "b" });
	expect(log.findLast("b")).toBe(6);
});

test("opening changes nothing; damaged lines keep their index, blank lines have none, only LF ends a line", () => {
	const bytes = Buffer.concat([
		Buffer.from(`${HEADER}null\n\n[1]\n12\n  \t\r\n{"type":"a","s":"\u2028\u2029\u0085"}\r\n`),
		Buffer.from([0, 0, 0, 10]),
		Buffer.from([0x7b, 0xff, 0xfe, 10]),
	]);
	const path = fileWith(bytes);
	const log = SessionLog.open(path);
	expect(log.entries.slice(1).map(({ type }) => type)).toEqual(["opaque", "opaque", "opaque", "a", "opaque", "opaque"]);
	log.close();
	expect(readFileSync(path).equals(bytes)).toBe(true);
	expect(readdirSync(dirname(path)).length).toBe(1);
});

test("a session truncated at any byte opens unchanged with correct indices, and none of its bytes are lost", () => {
	const lines = [
		HEADER,
		`${JSON.stringify(userMessage("größe"))}\n`,
		"\n",
		'{"type":"x","v":[1,2]}\n',
		'{"type":"y"}\n',
	];
	const intact = Buffer.from(lines.join(""));
	const complete = Buffer.byteLength(HEADER) - 1;
	for (let size = 1; size <= intact.length; size++) {
		const part = intact.subarray(0, size);
		const path = fileWith(part);
		const log = SessionLog.open(path);
		const before = [...log.entries];
		expect(readFileSync(path).equals(part)).toBe(true);
		const index = log.append({ type: "after", timestamp: "t" });
		expect(index).toBe(before.length);
		log.close();
		const aside = readdirSync(dirname(path)).filter((name) => name.includes(".replaced-"));
		expect(aside.length).toBe(size < complete ? 1 : 0);
		const kept = readFileSync(aside[0] === undefined ? path : join(dirname(path), aside[0]));
		expect(kept.subarray(0, size).equals(part)).toBe(true);
		const again = SessionLog.open(path);
		expect(again.entries).toEqual([...before, { type: "after", timestamp: "t" }]);
		again.close();
	}
});

test("a last line without line end is kept", () => {
	const path = fileWith(`${HEADER}{"type":"a"}`);
	const log = closing(SessionLog.open(path));
	expect(log.entry(1)).toEqual({ type: "a" });
	log.append({ type: "b", timestamp: 1 });
	expect(readFileSync(path, "utf8")).toBe(`${HEADER}{"type":"a"}\n{"type":"b","timestamp":1}\n`);
	expect(log.entries.map(({ type }) => type)).toEqual(["session", "a", "b"]);
});

test.each([
	["prose", "# My notes\n\nhello\n"],
	["another program's JSON", '{"type":"event","id":1}\n'],
	["a blank first line", `\n${HEADER}`],
	["a later format", '{"type":"session","version":3,"id":"a","cwd":"/"}\n'],
	["binary data", Buffer.from([0, 1, 2, 255, 10, 0])],
	["a very long line", "x".repeat(3_000_000)],
])("a file with %s is refused and unchanged", (_, contents) => {
	const path = fileWith(contents, "notes.txt");
	expect(() => SessionLog.open(path)).toThrow(expect.objectContaining({ code: "log_not_a_session" }));
	expect(readFileSync(path).equals(Buffer.from(contents))).toBe(true);
	expect(readdirSync(dirname(path))).toEqual(["notes.txt"]);
});

test("a directory, a device and a missing file are refused by name", () => {
	const dir = tempDir();
	expect(() => SessionLog.open(dir)).toThrow("it is a directory");
	expect(() => SessionLog.open(dir, { readOnly: true })).toThrow("it is a directory");
	expect(() => SessionLog.open("/dev/null")).toThrow("it is a device");
	expect(() => SessionLog.open(join(dir, "none.jsonl"))).toThrow(expect.objectContaining({ code: "log_not_found" }));
});

test("an empty file becomes a session with the first entry", () => {
	const path = fileWith("", "mine.jsonl");
	const log = closing(SessionLog.open(path, { cwd: "/here" }));
	expect([log.length, log.header.cwd, readFileSync(path, "utf8")]).toEqual([1, "/here", ""]);
	expect(log.append({ type: "a", timestamp: 1 })).toBe(1);
	expect(readFileSync(path, "utf8")).toBe(`${JSON.stringify(log.header)}\n{"type":"a","timestamp":1}\n`);
});

test("a log opened read-only takes no lock, writes nothing and can be branched", () => {
	const path = fileWith(`${HEADER}{"type":"a"}\n`);
	const writer = closing(SessionLog.open(path));
	const reader = closing(SessionLog.open(path, { readOnly: true }));
	expect(() => reader.append({ type: "b" })).toThrow(expect.objectContaining({ code: "log_read_only" }));
	writer.append({ type: "b" });
	expect([reader.length, reader.isReadOnly]).toEqual([2, true]);
	expect(closing(reader.branchTo("all", { dir: dirname(path) })).entries.slice(1)).toEqual([{ type: "a" }]);
});

test("a closed log has no lock, keeps parsed entries and refuses to append", () => {
	const log = SessionLog.open(fileWith(`${HEADER}{"type":"a"}\n{"type":"b"}\n`));
	expect(isLocked(pathOf(log))).toBe(true);
	log.entry(1);
	log.close();
	log.close();
	expect(isLocked(pathOf(log))).toBe(false);
	expect(log.entry(1)).toEqual({ type: "a" });
	expect(log.entry(2)).toMatchObject({ type: "opaque" });
	expect(() => log.append({ type: "c" })).toThrow(expect.objectContaining({ code: "log_write_failed" }));
});

test("two paths of one file share its lock", () => {
	const path = fileWith(HEADER);
	symlinkSync(path, join(dirname(path), "link.jsonl"));
	closing(SessionLog.open(path));
	expect(() => SessionLog.open(join(dirname(path), "link.jsonl"))).toThrow(
		expect.objectContaining({ code: "log_locked" }),
	);
});

test("a branch has its own header and the bytes of the earlier entries under the same indices", () => {
	const body = ['{ "type":"a" }\r\n', "damaged \u0000 line\n", "\n", '{"type":"b"}\n', '{"type":"c"}'];
	const path = fileWith(HEADER + body.join(""));
	const source = closing(SessionLog.open(path));
	source.entries;
	const dir = join(dirname(path), "branches");
	const branch = closing(source.branchTo(4, { dir }));
	const headerLine = `${JSON.stringify(branch.header)}\n`;
	expect(textOf(branch)).toBe(headerLine + body.slice(0, 4).join(""));
	expect(branch.header).toEqual({ ...source.header, id: branch.id, timestamp: expect.any(String), branchedFrom: path });
	expect(branch.id).not.toBe(source.id);
	expect(branch.entries.slice(1)).toEqual(source.entries.slice(1, 4));
	expect(branch.append({ type: "d", timestamp: 1 })).toBe(4);

	const all = closing(source.branchTo("all", { dir }));
	expect(textOf(all)).toBe(`${JSON.stringify(all.header)}\n${body.join("")}\n`);
	expect(all.append({ type: "d", timestamp: 1 })).toBe(5);
	expect(closing(SessionLog.open(path, { readOnly: true })).length).toBe(5);
	for (const index of [0, -1, 1.5, 6]) {
		expect(() => source.branchTo(index, { dir })).toThrow(expect.objectContaining({ code: "bad_arguments" }));
	}
	expect(readdirSync(dir).filter((name) => name.endsWith(".tmp"))).toEqual([]);
});

test("a branch of a session in memory is in memory", () => {
	const log = SessionLog.inMemory("/x");
	log.appendAll([{ type: "a" }, { type: "b" }]);
	const branch = log.branchTo(2, { dir: "/nowhere" });
	expect([branch.path, branch.length, branch.append({ type: "c" }), log.length]).toEqual([null, 2, 2, 3]);
});

test("a branch that cannot be written fails and leaves no file", () => {
	const path = fileWith(`${HEADER}{"type":"a"}\n`);
	const log = closing(SessionLog.open(path));
	const dir = join(dirname(path), "taken");
	writeFileSync(dir, "");
	expect(() => log.branchTo("all", { dir })).toThrow(expect.objectContaining({ code: "log_write_failed" }));
	mkdirSync(join(dirname(path), "ok"));
	expect(closing(log.branchTo("all", { dir: join(dirname(path), "ok") })).length).toBe(2);
});

test("lines longer than a chunk and types across chunk boundaries are found", () => {
	const long = (n: number) => `{"type":"long${n}","text":"${"x".repeat(1024 * 1024 - 40 + n)}"}\n`;
	const lines = Array.from({ length: 12 }, (_, n) => `${" ".repeat(n % 3)}${long(n)}`);
	const log = closing(SessionLog.open(fileWith(HEADER + lines.join(""))));
	expect(log.length).toBe(13);
	for (let n = 0; n < 12; n++) expect(log.findLast(`long${n}`)).toBe(n + 1);
	expect(log.entries.map(({ type }) => type)).toEqual(["session", ...Array.from({ length: 12 }, (_, n) => `long${n}`)]);
});

describe("a file that holds only a part of a header", () => {
	test.each([
		["its first characters", HEADER.slice(0, 5)],
		["all but the last characters", HEADER.slice(0, -3)],
		["a part with a line end", `${HEADER.slice(0, 40)}\n`],
	])("is an empty session: %s", async (_, torn) => {
		const path = fileWith(torn);
		const errors: string[] = [];
		const log = closing(
			SessionLog.open(path, { cwd: "/work", onWriteError: (error) => errors.push(describeError(error)) }),
		);
		expect([log.length, log.header.cwd]).toEqual([1, "/work"]);
		expect(() => SessionLog.open(path)).toThrow(expect.objectContaining({ code: "log_locked" }));
		expect(readFileSync(path, "utf8")).toBe(torn);

		expect(log.append(userMessage("hi"))).toBe(1);
		await log.flush();
		expect(textOf(log).split("\n").filter(Boolean).map(decodeLine)).toEqual(log.entries);
		const [aside = ""] = readdirSync(dirname(path)).filter((name) => name.includes(".replaced-"));
		expect(readFileSync(join(dirname(path), aside), "utf8")).toBe(torn);
		expect(errors).toEqual([
			`The file ${path} held no complete session, so pi began a new one · its content is kept as ${join(dirname(path), aside)}`,
		]);
	});

	test.each([
		"{",
		'{"type":"sess',
		'{"type":"session_info","na',
		'["type"',
		"session",
		'{"type":"session",\n{"type":"x"}\n',
	])("is not every broken file: %j", (content) => {
		const path = fileWith(content);
		const open = () => SessionLog.open(path, { readOnly: true }).length;
		if (HEADER.startsWith(content)) expect(open()).toBe(1);
		else expect(open).toThrow(expect.objectContaining({ code: "log_not_a_session" }));
		expect(readFileSync(path, "utf8")).toBe(content);
	});
});

test("a session at a new path is created by its first append", () => {
	const path = join(tempDir(), "mine.jsonl");
	const log = closing(SessionLog.createAt(path, { cwd: "/work" }));
	expect([log.path, existsSync(path)]).toEqual([path, false]);
	log.append(userMessage("hi"));
	expect(textOf(log).split("\n").filter(Boolean).map(decodeLine)).toEqual(log.entries);
});
