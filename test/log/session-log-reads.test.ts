import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { PiError } from "../../src/errors.js";
import { encodeEntry } from "../../src/log/codec.js";
import { rawTextPattern } from "../../src/log/line-patterns.js";
import { SessionLog } from "../../src/log/session-log.js";
import { assistant, result, session, user } from "../helpers/entries.js";
import { closing, fileWith, HEADER, pathOf, tempDir, userMessage } from "./support.js";

/** 0 header, 1 user, 2 assistant, 3 result, 4 and 5 notes, 6 a damaged line, 7 user. */
const LINES = [
	user("first"),
	assistant("reply", [{ id: "c1" }]),
	result("c1"),
	{ type: "note", n: 1 },
	{ type: "note", n: 2 },
	"damaged {",
	user("last"),
];
const TEXT = HEADER + LINES.map((line) => (typeof line === "string" ? `${line}\n` : encodeEntry(line))).join("");

/** The same session in a file that is not parsed yet, in a file that is, and in memory (without the damaged line). */
function logs(): [file: SessionLog, parsed: SessionLog, memory: SessionLog] {
	const [file, parsed] = [fileWith(TEXT), fileWith(TEXT)].map((path) => closing(SessionLog.open(path)));
	const memory = SessionLog.inMemory("/work");
	for (const line of LINES) memory.append(typeof line === "string" ? { type: "odd" } : line);
	if (!file || !parsed) throw new Error("two logs were opened");
	parsed.entries;
	return [file, parsed, memory];
}

test("types and roles are the same whether lines are parsed, unparsed or in memory", () => {
	for (const [at, log] of logs().entries()) {
		const damaged = at === 2 ? "odd" : "opaque";
		const indices = Array.from({ length: log.length }, (_, index) => index);
		const types = ["session", "message", "message", "message", "note", "note", damaged, "message"];
		expect(indices.map((index) => log.typeOf(index))).toEqual(types);
		expect(indices.map((index) => log.roleOf(index))).toEqual([
			...[undefined, "user", "assistant", "toolResult", undefined, undefined, undefined],
			"user",
		]);
		expect([log.typeOf(8), log.roleOf(8), log.typeOf(-1), log.roleOf(-1)]).toEqual(Array(4).fill(undefined));
		expect(Object.fromEntries(log.countTypes())).toEqual({ session: 1, message: 4, note: 2, [damaged]: 1 });
	}
});

test("a message whose role is not in the head of its line is found by reading it", () => {
	const late = '{"type":"message","timestamp":"t","message":{"content":"x","timestamp":1,"role":"user"}}\n';
	const log = closing(SessionLog.open(fileWith(HEADER + late)));
	expect([log.roleOf(1), log.findLastMessage("user"), log.findLastMessage("assistant")]).toEqual(["user", 1, -1]);
});

test("the last message of a role is found in a range", () => {
	for (const log of logs()) {
		expect([log.findLastMessage("user"), log.findLastMessage("user", 7), log.findLastMessage("user", 99)]).toEqual([
			7, 1, 7,
		]);
		expect([log.findLastMessage("user", 7, 1), log.findLastMessage("user", 7, 2)]).toEqual([1, -1]);
		expect(log.findLastMessage(["assistant", "toolResult"])).toBe(3);
		expect(log.findLastMessage(["assistant", "toolResult"], 3)).toBe(2);
		expect(log.findLastMessage("bashExecution")).toBe(-1);
	}
});

test("the last entry of one of several types is found before an index", () => {
	for (const log of logs()) {
		expect([log.findLast(["note", "session"]), log.findLast(["note", "session"], 4), log.findLast([])]).toEqual([
			5, 0, -1,
		]);
		expect([log.findLast("note", 5), log.findLast("note", 99), log.findLast("not")]).toEqual([4, 5, -1]);
	}
});

test("a log in a file knows which types no entry has", () => {
	const log = closing(SessionLog.open(fileWith(HEADER + encodeEntry({ type: "note" }))));
	const has = (...types: string[]) => log.mayContain(types);
	expect([has("note"), has("other", "session"), has("other"), has()]).toEqual([true, true, false, false]);
	log.append({ type: "other" });
	expect(has("other")).toBe(true);
	expect(SessionLog.inMemory("/work").mayContain(["other"])).toBe(true);
});

test("an entry can be read without keeping it, and one that was read is the same object", () => {
	const [file, parsed, memory] = logs();
	for (const log of [file, parsed, memory]) {
		expect(log.peek(4)).toMatchObject({ type: "note", n: 1 });
		expect(log.peek(0)).toMatchObject({ type: "session" });
		expect(log.peek(8)).toBeUndefined();
	}
	expect(file.peek(4)).not.toBe(file.peek(4));
	expect(parsed.peek(4)).toBe(parsed.entry(4));
	expect(memory.peek(4)).toBe(memory.entry(4));
	expect(file.peek(6)).toMatchObject({ type: "opaque" });
	const known = file.entry(5);
	expect(file.peek(5)).toBe(known);
});

test("lines that can no longer be read are opaque, with the reason", () => {
	const log = closing(SessionLog.open(fileWith(TEXT)));
	expect(log.entry(1)).toMatchObject({ type: "message" });
	truncateSync(pathOf(log), HEADER.length + 10);
	const reason = "the line could not be read: the file ends too early";
	expect(log.peek(4)).toMatchObject({ type: "opaque", reason });
	expect(log.slice(0, 4).map((entry) => ("reason" in entry ? entry.reason : entry.type))).toEqual([
		"session",
		"message",
		reason,
		reason,
	]);
	const lost = closing(SessionLog.open(fileWith(TEXT)));
	truncateSync(pathOf(lost), 5);
	expect(() => lost.header).toThrow(
		expect.objectContaining({
			code: "log_not_a_session",
			message: `The header of ${pathOf(lost)} can no longer be read`,
		}),
	);
});

