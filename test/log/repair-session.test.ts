import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { buildContext, plainMessages } from "../../src/context/build-context.js";
import { convertToLlm, repairMessages } from "../../src/context/convert.js";
import type { PiError } from "../../src/errors.js";
import { checkSession } from "../../src/log/check-session.js";
import { decodeLine, encodeEntry } from "../../src/log/codec.js";
import type { SessionEntry } from "../../src/log/entry.js";
import { repairSession } from "../../src/log/repair-session.js";
import { SessionLog } from "../../src/log/session-log.js";
import { isLocked } from "../../src/util/file-lock.js";
import { assistant, compaction, result, user } from "../helpers/entries.js";
import { closing, fileWith, HEADER, startProcess, tempDir } from "./support.js";

const NAME = "2026-01-02T03-04-05-000Z_0b8e3f1c.jsonl";

function lines(...items: (SessionEntry | string)[]): string {
	return items.map((item) => (typeof item === "string" ? `${item}\n` : encodeEntry(item))).join("");
}

function entriesOf(path: string): SessionEntry[] {
	return readFileSync(path, "utf8").split("\n").filter(Boolean).map(decodeLine);
}

test("calls without a result get an error result at the end, and the old bytes are kept", () => {
	const old =
		HEADER + lines(user("a"), assistant("", [{ id: "c1", name: "bash" }, { id: "c2" }]), result("c2"), user("b"));
	const path = fileWith(old);
	chmodSync(path, 0o640);
	const repair = repairSession(path, "/work");
	expect(repair).toMatchObject({ path, backup: `${path}.bak`, kept: [] });
	expect(repair.fixed.map(({ kind, callId }) => [kind, callId])).toEqual([["unanswered_call", "c1"]]);
	expect(readFileSync(`${path}.bak`, "utf8")).toBe(old);
	const text = readFileSync(path, "utf8");
	expect(text.startsWith(old)).toBe(true);
	expect(entriesOf(path).at(-1)).toMatchObject({
		type: "message",
		message: { role: "toolResult", toolCallId: "c1", toolName: "bash", isError: true },
	});
	expect(checkSession(path).issues).toEqual([]);
	for (const file of [path, `${path}.bak`]) expect(statSync(file).mode & 0o777).toBe(0o600);
	expect(readdirSync(dirname(path)).sort()).toEqual([basename(path), `${basename(path)}.bak`]);
});

test("a backup never replaces another, and a healthy session is not touched", () => {
	const path = fileWith(HEADER + lines(user("a"), assistant("", [{ id: "c1" }])));
	writeFileSync(`${path}.bak`, "mine");
	expect(repairSession(path, "/").backup).toBe(`${path}.bak-2`);
	expect(readFileSync(`${path}.bak`, "utf8")).toBe("mine");
	const before = statSync(path).mtimeMs;
	expect(repairSession(path, "/")).toEqual({ path, backup: null, fixed: [], kept: [] });
	expect(statSync(path).mtimeMs).toBe(before);
});

test("damaged lines, second headers and bad indices stay where they are", () => {
	const body = lines(user("a"), "garbage {", HEADER.trim(), compaction(40, "s"), assistant("", [{ id: "c1" }]));
	const path = fileWith(`${HEADER}${body}{"type":"mess`);
	const { fixed, kept } = repairSession(path, "/");
	expect(fixed.map(({ kind }) => kind)).toEqual(["unanswered_call"]);
	expect(kept.map(({ kind, line }) => [kind, line])).toEqual([
		["damaged_line", 3],
		["second_header", 4],
		["bad_index", 5],
		["damaged_line", 7],
	]);
	const text = readFileSync(path, "utf8");
	expect(text.startsWith(`${HEADER}${body}{"type":"mess\n{"type":"message"`)).toBe(true);
});

test("an orphan call before a compaction is answered too, and the context remains valid", async () => {
	const path = fileWith(
		HEADER + lines(user("a"), assistant("", [{ id: "c1" }]), user("b"), compaction(3, "s"), user("c")),
	);
	repairSession(path, "/");
	expect(checkSession(path).issues).toEqual([]);
	const context = await buildContext(entriesOf(path), []);
	expect(context.problems).toEqual([]);
	const request = repairMessages(convertToLlm(plainMessages(context)));
	expect(request.map(({ role }) => role)).toEqual(["user", "user", "user"]); // the summary, b and c
});

