import fc from "fast-check";
import { expect, test } from "vitest";
import { plainText } from "../../src/tui/paste-marks.js";
import { PromptHistory } from "../../src/tui/prompt-history.js";

function filled(...texts: string[]): PromptHistory {
	const history = new PromptHistory();
	for (const text of texts) history.add(plainText(text));
	return history;
}

test("older shows the newest prompt first, newer ends at the draft", () => {
	const history = filled("one", "two");
	const draft = plainText("half a sentence");
	const older = () => history.older(() => draft)?.text;
	expect([older(), older(), older()]).toEqual(["two", "one", undefined]);
	expect([history.newer(), history.newer(), history.newer()]).toEqual([plainText("two"), draft, undefined]);
});

test("a repeated prompt is kept once, at its latest position, also across sessions", () => {
	const history = filled("one", "two", "one");
	history.addOlder(["two", "three", " ", "three"]);
	expect(history.texts).toEqual(["one", "two", "three"]);
});

test("prompts are compared with their pastes in full", () => {
	const history = new PromptHistory();
	history.add({ text: "[paste #1 1 chars]", pastes: new Map([[1, "a"]]) });
	history.add({ text: "[paste #1 1 chars]", pastes: new Map([[1, "b"]]) });
	history.add(plainText("a"));
	expect(history.texts).toEqual(["a", "b"]);
});

test("the history holds at most 500 prompts without duplicates", () => {
	const texts = fc.array(fc.nat(700).map(String), { maxLength: 900 });
	fc.assert(
		fc.property(texts, texts, (now, before) => {
			const history = filled(...now);
			history.addOlder(before);
			expect(history.texts.length).toBeLessThanOrEqual(500);
			expect(new Set(history.texts).size).toBe(history.texts.length);
			expect(history.texts[0]).toEqual([...now].reverse()[0] ?? before[0]);
		}),
		{ numRuns: 30 },
	);
});
