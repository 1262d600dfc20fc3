import { readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { listSessions } from "../../src/log/catalog.js";
import { decodeLine, encodeEntry } from "../../src/log/codec.js";
import { earlierPrompts } from "../../src/log/earlier-prompts.js";
import { isMessageEntry, type SessionEntry } from "../../src/log/entry.js";
import {
	cutUserText,
	escapePattern,
	HEAD_BYTES,
	isBlank,
	isTornHeader,
	mayRecordUsage,
	parseLine,
	ROLES,
	rawTextPattern,
	roleAt,
	TypeTable,
} from "../../src/log/line-patterns.js";
import { searchSessions } from "../../src/log/search.js";
import { anyText } from "../helpers/any-text.js";
import { assistantMessage, compaction, custom, result, user } from "../helpers/entries.js";
import { HEADER, tempDir } from "./support.js";

const RUNS = { seed: 20260105, numRuns: 300 };
const timestamp = "2026-01-02T03:04:05.000Z";

const text = fc.oneof(anyText({ maxLength: 20 }), fc.constant('","message":{"role":"user","type":"x"'));
const bash = (command: string): SessionEntry => ({
	type: "message",
	timestamp,
	message: {
		role: "bashExecution",
		command,
		output: "",
		exitCode: 0,
		cancelled: false,
		truncated: false,
		timestamp: 0,
	},
});
/** Entries that pi writes. */
const own: fc.Arbitrary<SessionEntry> = fc.oneof(
	text.map(user),
	text.map((reply): SessionEntry => ({ type: "message", timestamp, message: assistantMessage(reply) })),
	text.map((output) => result("a", output)),
	text.map(bash),
	text.map((summary) => compaction(1, summary)),
	text.map((name) => ({ type: "session_info", timestamp, name })),
);
/** Other entries: from hooks, with other times, with additional fields. */
const foreign: fc.Arbitrary<SessionEntry> = fc.oneof(
	fc.tuple(text, fc.jsonValue()).map(([type, message]) => custom(type || "x", { message })),
	fc.tuple(own, text).map(([entry, time]) => ({ ...entry, timestamp: time })),
	fc.tuple(own, fc.jsonValue()).map(([entry, extra]) => ({ extra, ...entry })),
);

/** How another program may write the same JSON: keys in another order, spaces, everything but ASCII escaped. */
interface Form {
	reversed: boolean;
	space: string;
	lead: string;
	escaped: boolean;
}
const form: fc.Arbitrary<Form> = fc.record({
	reversed: fc.boolean(),
	space: fc.constantFrom("", " "),
	lead: fc.constantFrom("", " ", "\t"),
	escaped: fc.boolean(),
});

function write(entry: SessionEntry, { reversed, space, lead, escaped }: Form): string {
	const reorder = (value: unknown): unknown => {
		if (Array.isArray(value)) return value.map(reorder);
		if (typeof value !== "object" || value === null) return value;
		return Object.fromEntries(
			Object.entries(value)
				.reverse()
				.map(([key, item]) => [key, reorder(item)]),
		);
	};
	const plain: unknown = JSON.parse(encodeEntry(entry));
	const spaced = JSON.stringify(reversed ? reorder(plain) : plain, null, space).replace(/\n\s*/g, space);
	const ascii = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
	return `${lead}${escaped ? spaced.replace(/[^\0-\x7f]/g, ascii) : spaced}\n`;
}

/** The type and role that the patterns read from a line; empty if it must be decoded. */
function readHead(line: string): { type: string; role: string } {
	const bytes = Buffer.from(line);
	const table = new TypeTable();
	const numbers = [table.numberAt(bytes, 0, bytes.length - 1), table.numberAt(bytes, 0, bytes.length - 1)];
	expect(numbers[1]).toBe(numbers[0]);
	return {
		type: table.names[numbers[0] ?? 0] ?? "",
		role: ROLES[roleAt(bytes, 0, bytes.length - 1)] ?? "",
	};
}

const roleOf = (entry: SessionEntry) => (isMessageEntry(entry) ? entry.message.role : "");

test("the patterns read the same type and role as the codec from lines that pi writes", () => {
	fc.assert(
		fc.property(own, (entry) => {
			const line = encodeEntry(entry);
			expect(readHead(line)).toEqual({ type: decodeLine(line).type, role: roleOf(decodeLine(line)) });
		}),
		RUNS,
	);
});

test("the patterns read the same type and role as the codec, or none, from lines of hooks and other programs", () => {
	fc.assert(
		fc.property(fc.oneof(own, foreign), form, (entry, how) => {
			const line = write(entry, how);
			const decoded = decodeLine(line);
			const { type, role } = readHead(line);
			expect(["", decoded.type]).toContain(type);
			expect(["", roleOf(decoded)]).toContain(role);
		}),
		RUNS,
	);
});

test("a role nested in the place of the timestamp is not read as the role of the message", () => {
	const filler = '1","other":{"note":"456';
	const line = `{"type":"message","timestamp":"${filler}Z","message":{"role":"user","content":"x"}}}\n`;
	expect(filler).toHaveLength(23);
	expect(readHead(line)).toEqual({ type: "message", role: "" });
});

test("a text pattern matches every line that contains the text in any escaping and case", () => {
	fc.assert(
		fc.property(fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }), form, (wanted, how) => {
			const line = Buffer.from(write(custom("mark", { text: `a ${wanted} b` }), how)).toString("latin1");
			expect(rawTextPattern(wanted).test(line)).toBe(true);
		}),
		RUNS,
	);
	expect(rawTextPattern("ÄÖ").test("\\u00e4\\u00D6")).toBe(true);
	expect(rawTextPattern("a.c").test("abc")).toBe(false);
});

