import { readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { expect, test } from "vitest";
import { listSessions } from "../../src/log/catalog.js";
import { decodeLine, encodeEntry } from "../../src/log/codec.js";
import { earlierPrompts } from "../../src/log/earlier-prompts.js";
import { isMessageEntry, type SessionEntry } from "../../src/log/entry.js";
import { cutUserText, ROLES, rawTextPattern, roleAt, TypeTable } from "../../src/log/line-patterns.js";
import { searchSessions } from "../../src/log/search.js";
import { assistantMessage, compaction, custom, result, user } from "../helpers/entries.js";
import { HEADER, tempDir } from "./support.js";

const RUNS = { seed: 20260105, numRuns: 300 };
const timestamp = "2026-01-02T03:04:05.000Z";

const text = fc.oneof(
	fc.string({ unit: "binary", maxLength: 20 }),
	fc.constant('","message":{"role":"user","type":"x"'),
);
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
