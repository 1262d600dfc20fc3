import { visibleWidth } from "@mariozechner/pi-tui";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Footer, type FooterFacts } from "../../../src/modes/interactive/footer.js";
import { createTheme } from "../../../src/tui/theme.js";
import { plainStyle } from "./plain-style.js";

const FACTS: FooterFacts = {
	branch: "main",
	sessionName: null,
	isReadOnly: false,
	isUnsaved: false,
	model: "claude-sonnet",
	thinkingLevel: "medium",
	context: { tokens: 24_000, contextWindow: 200_000 },
	spent: { tokens: { input: 2000, output: 3400, cacheRead: 10_000, cacheWrite: 500 }, cost: 0.124 },
	queued: 0,
	jobs: 0,
};

function footer(facts: FooterFacts, style = plainStyle()): Footer {
	const made = new Footer(style);
	made.facts = facts;
	return made;
}

test("the footer shows directory and model, then context usage and cost", () => {
	expect(footer(FACTS).render(80)).toEqual([
		`~/src/shop (main)${" ".repeat(80 - 17 - 22)}claude-sonnet · medium`,
		"context ▰▱▱▱▱▱▱▱▱▱ 12% of 200k · 80% cached · $0.12 · ↑12.5k ↓3.4k",
	]);
});

test("a new session shows an empty context and omits zero values", () => {
	const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
	const facts = { ...FACTS, context: { tokens: 0, contextWindow: 200_000 }, spent: { tokens: none, cost: 0 } };
	expect(footer(facts).render(80)[1]).toBe("context ▱▱▱▱▱▱▱▱▱▱ 0% of 200k");
});

test("usage is omitted while a long session is being counted", () => {
	expect(footer({ ...FACTS, spent: null, queued: 1 }).render(80)[1]).toBe("context ▰▱▱▱▱▱▱▱▱▱ 12% of 200k · 1 queued");
});

test("session name and queue are shown if present, and a missing model always", () => {
	const lines = footer({ ...FACTS, sessionName: "rounding", queued: 2, model: null }).render(100);
	expect(lines[0]).toMatch(/^~\/src\/shop \(main\) · rounding +no model · \/setup$/);
	expect(lines[1]).toContain("2 queued");
});

test("joined emoji of a name are shown as they are", () => {
	const [first] = footer({ ...FACTS, sessionName: "👩‍💻 work" }).render(100);
	expect(first).toMatch(/^~\/src\/shop \(main\) · 👩‍💻 work +claude-sonnet · medium$/u);
	expect(visibleWidth(first ?? "")).toBe(100);
});

test("a session that is only read is marked behind its name", () => {
	const [first] = footer({ ...FACTS, sessionName: "rounding", isReadOnly: true }).render(100);
	expect(first).toMatch(/^~\/src\/shop \(main\) · rounding · read-only +claude-sonnet · medium$/);
});

test.each<[number, Partial<FooterFacts>, string]>([
	[49, {}, `~/src/shop (main)${" ".repeat(4)}claude-sonnet · medium · 12%`],
	[40, {}, "~/src/shop  claude-sonnet · medium · 12%"],
	[38, {}, "…/shop    claude-sonnet · medium · 12%"],
	[34, {}, "…/shop  claude-son… · medium · 12%"],
	[30, {}, "  claude-sonnet · medium · 12%"],
	[20, {}, "clau… · medium · 12%"],
	[40, { jobs: 2 }, "   claude-sonnet · medium · 2 jobs · 12%"],
	[40, { thinkingLevel: null, branch: null, sessionName: "fix" }, "~/src/shop · fix     claude-sonnet · 12%"],
	[40, { isReadOnly: true }, "read-only   claude-sonnet · medium · 12%"],
	[40, { model: null }, `~/src/shop (main)${" ".repeat(15)}no model`],
])("at %d columns, the footer is one line with model, level and context usage: %j", (width, more, line) => {
	expect(footer({ ...FACTS, ...more }).render(width)).toEqual([line]);
});

const UNSAVED = { ...FACTS, isUnsaved: true };

test.each<[number, Partial<FooterFacts>, string]>([
	[100, {}, "context ▰▱▱▱▱▱▱▱▱▱ 12% of 200k · not saved · 80% cached · $0.12 · ↑12.5k ↓3.4k"],
	[50, {}, "context ▰▱▱▱▱▱▱▱▱▱ 12% of 200k · not saved · $0.12"],
	[50, { model: null, jobs: 2 }, "not saved · 2 jobs"],
	[40, {}, "claude-sonnet · medium · not saved · 12%"],
	[30, {}, "cl… · medium · not saved · 12%"],
	[20, {}, "c… · not saved · 12%"],
	[12, {}, "   not saved"],
	[5, {}, "not …"],
])("at %d columns, the footer says that entries are not saved: %j", (width, more, last) => {
	expect(
		footer({ ...UNSAVED, ...more })
			.render(width)
			.at(-1),
	).toBe(last);
});