test("the start of the text is read from truncated user messages only", () => {
	const line = encodeEntry(user(`say "hi" ${"x".repeat(3000)}`));
	for (const how of [line, line.replaceAll('":', '": ')]) {
		expect(cutUserText(Buffer.from(how.slice(0, 200)))).toMatch(/^say "hi" x+$/);
	}
	const reply: SessionEntry = { type: "message", timestamp, message: assistantMessage('"role":"user","text":"x') };
	expect(cutUserText(Buffer.from(encodeEntry(reply).slice(0, -3)))).toBeUndefined();
});

describe("the type of a line", () => {
	const numberAt = (table: TypeTable, line: string, at = 0, end = Buffer.byteLength(line)) =>
		table.numberAt(Buffer.from(line), at, end);

	test("has the same number in every line, in the order in which types were seen", () => {
		const table = new TypeTable();
		const lines = ["a", "b", "a", "aa", "b"].map((type) => `{"type":"${type}","x":1}`);
		expect(lines.map((line) => numberAt(table, line))).toEqual([1, 2, 1, 3, 2]);
		expect(table.names).toEqual(["", "a", "b", "aa"]);
		expect([table.numberOf("aa"), table.numberOf("c"), table.numberOf("c")]).toEqual([3, 4, 4]);
	});

	test("is found among more types than are compared byte by byte", () => {
		const table = new TypeTable();
		const lines = Array.from({ length: 30 }, (_, n) => `{"type":"t${n}"}`);
		const numbers = lines.map((line) => numberAt(table, line));
		expect(numbers).toEqual(lines.map((_, n) => n + 1));
		expect(lines.map((line) => numberAt(table, line))).toEqual(numbers);
		expect(table.names).toHaveLength(31);
	});

	test("is read only within the line", () => {
		const table = new TypeTable();
		const bytes = '{"type":"a"}{"type":"bcd"}';
		expect(numberAt(table, bytes, 12)).toBe(1);
		expect(table.names).toEqual(["", "bcd"]);
		expect(numberAt(table, bytes, 12, 24)).toBe(0); // ends before the quote
		expect(numberAt(table, bytes, 12, 25)).toBe(1);
		expect(numberAt(table, bytes, 12, 22)).toBe(0);
		expect(numberAt(table, '{"type":""}')).toBe(0);
	});

	test.each([
		"",
		"{}",
		'{"type": "a"}',
		'{"Type":"a"}',
		'{"type":7,"x":"a"}',
		'{"type":"ü"}',
		'{"type":"a\\u0062"}',
		' {"type":"a"}',
		'{"type":"a b"}',
	])("is not read from the head of %s", (line) => {
		const table = new TypeTable();
		expect(numberAt(table, line)).toBe(0);
		expect(table.names).toEqual([""]);
	});

	test("is not read if it is longer than the head of a line", () => {
		const types = [HEAD_BYTES - 1, HEAD_BYTES].map((length) => "x".repeat(length));
		expect(types.map((type) => numberAt(new TypeTable(), `{"type":"${type}"}`))).toEqual([1, 0]);
	});

	test("has a number as long as there are few types", () => {
		const table = new TypeTable();
		for (let n = 1; n < 60_000; n++) table.numberOf(`t${n}`);
		expect([table.numberOf("last"), table.numberOf("more"), table.numberOf("last")]).toEqual([60_000, 0, 60_000]);
	});
});

