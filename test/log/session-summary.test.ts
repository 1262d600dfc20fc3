import { statSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { encodeEntry } from "../../src/log/codec.js";
import { withFile } from "../../src/log/open-file.js";
import { onOneLine, Summarizer, titleOfPrompt } from "../../src/log/session-summary.js";
import { assistant, custom, user } from "../helpers/entries.js";
import { fileWith, HEADER } from "./support.js";

const KB = 1024;
const named = (name: string) => encodeEntry({ type: "session_info", timestamp: "t", name });
const said = (text: string) => encodeEntry(user(text));
/** An entry of about this size that is not a message. */
const padding = (kilobytes: number) => encodeEntry(custom("pad", { text: "p".repeat(kilobytes * KB) }));
/** The same JSON as another program writes it. */
const foreign = (line: string) => ` ${line}`;

function summarize(lines: readonly string[], budget = 0, summarizer = new Summarizer(budget)) {
	const path = fileWith(lines.join(""));
	const summary = withFile(path, (file) => summarizer.summarize(path, file, statSync(path)));
	return summary && { name: summary.name, first: summary.firstMessage, count: summary.messageCount };
}

describe("the summary of a session", () => {
	test("has the path, size, time and header of its file", () => {
		const path = fileWith(`${HEADER}${said("hi")}`);
		const stats = statSync(path);
		expect(withFile(path, (file) => new Summarizer(0).summarize(path, file, stats))).toEqual({
			...{ path, id: "s1", name: null, firstMessage: "hi", modifiedAt: stats.mtimeMs, messageCount: 1 },
			...{ cwd: "/work", bytes: stats.size },
		});
	});

	test("is missing if the file is not a session", () => {
		expect(summarize([said("hi")])).toBeUndefined();
		expect(summarize([])).toBeUndefined();
	});

	test("has the first message of the user, not that of others", () => {
		const note = encodeEntry(custom("note", { message: user("no").message }));
		expect(summarize([HEADER, note, encodeEntry(assistant("no")), "damaged\n", said("one"), said("two")])).toEqual({
			...{ name: null, first: "one", count: 3 },
		});
	});

	test("has the last name, none if that was removed", () => {
		expect(summarize([HEADER, named("a"), said("x"), named("b"), said("y")])?.name).toBe("b");
		expect(summarize([HEADER, named("a"), named("")])?.name).toBeNull();
		expect(summarize([HEADER, named("a"), foreign(named("b")), foreign(said("x"))])).toEqual({
			...{ name: "b", first: "x", count: 1 },
		});
	});

	test("counts messages in the form of other programs", () => {
		const lines = [HEADER, said("a"), foreign(said("b")), foreign(named("c")), foreign(encodeEntry(assistant("d")))];
		expect(summarize(lines)).toEqual({ name: "c", first: "a", count: 3 });
	});

	test("has no count if more than 1 MiB would have to be decoded", () => {
		const large = foreign(said("x".repeat(600 * KB)));
		expect(summarize([HEADER, said("a"), large], 9000 * KB)?.count).toBe(2);
		expect(summarize([HEADER, said("a"), large, large, foreign(named("n"))], 9000 * KB)).toEqual({
			...{ name: null, first: "a", count: null },
		});
	});
});

describe("the summary of a large session", () => {
	const lines = [HEADER, said("first"), named("early"), padding(100), named("middle"), padding(100), said("last")];

	test("is exact within the budget, which each such session uses up", () => {
		const summarizer = new Summarizer(500 * KB);
		const exact = { name: "middle", first: "first", count: 2 };
		const partial = { name: "early", first: "first", count: null };
		const results = [1, 2, 3].map(() => summarize(lines, 0, summarizer));
		expect(results).toEqual([exact, exact, partial]);
	});

	test("is exact without a budget up to 64 KiB, and that uses none of the budget", () => {
		const summarizer = new Summarizer(210 * KB);
		const small = [HEADER, said("a"), padding(60), said("b")];
		for (let time = 0; time < 5; time++) expect(summarize(small, 0, summarizer)?.count).toBe(2);
		expect(summarize(lines, 0, summarizer)?.count).toBe(2);
	});

	test("has a name from its last 32 KiB, or else from its first 64 KiB", () => {
		expect(summarize([...lines, named("late"), padding(20)])?.name).toBe("late");
		expect(summarize([...lines, named(""), padding(20)])?.name).toBeNull();
		expect(summarize([...lines, named("late"), padding(40)])?.name).toBe("early");
	});

	test("has a first message from its first 256 KiB", () => {
		expect(summarize([HEADER, padding(100), said("one"), padding(200)])?.first).toBe("one");
		expect(summarize([HEADER, padding(300), said("one"), padding(200)])?.first).toBe("");
		expect(summarize([HEADER, padding(300), said("one")], 900 * KB)?.first).toBe("");
	});

	test("has the start of a message that is cut or very long", () => {
		expect(summarize([HEADER, said(`cut "here" ${"x".repeat(100 * KB)}`), padding(100)])?.first).toMatch(
			/^cut "here" x+…$/,
		);
		expect(summarize([HEADER, padding(30), said(`cut ${"x".repeat(900 * KB)}`)])?.first).toMatch(/^cut x+…$/);
		expect(summarize([HEADER, said(`long ${"x".repeat(900 * KB)}`)], 9000 * KB)?.first).toMatch(/^long x+…$/);
	});

	test("has no message from a damaged line before the end of the range", () => {
		const damaged = said("lost").replace("}}", "}");
		expect(summarize([HEADER, damaged, said("kept")])?.first).toBe("kept");
		expect(summarize([HEADER, damaged.trimEnd()])?.first).toBe("lost");
	});
});

test.each<[string, number, string]>([
	[" a\n\tb  c\u0007d ", 20, "a b c d"],
	["12345", 5, "12345"],
	["123456", 5, "1234…"],
	["123😀56", 5, "123…"],
	["12😀56", 5, "12😀…"],
	["", 5, ""],
	[" ".repeat(30), 5, ""],
	[`${" ".repeat(19)}x`, 5, "x"],
	[`${" ".repeat(20)}x`, 5, ""],
])("%j on one line of at most %i characters is %j", (text, length, expected) => {
	expect(onOneLine(text, length)).toBe(expected);
});

test.each([
	["fix the tests", "fix the tests"],
	["Fix the rounding in checkout. It fails for 19.99 since yesterday.", "Fix the rounding in checkout"],
	["why does checkout round down? see src/price.ts", "why does checkout round down"],
	[
		"e.g. this: look at all files of the parser and tell me which of them are not used by any test",
		"e.g. this: look at all files of the parser and tell me which of them…",
	],
	["x".repeat(80), `${"x".repeat(72)}…`],
	["", ""],
])("the title of “%s” is its first sentence, cut between words", (prompt, title) => {
	expect(titleOfPrompt(prompt)).toBe(title);
});
