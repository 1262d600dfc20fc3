import fc from "fast-check";
import { expect, test } from "vitest";
import { pagesOf } from "../../hooks-examples/recall.js";
import { isMessageEntry } from "../../src/log/entry.js";
import { anyText } from "../helpers/any-text.js";
import { propertyRuns } from "../helpers/property-blocks.js";
import { bigText, startReading } from "./reading.js";

test("recall returns an entry, also after a compaction", async () => {
	const t = await startReading(["recall"], {
		files: { "a.txt": `first\n${"word ".repeat(200)}` },
		userSettings: { compaction: { keepRecentTokens: 1 } },
	});
	await t.calls(["read", { path: "a.txt" }]);
	const [entry] = t.resultEntries();
	t.provider.reply("SUMMARY");
	await t.session.prompt("/compact");
	await t.calls(["recall", { entry }]);
	expect(t.results().at(-1)).toBe(`first\n${"word ".repeat(200)}`);
	await t.calls(["recall", { entry: 1 }]);
	expect(t.results().at(-1)).toBe("[User]\ngo");
	expect(await t.verify()).toMatchObject({ mismatch: null });
});

test("recall finds entries by words in any order, newest first, but no earlier searches", async () => {
	const t = await startReading(["recall"], {
		files: { "a.txt": "The price is rounded.", "b.txt": "Round the PRICE up." },
	});
	await t.calls(["read", { path: "a.txt" }], ["read", { path: "b.txt" }], ["recall", { words: "price round" }]);
	const [a, b] = t.resultEntries();
	const found = t.results().at(-1)?.split("\n");
	expect(found).toEqual([
		`${b} read · 9 tokens · Round the PRICE up.`,
		`${a} read · 10 tokens · The price is rounded.`,
	]);
	await t.calls(["recall", { words: "rounded" }]);
	expect(t.results().at(-1)).toBe(`${a} read · 10 tokens · The price is rounded.`);
	await t.calls(["recall", { words: "zebra rounded" }]);
	expect(t.results().at(-1)).toBe("No entry contains zebra, rounded.");
});

test("recall pages through a text that is longer than the result of a tool", async () => {
	const t = await startReading(["recall"], {});
	const text = Array.from({ length: 5000 }, (_, i) => `line ${i}`).join("\n");
	t.provider.reply("ok");
	await t.session.prompt(text);
	await t.calls(["recall", { entry: 1 }], ["recall", { entry: 1, page: 3 }], ["recall", { entry: 1, page: 4 }]);
	const [first, last, none] = t.results();
	expect(first).toMatch(/^\[User\]\nline 0\n[\s\S]*\nline 1898\n\[page 1 of 3 · continue with page 2\]$/);
	expect(last).toMatch(/^line 3799\n[\s\S]*\nline 4999$/);
	expect(none).toBe("Entry 1 has 3 pages, not 4.");
});

test.each([
	[{}, "Specify an entry or words."],
	[{ entry: 9999 }, "Entry 9999 has no message to recall. Search with words."],
])("recall(%j) is an error that says what to do", async (args, message) => {
	const t = await startReading(["recall"]);
	await t.calls(["recall", args]);
	expect(t.results()).toEqual([message]);
	const results = t.session.entries.filter((entry) => isMessageEntry(entry) && entry.message.role === "toolResult");
	expect(results).toMatchObject([{ message: { isError: true } }]);
});

test("what the user has hidden with !! stays hidden", async () => {
	const t = await startReading(["recall"]);
	await t.session.runBash("echo secret-word", { excludeFromContext: true });
	const hidden = t.session.entries.findIndex(
		(entry) => isMessageEntry(entry) && entry.message.role === "bashExecution",
	);
	expect(hidden).toBeGreaterThan(0);
	await t.calls(["recall", { entry: hidden }], ["recall", { words: "secret-word" }]);
	expect(t.results()).toEqual([
		`Entry ${hidden} has no message to recall. Search with words.`,
		"No entry contains secret-word.",
	]);
});

test("several hooks provide the tool once, without a warning", async () => {
	const t = await startReading(["clear", "dedupe", "distill", "recall"]);
	t.provider.reply("ok");
	await t.session.prompt("hi");
	const tools = JSON.stringify(t.provider.requests[0]?.body).match(/"name":"recall"/g);
	expect(tools).toHaveLength(1);
	expect([t.session.loaded.warnings, t.notices()]).toEqual([[], []]);
});

test("pages are small enough for a result and together are the text", () => {
	const long = fc.constantFrom("x".repeat(60_000), "é".repeat(30_000), "👍".repeat(20_000));
	const line = fc.oneof({ weight: 9, arbitrary: anyText() }, { weight: 1, arbitrary: long });
	fc.assert(
		fc.property(fc.array(line, { maxLength: 20 }), fc.nat(3000), (lines, blank) => {
			const text = [...lines, ..."a".repeat(blank)].join("\n");
			const pages = pagesOf(text);
			for (const page of pages) {
				expect(Buffer.byteLength(page)).toBeLessThan(50_000);
				expect(page.split("\n").length).toBeLessThan(2000);
				if (text.isWellFormed()) expect(page.isWellFormed()).toBe(true);
			}
			expect(pages.join("\n").replaceAll("\n", "")).toBe(text.replaceAll("\n", ""));
		}),
		propertyRuns(50),
	);
});

test("a text of one page is unchanged", () => {
	expect(pagesOf(bigText("a"))).toEqual([bigText("a")]);
	expect(pagesOf("")).toEqual([""]);
});