describe("the role of a message", () => {
	const line = (role: string) => JSON.stringify({ type: "message", timestamp, message: { role, content: "" } });
	const read = (text: string, at = 0, end = Buffer.byteLength(text)) => ROLES[roleAt(Buffer.from(text), at, end)];

	test.each(ROLES.slice(1))("is read: %s", (role) => {
		expect(read(line(role))).toBe(role);
		expect(read(`x\n${line(role)}`, 2)).toBe(role);
		const needed = line(role).indexOf(`${role}"`) + role.length + 1;
		expect(needed).toBeLessThanOrEqual(HEAD_BYTES);
		expect([needed, needed - 1].map((end) => read(line(role), 0, end))).toEqual([role, ""]);
	});

	test.each([
		"",
		line("odd"),
		line("users"),
		line("user").replace("timestamp", "timestomp"),
		line("user").replace('"message":{', '"massage":{'),
		line("user").replace(".000Z", "Z"),
		line("user").replace(timestamp, `2026-01-02"03:04:05.000Z`),
		line("user").replace(timestamp, `"026-01-02T03:04:05.000Z`),
		line("user").replace(timestamp, `2026-01-02T03:04:05.00"Z`),
	])("is not read from the head of %s", (text) => {
		expect(read(text)).toBe("");
	});
});

test("only lines of replies and request usage may record usage, and those that must be decoded", () => {
	const types = new TypeTable();
	const may = (line: string) => mayRecordUsage(Buffer.from(line), 0, Buffer.byteLength(line), types);
	const message = (role: string) => JSON.stringify({ type: "message", timestamp, message: { role, content: "" } });
	const yes = [
		message("assistant"),
		message("odd"),
		'{"type":"request_usage"}',
		'{"type":"message"}',
		'{ "type":"note"}',
	];
	const no = [message("user"), message("toolResult"), message("bashExecution"), '{"type":"note"}'];
	expect([yes.map(may), no.map(may)]).toEqual([yes.map(() => true), no.map(() => false)]);
});

test("blanks are the white space that JSON allows within a line", () => {
	expect([..." \t\r\n\f\u00a0x"].map((blank) => isBlank(blank.charCodeAt(0)))).toEqual([
		...[true, true, true, false, false, false, false],
	]);
	expect(isBlank(undefined)).toBe(false);
});

test.each<[string, string | undefined]>([
	['{"message":{"role":"user","content":"one two', "one two"],
	['{"message":{"role" :\t"user","content" : [{"type":"text","text" :  "one \\"two\\"\\n', 'one "two"\n'],
	['{"message":{"role":"user","content":"ends"}}', "ends"],
	['{"message":{"role":"user","content":"', undefined],
	['{"message":{"role":"user","content":"bad \\q', undefined],
	['{"message":{"role":"users","content":"x', undefined],
	['{"text":"before","message":{"role":"user","content":"after', "after"],
	['{"content":"only before","message":{"role":"user"', undefined],
])("the text of the truncated user message %j is %j", (head, expected) => {
	expect(cutUserText(Buffer.from(head))).toBe(expected);
});

test("of a truncated user message at most 2000 characters are read", () => {
	const head = `{"message":{"role":"user","content":"${"x".repeat(3000)}`;
	expect(cutUserText(Buffer.from(head))).toBe("x".repeat(2000));
});

