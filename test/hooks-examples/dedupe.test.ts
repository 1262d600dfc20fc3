import fc from "fast-check";
import { expect, test } from "vitest";
import { supersededResults } from "../../hooks-examples/dedupe.js";
import { propertyRuns } from "../helpers/property-blocks.js";
import { bigText, startReading } from "./reading.js";

const FILES = { "a.txt": bigText("a"), "b.txt": bigText("b"), "c.txt": bigText("c") };
const again = (path: string, count: number) => Array.from({ length: count }, () => ["read", { path }] as const);

test("of a file that is read again and again, only the latest results stay", async () => {
	const t = await startReading(["dedupe"], { files: FILES });
	await t.calls(["read", { path: "b.txt" }], ...again("a.txt", 25), ["read", { path: "c.txt" }]);
	const steps = t.session.entries.filter(({ type }) => type === "dedupe");
	expect(steps.length).toBeGreaterThan(0);
	expect(t.breaks()).toHaveLength(steps.length);
	const [b, first, ...others] = t.results();
	const [, entry] = t.resultEntries();
	expect(first).toMatch(/^\[read a\.txt · \d,\d{3} tokens superseded by a later call · recall \d+\]$/);
	expect(first).toContain(`recall ${entry}]`);
	// These were read once.
	expect(b).toBe(bigText("b"));
	expect(others.at(-1)).toBe(bigText("c"));
	expect(others.at(-2)).toBe(bigText("a"));
	await t.calls(["recall", { entry }]);
	expect(t.results().at(-1)).toBe(bigText("a"));
	expect([t.session.context.problems, t.notices()]).toEqual([[], []]);
	expect(await t.session.prompt("/deduped")).toMatchObject({
		status: expect.stringMatching(
			/^\d+ tool results were replaced \(\d+ read\) in \d steps? · \d+\.\dk tokens less per request/,
		),
	});
	expect(await t.verify()).toMatchObject({ requests: t.provider.requests.length, mismatch: null });
});

test("together with clear, each result is hidden by one of the two", async () => {
	const t = await startReading(["clear", "dedupe"], { files: FILES });
	await t.calls(...again("a.txt", 40), ...again("b.txt", 20));
	const hidden = t.session.entries.flatMap((entry) =>
		["clear", "dedupe"].includes(entry.type) && "results" in entry ? (entry.results as number[]) : [],
	);
	expect(hidden.length).toBeGreaterThan(0);
	expect(new Set(hidden).size).toBe(hidden.length);
	expect(await t.verify()).toMatchObject({ mismatch: null });
});

/** A result in a few words: `read a 1-10`, `!edit a` for a failed one. */
function result(words: string) {
	const [, failed, name = "", subject = "", first, last] = /^(!?)(\w+) (\S+)(?: (\d+)-(\d*))?$/.exec(words) ?? [];
	const range =
		first === undefined ? {} : { offset: Number(first), ...(last ? { limit: Number(last) - Number(first) + 1 } : {}) };
	const key = name === "bash" ? "command" : name === "grep" ? "pattern" : "path";
	return {
		call: { id: words, name, arguments: { [key]: subject, ...range } },
		message: {
			...{ role: "toolResult" as const, toolCallId: words, toolName: name, content: [], timestamp: 0 },
			isError: failed === "!",
		},
	};
}

const idsOf = (words: readonly string[]) => supersededResults(words.map(result)).map(({ call }) => call.id);

test.each([
	["the same file read again", ["read a", "read b", "read a"], ["read a"]],
	["a part of a file that is then read completely", ["read a 5-10", "read a"], ["read a 5-10"]],
	["a complete file of which then a part is read", ["read a", "read a 5-10"], []],
	["a part within a later part", ["read a 5-10", "read a 1-20", "read a 30-40"], ["read a 5-10"]],
	["a part that a later one overlaps", ["read a 5-10", "read a 8-20"], []],
	["the rest of a file within a later rest", ["read a 50-", "read a 40-"], ["read a 50-"]],
	["a file that was then written", ["read a", "write a"], ["read a"]],
	["a file that was then edited: nothing else has its other lines", ["read a", "edit a"], []],
	["a file that could not be written", ["read a", "!write a"], []],
	["a file that could not be read again", ["read a", "!read a"], []],
	["a repeated search", ["grep x", "grep y", "grep x"], ["grep x"]],
	["a repeated command", ["bash test", "bash test"], ["bash test"]],
	["a failed edit that then succeeded", ["!edit a", "edit a"], ["!edit a"]],
	["a failed edit that has not succeeded", ["!edit a", "edit b"], []],
	["a tool of which nothing is known", ["jobs x", "jobs x"], []],
])("%s", (_, words, expected) => {
	expect(idsOf(words)).toEqual(expected);
});

test("the latest result of each call is never superseded by an earlier one, and what supersedes is shown", () => {
	const call = fc.constantFrom(
		"read a",
		"read a 1-10",
		"read a 5-20",
		"write a",
		"!read a",
		"edit a",
		"!edit a",
		"bash x",
		"grep x",
	);
	fc.assert(
		fc.property(fc.array(call, { maxLength: 15 }), (words) => {
			const results = words.map(result);
			const hidden = new Set(supersededResults(results));
			expect(hidden.has(results.at(-1) as (typeof results)[number])).toBe(false);
			// What is left has nothing superseded: the rule is applied once.
			const shown = results.filter((item) => !hidden.has(item));
			expect(supersededResults(shown)).toEqual([]);
		}),
		propertyRuns(300),
	);
});