test.each([
	["lost", ""],
	["half written", `${HEADER.slice(0, 45)}\n`],
	["overwritten with zeros", `${"\0".repeat(80)}\n`],
])("a header that is %s is made from the file name, and entries keep their indices", (_, first) => {
	const path = fileWith(first + lines(user("a"), compaction(1, "s"), user("b")), NAME);
	const { fixed, kept } = repairSession(path, "/home/me/project");
	expect(fixed.map(({ kind, line }) => [kind, line])).toEqual([["no_header", 1]]);
	expect(kept).toEqual([]);
	expect(readFileSync(`${path}.bak`, "utf8").startsWith(first)).toBe(true);
	const log = closing(SessionLog.open(path));
	expect(log.header).toEqual({
		type: "session",
		version: 1,
		id: first.includes('"id":"s1"') ? "s1" : "0b8e3f1c",
		timestamp: "2026-01-02T03:04:05.000Z",
		cwd: "/home/me/project",
	});
	expect(log.entries.map(({ type }) => type)).toEqual(["session", "message", "compaction", "message"]);
});

test("what can be read of a damaged header is kept", () => {
	const path = fileWith(`${HEADER.trim().slice(0, -1)},"x":\n${lines(user("a"))}`, NAME);
	repairSession(path, "/elsewhere");
	expect(entriesOf(path)[0]).toEqual(decodeLine(HEADER));
});

test.each([
	["blank lines", "\n \n"],
	["a byte order mark", "\ufeff"],
])("%s before the header are removed", (_, before) => {
	const path = fileWith(before + HEADER + lines(user("a")));
	expect(repairSession(path, "/").fixed).toHaveLength(1);
	expect(readFileSync(path, "utf8")).toBe(HEADER + lines(user("a")));
});

test("an interrupted write is completed before calls are answered", () => {
	const [call, answer] = [encodeEntry(assistant("", [{ id: "c1" }])), encodeEntry(result("c1"))];
	const start = HEADER + lines(user("a"));
	const path = fileWith(start + call.slice(0, 60));
	writeFileSync(
		`${path}.batch`,
		`${JSON.stringify({ offset: start.length, bytes: call.length + answer.length })}\n${call}${answer}`,
	);
	const { fixed, kept, backup } = repairSession(path, "/");
	expect(fixed.map(({ kind }) => kind)).toEqual(["unfinished_write"]);
	expect(kept).toEqual([]);
	expect(readFileSync(path, "utf8")).toBe(start + call + answer);
	expect(readFileSync(backup ?? "", "utf8")).toBe(start + call.slice(0, 60));
});

test("the file behind a link is repaired", () => {
	const path = fileWith(HEADER + lines(user("a"), assistant("", [{ id: "c1" }])));
	const link = join(tempDir(), "link.jsonl");
	symlinkSync(path, link);
	expect(repairSession(link, "/").backup).toBe(`${path}.bak`);
	expect(checkSession(path).issues).toEqual([]);
});

test("a full disk leaves the session as it was, without parts of files", async () => {
	const text = `${HEADER}${lines(user("x".repeat(9000)), assistant("", [{ id: "c1" }]))}`;
	const path = fileWith(text);
	const { nextLine } = startProcess(
		`
		const { repairSession } = await load("repair-session.ts");
		try { repairSession(${JSON.stringify(path)}, "/"); } catch (error) { console.log(error.code, error.message); }
		`,
		["bash", "-c", 'ulimit -S -f 8; exec "$@"', "limited"],
	);
	expect(await nextLine()).toBe(`log_write_failed Cannot repair ${path}`);
	expect(await nextLine()).toBeUndefined();
	expect(readFileSync(path, "utf8")).toBe(text);
	expect(readdirSync(dirname(path))).toEqual([basename(path)]);
});

test("files of another format, without messages or that are open in another pi are refused and unchanged", async () => {
	const tree = HEADER.replace('"version":1', '"version":3') + lines(user("a"));
	const other = fileWith(tree);
	expect(() => repairSession(other, "/")).toThrow(
		expect.objectContaining({ code: "log_not_a_session", hint: expect.stringContaining("pi sessions import") }),
	);
	const notes = fileWith('{"a":1}\n', "notes.jsonl");
	expect(() => repairSession(notes, "/")).toThrow("contains no message that can be read");
	expect(() => repairSession(join(tempDir(), "x.jsonl"), "/")).toThrow(
		expect.objectContaining({ code: "log_not_found" }),
	);
	const path = fileWith(HEADER + lines(user("a"), assistant("", [{ id: "c1" }])));
	const holder = startProcess(`
		const { SessionLog } = await load("session-log.ts");
		SessionLog.open(${JSON.stringify(path)});
		console.log("open");
		setInterval(() => {}, 1000);
	`);
	expect(await holder.nextLine()).toBe("open");
	expect(() => repairSession(path, "/")).toThrow(`is in use by process ${holder.child.pid}`);
	for (const file of [other, notes]) expect(readdirSync(dirname(file))).toEqual([basename(file)]);
	expect(readFileSync(other, "utf8")).toBe(tree);
	expect(readdirSync(dirname(path)).filter((name) => name.includes(".bak"))).toEqual([]);
});