test.each<[string, string, boolean]>([
	["a", "A", true],
	["A", "a", true],
	["ß", "\\u00DF", true],
	["ß", "\\u00d", false],
	["ß", "SS", true],
	["a", "\\u0061", false],
	["é", "\u00c3\u00a9", true],
	["é", "\\u00e9", true],
	["é", "\\u00C9", true],
	["é", "\\u00fa", false],
	["😀", "\\ud83d\\uDE00", true],
	['"', '\\"', true],
	["\n", "\\n", true],
	["\u0001", "\\u0001", true],
	["a.b", "a.b", true],
	["ab", "ba", false],
])("the pattern of %j matches the raw text %j: %s", (text, raw, expected) => {
	expect(rawTextPattern(text).test(raw)).toBe(expected);
});

test("a text pattern finds all matches in a line", () => {
	expect("ab AB xab".match(rawTextPattern("ab"))).toEqual(["ab", "AB", "ab"]);
});

test("an escaped pattern matches exactly its text", () => {
	const text = "\\^$.*+?()[]{}|/a-z";
	expect(new RegExp(`^${escapePattern(text)}$`).test(text)).toBe(true);
	expect(escapePattern("a.b")).toBe("a\\.b");
});

test("a line that is not JSON is parsed as undefined", () => {
	expect(['{"a":1}', " 7 ", "{", ""].map(parseLine)).toEqual([{ a: 1 }, 7, undefined, undefined]);
});

test.each<[string, boolean]>([
	["{", true],
	["{\n", true],
	['{"type":"ses', true],
	['{"type":"session"', true],
	['{"type":"session","id":"a\n', true],
	[HEADER, false],
	["", false],
	["\n", false],
	['{"type":"x', false],
	['{"type":"message","a', false],
	["x", false],
	['"type":"session"', false],
	['{"type":"session"\n{"type"', false],
	['{"type":"session"\n\n', false],
])("%j is the beginning of a header: %s", (text, expected) => {
	expect(isTornHeader(text)).toBe(expected);
});

test("lists, prompts and searches do not depend on how the lines of a session are formatted", async () => {
	await fc.assert(
		fc.asyncProperty(fc.array(fc.oneof(own, foreign), { maxLength: 12 }), form, async (entries, how) => {
			const [plain, other] = await Promise.all(
				[encodeEntry, (entry: SessionEntry) => write(entry, how)].map(async (line) => {
					const dir = tempDir();
					const path = join(dir, "2026-01-02T03-04-05-000Z_s1.jsonl");
					writeFileSync(path, `${HEADER}${entries.map(line).join("")}${line(user("the ÄND"))}`);
					utimesSync(path, 1000, 1000);
					const list = await listSessions(dir);
					const small = await listSessions(dir, { scanBytes: 0 });
					const found = [];
					for await (const hit of searchSessions(dir, "ä")) found.push(hit.excerpt.length > 0);
					return { list, small, found, prompts: await earlierPrompts(dir) };
				}),
			);
			const shown = (given: typeof plain) => ({
				...given,
				list: given?.list.map(({ path: _path, bytes: _bytes, ...rest }) => rest),
				small: given?.small.map(({ name, firstMessage }) => ({ name, firstMessage })),
			});
			expect(shown(other)).toEqual(shown(plain));
			expect(plain?.list[0]?.messageCount).toBe(
				entries.map((entry) => decodeLine(encodeEntry(entry))).filter(isMessageEntry).length + 1,
			);
		}),
		{ ...RUNS, numRuns: 60 },
	);
});

// Mutation tests run on changed copies of the sources.
test.skipIf(process.env.PI_MUTATION_PART)("only line-patterns.ts in src/log contains byte patterns of lines", () => {
	const dir = fileURLToPath(new URL("../../src/log/", import.meta.url));
	const offenders = readdirSync(dir).filter(
		(name) =>
			name !== "line-patterns.ts" &&
			/(?<!case )"(type|role|timestamp|message|text)\\?"\s*:/.test(readFileSync(join(dir, name), "utf8")),
	);
	expect(offenders).toEqual([]);
});
