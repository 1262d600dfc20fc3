import { expect, test } from "vitest";
import { HiddenRunView, SummaryView } from "../../../../src/modes/interactive/views/summary-view.js";
import { createTheme } from "../../../../src/tui/theme.js";
import { plainStyle } from "../plain-style.js";

const FACTS = { by: "stack", messages: 4, tokensBefore: 3100, tokens: 40 };

test("a summary is drawn as Markdown, with control characters made visible", () => {
	const theme = createTheme("dark");
	const style = { ...plainStyle(), theme };
	const view = new SummaryView(style, { ...FACTS, text: "[Summary] Ran `npm test`.\n\n- all\x1b[2J green" });
	expect(view.render(60)).toEqual([
		`Ran ${theme.markdown.code("npm test")}.`,
		"",
		`${theme.markdown.listBullet("- ")}all␛[2J green`,
		theme.dim("replaces 4 messages · 3.1k → 40 tokens · stack"),
	]);
});

test("a long summary shows its first lines and counts the rest", () => {
	const text = Array.from({ length: 20 }, (_, index) => `- point ${index}`).join("\n");
	const style = { ...plainStyle(), theme: createTheme("plain") };
	const view = new SummaryView(style, { ...FACTS, text });
	expect(view.render(80)).toHaveLength(7);
	expect(view.render(80).at(-1)).toContain("14 more lines");
});

test("on a narrow screen the facts of summaries and hidden runs wrap", () => {
	const summary = new SummaryView(plainStyle(), { ...FACTS, by: "stacking", messages: 11, text: "Fixed." });
	expect(summary.render(38)).toEqual(["Fixed.", "replaces 11 messages · 3.1k → 40", "tokens · stacking"]);
	const run = new HiddenRunView(plainStyle(), { messages: 10, tokens: 1400, by: "stacking" });
	expect(run.render(38)).toEqual(["… 10 messages, 1.4k tokens, hidden by", "stacking"]);
});