test("the appended result says why the call has none", () => {
	const path = fileWith(HEADER + lines(user("a"), assistant("", [{ id: "c1" }])));
	const before = Date.now();
	repairSession(path, "/");
	const [last] = entriesOf(path).slice(-1);
	expect(last).toEqual({
		type: "message",
		timestamp: expect.stringMatching(/^\d{4}-/),
		message: {
			...{ role: "toolResult", toolCallId: "c1", toolName: "read", isError: true },
			content: [{ type: "text", text: "pi stopped before this call ended, so its result is unknown." }],
			timestamp: expect.any(Number),
		},
	});
	expect(Date.parse(String(last && "timestamp" in last ? last.timestamp : ""))).toBeGreaterThanOrEqual(before - 1000);
});

test("a session is locked during a repair and unlocked after it, also after a failure", () => {
	const path = fileWith(HEADER + lines(user("a"), assistant("", [{ id: "c1" }])));
	repairSession(path, "/");
	const notes = fileWith("text\n");
	expect(() => repairSession(notes, "/")).toThrow();
	for (const file of [path, notes]) expect(isLocked(file)).toBe(false);
});

test.each<[string, string, Partial<PiError>]>([
	["without messages", `${HEADER.slice(0, 30)}\n`, { code: "log_not_a_session", hint: "there is nothing to repair" }],
	[
		"of another format",
		HEADER.replace('"version":1', '"version":3'),
		{ code: "log_not_a_session", message: expect.stringMatching(/ is not a session of this pi: no header: \S/) },
	],
])("a file %s is refused with the reason", (_, content, error) => {
	expect(() => repairSession(fileWith(content), "/")).toThrow(expect.objectContaining(error));
});

test("a directory is refused by its kind", () => {
	const dir = tempDir();
	expect(() => repairSession(dir, "/")).toThrow(
		expect.objectContaining({ code: "file_unreadable", message: `Cannot read the session ${dir}: it is a directory` }),
	);
	expect(isLocked(dir)).toBe(false);
});

test("a session without a header but with another entry gets one before it", () => {
	const body = lines({ type: "session_info", timestamp: "t", name: "n" }, user("a"));
	const path = fileWith(`\n${body.trimEnd()}`, NAME);
	repairSession(path, "/work");
	const text = readFileSync(path, "utf8");
	expect(text.slice(text.indexOf("\n") + 1)).toBe(body);
	expect(entriesOf(path)[0]).toMatchObject({ id: "0b8e3f1c", cwd: "/work" });
});

test.each([
	["an entry with such fields", '{"type":"x","id":"wrong","cwd":"/wrong"', "0b8e3f1c", "/work"],
	[
		"spaces in it",
		'{ "version" : 1 , "type" : "session" , "id" : "spaced" , "cwd" : "/a \\"b\\"" , ',
		"spaced",
		'/a "b"',
	],
	["an empty id", '{"type":"session","id":"","cwd":"/kept",', "0b8e3f1c", "/kept"],
	["an id that is no text", '{"type":"session","id":7,"cwd":"/kept",', "0b8e3f1c", "/kept"],
	["a field within another", '{"a":{"type":"session"},"id":"inner",', "0b8e3f1c", "/work"],
	["garbage before it", '\0\0{"type":"session","id":"after",', "after", "/work"],
	["text before it", 'text{"type":"session","id":"no",', "0b8e3f1c", "/work"],
])("a damaged header with %s", (_, first, id, cwd) => {
	const path = fileWith(`${first}\n${lines(user("a"))}`, NAME);
	repairSession(path, "/work");
	expect(entriesOf(path)).toEqual([
		{ type: "session", version: 1, id, timestamp: "2026-01-02T03:04:05.000Z", cwd },
		user("a"),
	]);
});

test("a header that cannot be read in a file without a time in its name begins now", () => {
	const path = fileWith(`garbage\n${lines(user("a"))}`, "mine.jsonl");
	repairSession(path, "/work");
	const [header] = entriesOf(path);
	expect(header).toMatchObject({ type: "session", id: expect.stringMatching(/./), cwd: "/work" });
	expect(Date.parse(String(header && "timestamp" in header ? header.timestamp : ""))).toBeGreaterThan(
		Date.parse("2026-01-03"),
	);
});

test("a large session is copied unchanged", () => {
	const body = lines(user("x".repeat(1_500_000)), user("y".repeat(1_500_000)), assistant("", [{ id: "c1" }]));
	const path = fileWith(HEADER + body);
	repairSession(path, "/");
	expect(readFileSync(path, "utf8").startsWith(HEADER + body)).toBe(true);
	const exact = HEADER + lines(assistant("", [{ id: "c1" }]));
	const even = fileWith(exact + lines(user("x".repeat(1024 * 1024 - exact.length - lines(user("")).length))));
	expect(statSync(even).size).toBe(1024 * 1024);
	repairSession(even, "/");
	expect(entriesOf(even)).toHaveLength(4);
});