test("that entries are not saved is a warning", () => {
	const theme = createTheme("dark");
	for (const width of [80, 30, 12]) {
		const lines = footer(UNSAVED, plainStyle({ theme })).render(width).join("\n");
		expect(lines).toContain(theme.warning("not saved"));
	}
});

test("the bar is yellow above 70 % and red above 90 %", () => {
	const theme = createTheme("dark");
	const shade = (tokens: number) =>
		footer({ ...FACTS, context: { tokens, contextWindow: 100 } }, plainStyle({ theme })).render(80)[1];
	expect(shade(70)).not.toContain(theme.warning("70%"));
	expect(shade(71)).toContain(theme.warning("71%"));
	expect(shade(91)).toContain(theme.error("91%"));
	expect(shade(250)).toContain(theme.error("250%"));
});

test("no line is wider than the screen for any names", () => {
	fc.assert(
		fc.property(fc.integer({ min: 1, max: 200 }), fc.string(), fc.string(), fc.string(), (width, a, b, c) => {
			const style = plainStyle({ cwd: `/home/ada/${a.repeat(20)}` });
			const lines = footer({ ...FACTS, branch: a, sessionName: b, model: c, queued: 3 }, style).render(width);
			expect(lines.every((line) => visibleWidth(line) <= width)).toBe(true);
		}),
	);
});

test("on a narrow screen the path uses all remaining columns", () => {
	const facts = { ...FACTS, branch: null };
	expect(footer(facts, plainStyle({ cwd: "/home/ada/work/clients/shop" })).render(40)).toEqual([
		"…/shop      claude-sonnet · medium · 12%",
	]);
	const deep = plainStyle({ cwd: `/srv/${"deep/".repeat(8)}shop` });
	expect(footer({ ...facts, thinkingLevel: null }, deep).render(45)).toEqual([
		"…/deep/deep/deep/shop     claude-sonnet · 12%",
	]);
});

test.each([
	[40, ["   claude-sonnet · medium · 2 jobs · 12%"]],
	[
		80,
		[
			`~/src/shop (main)${" ".repeat(80 - 17 - 22)}claude-sonnet · medium`,
			"context ▰▱▱▱▱▱▱▱▱▱ 12% of 200k · 80% cached · $0.12 · ↑12.5k ↓3.4k · 2 jobs",
		],
	],
	[
		120,
		[
			`~/src/shop (main)${" ".repeat(120 - 17 - 22)}claude-sonnet · medium`,
			"context ▰▱▱▱▱▱▱▱▱▱ 12% of 200k · 80% cached · $0.12 · ↑12.5k ↓3.4k · 2 jobs",
		],
	],
])("running background commands are counted at %d columns", (columns, lines) => {
	expect(footer({ ...FACTS, jobs: 2 }).render(columns)).toEqual(lines);
});

test("a figure that does not fit is omitted, not cut", () => {
	const line = (width: number) => footer({ ...FACTS, jobs: 2 }).render(width)[1];
	expect(line(74)).toBe("context ▰▱▱▱▱▱▱▱▱▱ 12% of 200k · 80% cached · $0.12 · ↑12.5k ↓3.4k");
	expect(line(60)).toBe("context ▰▱▱▱▱▱▱▱▱▱ 12% of 200k · 80% cached · $0.12 · 2 jobs");
});

test("a path of wide characters is cut by columns", () => {
	const facts = { ...FACTS, branch: null };
	const wide = plainStyle({ cwd: `/srv/${"深い/".repeat(8)}店` });
	expect(footer(facts, wide).render(40)).toEqual(["…/深い/店   claude-sonnet · medium · 12%"]);
	const short = plainStyle({ cwd: "/srv/深い深い深い深い" });
	expect(footer({ ...facts, thinkingLevel: null }, short).render(42)).toEqual([
		`/srv/${"深い".repeat(4)}  claude-sonnet · 12%`,
	]);
});

test("one background command is counted without a model", () => {
	expect(footer({ ...FACTS, model: null, queued: 1, jobs: 1 }).render(80)[1]).toBe("1 queued · 1 job");
});