test("lines that match a text are found in a range", () => {
	for (const [at, log] of logs().entries()) {
		const matching = (text: string, from = 0, to = log.length) => log.matching(rawTextPattern(text), from, to);
		expect(matching('"type":"note"'.slice(1, 5))).toHaveLength(8 - (at === 2 ? 0 : 1));
		expect([matching("first"), matching("last"), matching("absent")]).toEqual([[1], [7], []]);
		expect([matching("note"), matching("note", 5), matching("note", 0, 5)]).toEqual([[4, 5], [5], [4]]);
	}
});

test("ranges beyond the ends of a session are cut", () => {
	for (const log of logs()) {
		expect(log.slice(-2, 1).map(({ type }) => type)).toEqual(["session"]);
		expect(log.slice(7, 99).map(({ type }) => type)).toEqual(["message"]);
		expect([log.slice(99), log.slice(3, 2), log.slice(2, -1)]).toEqual([[], [], []]);
	}
});

test("a list of entries gets consecutive indices, an empty one none", async () => {
	const log = closing(SessionLog.create({ dir: join(tempDir(), "new"), cwd: "/work" }));
	expect([log.appendAll([]), existsSync(pathOf(log))]).toEqual([[], false]);
	await log.flush(); // nothing was appended
	expect(existsSync(pathOf(log))).toBe(false);
	expect([log.appendAll([{ type: "a" }, { type: "b" }]), log.appendAll([{ type: "c" }])]).toEqual([[1, 2], [3]]);
	expect(log.header).not.toHaveProperty("branchedFrom");
	const memory = SessionLog.inMemory("/work");
	expect([memory.appendAll([{ type: "a" }, { type: "b" }]), memory.isReadOnly, memory.path]).toEqual([
		[1, 2],
		false,
		null,
	]);
	await memory.flush();
	memory.close();
	expect(() => memory.append({ type: "a" })).toThrow("The session null is closed");
});

test("refusals name the session and the next step", () => {
	const path = fileWith(TEXT);
	const log = closing(SessionLog.open(path));
	const header = { ...log.header };
	expect(() => log.append(header)).toThrow(
		expect.objectContaining({
			code: "entry_refused",
			message: "Cannot save an entry of type session: a session has only one header",
		}),
	);
	expect(() => log.branchTo(9, { dir: tempDir() })).toThrow("Cannot branch at entry 9: the session has entries 0 to 7");
	expect(log.branchTo(1, { dir: tempDir(), cwd: "/other" }).header).toMatchObject({
		cwd: "/other",
		branchedFrom: path,
	});
	const taken = join(dirname(path), "taken");
	writeFileSync(taken, "");
	expect(() => log.branchTo("all", { dir: taken })).toThrow(
		expect.objectContaining({
			message: expect.stringContaining(`Cannot write the branch ${taken}`),
			cause: expect.any(Error),
		}),
	);
	const reader = closing(SessionLog.open(path, { readOnly: true }));
	expect(() => reader.append(userMessage("x"))).toThrow(
		expect.objectContaining({ message: "This session is read-only", hint: "/resume can continue it" }),
	);
	log.close();
	expect(() => log.append(userMessage("x"))).toThrow(`The session ${path} is closed`);
	expect(readFileSync(path, "utf8")).toBe(TEXT);
});

test.each([
	["{}\n", "choose a session file, or start a new session"],
	[
		HEADER.replace('"version":1', '"version":3'),
		"`pi sessions import <file>` makes a session of a file in the tree format",
	],
])("a file that is no session is refused with the next step: %j", (content, hint) => {
	const path = fileWith(content);
	expect(() => SessionLog.open(path)).toThrow(
		expect.objectContaining({
			code: "log_not_a_session",
			hint,
			message: expect.stringMatching(/ is not a session: \S/),
		}),
	);
});

test("entries lost with a truncated file keep their indices and say so", () => {
	const errors: PiError[] = [];
	const log = closing(SessionLog.open(fileWith(TEXT), { onWriteError: (error) => errors.push(error) }));
	log.entry(2);
	truncateSync(pathOf(log), HEADER.length);
	log.append({ type: "new" });
	const replaced = readdirSync(dirname(pathOf(log))).find((name) => name.includes(".replaced-")) ?? "none";
	expect(errors[0]?.hint).toMatch(
		/^pi wrote it to this path again without 6 entries that it had not read · the file as it was: /,
	);
	expect(errors[0]?.hint).toContain(replaced);
	const reopened = closing(SessionLog.open(pathOf(log), { readOnly: true }));
	expect(reopened.entries.map(({ type }) => type)).toEqual([
		...["session", "opaque", "message", "opaque", "opaque", "opaque", "opaque", "opaque"],
		"new",
	]);
	expect(readFileSync(pathOf(log), "utf8")).toContain("the line was lost when the file was truncated");
});

test("lines in memory and in files are equal after a round trip", () => {
	const entries = session(user("a"), assistant("b"));
	const log = closing(SessionLog.create({ dir: tempDir(), cwd: "/project" }));
	log.appendAll(entries.slice(1));
	expect(closing(SessionLog.open(pathOf(log), { readOnly: true })).slice(1)).toEqual(entries.slice(1));
	rmSync(pathOf(log));
});
