import { visibleWidth } from "@mariozechner/pi-tui";
import { describe, expect, test } from "vitest";
import { ALONE_MS, ENTER_MS, SHOWN_MS } from "../../src/tui/answer-guard.js";
import { ApprovalDialog } from "../../src/tui/approval-dialog.js";
import { createKeymap } from "../../src/tui/keymap.js";
import { createTheme } from "../../src/tui/theme.js";
import type { Approval, ApprovalAnswer } from "../../src/util/approval.js";
import { PAUSE_MS } from "../../src/util/clock.js";
import { FakeTiming } from "../helpers/fake-timing.js";

const UP = "\x1b[A";
const DOWN = "\x1b[B";
const PAGE_UP = "\x1b[5~";
const PAGE_DOWN = "\x1b[6~";
const END = "\x1b[F";
const ENTER = "\r";
const ESCAPE = "\x1b";
const paste = (text: string) => `\x1b[200~${text}\x1b[201~`;
/** Long enough for each rule. */
const CALM = 1000;

const PUSH: Approval = {
	question: "permissions asks: Run this command?",
	subject: { kind: "command", head: "bash: ", text: "git push --force origin main", more: "timeout: 5" },
	choices: [
		{ label: "Yes, for this session" },
		{
			label: "Yes, always",
			rule: "git push *",
			check: (rule) => (rule === "*" ? "it would allow everything" : null),
		},
	],
	takesMessage: true,
};
const EDIT: Approval = {
	question: "permissions asks: Change this file?",
	subject: {
		kind: "diff",
		head: "edit: src/price.ts\n",
		text: "- const tax = 0.19;\n+ const tax = 0.07;\n  replaceAll: true",
	},
	choices: [{ label: "Yes, all edits of this session" }],
	takesMessage: true,
};
const LONG: Approval = {
	...PUSH,
	subject: { kind: "command", head: "bash: ", text: `echo ${"a ".repeat(400)}; rm -rf ~/work ; ${"b".repeat(400)}` },
};
const LINES: Approval = { ...PUSH, subject: { kind: "text", text: lines(60) } };

function lines(count: number): string {
	return Array.from({ length: count }, (_, at) => `line ${at + 1}`).join("\n");
}

interface Setup {
	approval?: Approval;
	width?: number;
	rows?: number;
	theme?: Parameters<typeof createTheme>[0];
	lastKeyAgoMs?: number;
	/** Whether it has just been drawn, instead of long ago. */
	isNew?: boolean;
}

function open({ approval = PUSH, width = 80, rows = 24, theme = "plain", lastKeyAgoMs, isNew = false }: Setup = {}) {
	const timing = new FakeTiming();
	let keyAt = lastKeyAgoMs === undefined ? Number.NEGATIVE_INFINITY : timing.now() - lastKeyAgoMs;
	const answers: ApprovalAnswer[] = [];
	const style = { theme: createTheme(theme), keymap: createKeymap(), rows: () => rows };
	const guard = {
		timing,
		requestRender: () => void draw(),
		lastKeyAt: () => keyAt,
	};
	const dialog = new ApprovalDialog(style, approval, (answer) => answers.push(answer), guard);
	dialog.focused = true;
	const draw = () => dialog.render(width).map((line) => line.replace(/\x1b_pi:c\x07/g, "").trimEnd());
	draw();
	if (!isNew) timing.pass(CALM);
	return {
		dialog,
		answers,
		timing,
		draw,
		/** Another dialog covers it, in which a key is pressed after a while. */
		cover() {
			dialog.focused = false;
			timing.pass(CALM);
			keyAt = timing.now();
			dialog.focused = true;
			draw();
		},
		/** Presses keys, with a frame after each, and after each frame time. */
		press(keys: Iterable<string>, ms = CALM) {
			for (const key of keys) {
				dialog.handleInput(key);
				draw();
				timing.pass(ms);
				draw();
			}
			return draw().join("\n");
		},
	};
}

test.each([
	[80, 4],
	[20, 6],
])(
	"a window of %d × %d without room for question and answer asks for a larger one instead of an answer",
	(width, rows) => {
		const { press, answers, draw } = open({ width, rows });
		expect(draw().join("\n")).toContain("→ n  No");
		expect(press([DOWN])).toMatch(/enlarge the\s+window/);
		expect(draw().join("\n")).not.toContain("Yes");
		press([ENTER]);
		expect(answers).toEqual([]);
		press([ESCAPE]);
		expect(answers).toEqual([{ allowed: false, isClosed: true }]);
	},
);

describe("keys that walk through the history as the question opens", () => {
	const walk = [DOWN, DOWN, DOWN, UP, UP];

	test.each([100, 300, 400, PAUSE_MS - 1])("select nothing, %d ms apart", (ms) => {
		const { press, answers } = open({ isNew: true, lastKeyAgoMs: ms });
		expect(press(walk, ms)).toContain("→ n  No");
		expect(press([], 0)).toContain("keys count after a pause");
		press([ENTER]);
		expect(answers).toEqual([{ allowed: false }]);
	});

	test("select nothing if the first is pressed before anyone can react", () => {
		const { press, timing } = open({ isNew: true });
		timing.pass(PAUSE_MS - 1);
		expect(press(walk, 400)).toContain("→ n  No");
	});

	test("count after a pause, and from then on at any speed", () => {
		const { press, answers, timing } = open({ isNew: true, lastKeyAgoMs: 100 });
		press([DOWN], PAUSE_MS);
		expect(press(walk, 50)).toContain("→ y  Yes, once");
		timing.pass(SHOWN_MS);
		press([ENTER]);
		expect(answers).toEqual([{ allowed: true, choice: -1 }]);
	});

	test("select nothing if a dialog that covered the question got the first of them", () => {
		const { press, timing, cover } = open();
		cover();
		timing.pass(PAUSE_MS - 1);
		expect(press(walk, 400)).toContain("→ n  No");
	});

	test("scroll and close at once", () => {
		const { press, answers } = open({ approval: LINES, isNew: true, lastKeyAgoMs: 100 });
		expect(press([PAGE_DOWN, PAGE_DOWN], 100)).not.toContain("line 1\n");
		press([ESCAPE]);
		expect(answers).toEqual([{ allowed: false, isClosed: true }]);
	});
});

test("a question that was covered has its refusal selected when it comes back", () => {
	const { press, dialog, draw } = open();
	expect(press([DOWN])).toContain("→ y  Yes, once");
	dialog.focused = false;
	dialog.focused = true;
	expect(draw().join("\n")).toContain("→ n  No");
	expect(press([DOWN, DOWN, DOWN, ENTER])).toContain("git push *");
	dialog.focused = false;
	dialog.focused = true;
	expect(draw().join("\n")).toContain("→ n  No");
});

test("left and right move in the text for the model", () => {
	const { press, answers } = open();
	press("use s");
	press(["\x1b[D", "l", "\x1b[C", ENTER]);
	expect(answers).toEqual([{ allowed: false, message: "use ls" }]);
});

test("a key that repeats, as one that is held down since before the question, allows nothing", () => {
	const { press, answers } = open();
	press(["\x1b[121;1:2u", "\x1b[49;1:2u"]);
	expect(answers).toEqual([]);
});

describe("the screen", () => {
	test.each([40, 80, 120])("a command, a diff, a long text, a rule and a message at %d columns", async (width) => {
		const shown = [PUSH, EDIT, LONG].map((approval) => open({ approval, width }).draw());
		const rule = open({ width });
		rule.press([DOWN, DOWN, DOWN, ENTER]);
		const message = open({ width });
		message.press("not on main");
		const frames = [...shown, rule.draw(), message.draw()].map((frame) => `${frame.join("\n")}\n`);
		await expect(frames.join("\n")).toMatchFileSnapshot(`../screens/approval-${width}.txt`);
	});

	test.each(["light", "high-contrast"] as const)("marks danger and changes in the theme %s", async (name) => {
		const theme = createTheme(name);
		const command = open({ theme: name, width: 60 }).draw().join("\n");
		expect(command).toContain(`bash: ${theme.error("git push --force")} origin main`);
		const diff = open({ approval: EDIT, theme: name, width: 60 }).draw().join("\n");
		expect(diff).toContain(theme.removed("- const tax = 0.19;"));
		expect(diff).toContain(theme.added("+ const tax = 0.07;"));
		await expect(`${command}\n${diff}\n`).toMatchFileSnapshot(`../screens/approval-${name}.txt`);
	});

	test("danger is marked across the rows of a long line, and not in other arguments", () => {
		const theme = createTheme("dark");
		const text = `echo ${"word ".repeat(12)}&& sudo rm -rf ${"deep/".repeat(12)}`;
		const approval: Approval = { ...PUSH, subject: { kind: "command", text, more: "note: sudo rm -rf /" } };
		const frame = open({ approval, theme: "dark", width: 40 }).draw().join("\n");
		const marked = frame.split(theme.error("|").split("|")[0] ?? "").length - 1;
		expect(marked).toBeGreaterThan(0);
		expect(frame).toContain(" note: sudo rm -rf /");
	});

	test.each([1, 2, 3, 10, 40])("no line is wider than %d columns, at any height", (width) => {
		for (const rows of [1, 3, 5, 10, 24]) {
			for (const approval of [PUSH, EDIT, LONG, LINES]) {
				const { dialog, draw } = open({ approval, width, rows });
				for (const line of dialog.render(width)) expect(visibleWidth(line)).toBeLessThanOrEqual(width);
				expect(draw().length).toBeLessThanOrEqual(Math.max(2, rows - 2));
			}
		}
	});

	test("invisible characters are shown by name in every part", () => {
		const text = "rm\u202e x\u200b\x1b[8m";
		const frame = open({
			approval: { question: text, subject: { kind: "command", text }, choices: [{ label: text }] },
		}).draw();
		expect(frame.join("\n").match(/rm‹U\+202E› x‹U\+200B›␛\[8m/g)).toHaveLength(3);
	});
});

describe("an answer that allows", () => {
	test.each<[string, string[], ApprovalAnswer]>([
		["y", ["y"], { allowed: true, choice: -1 }],
		["Y", ["Y"], { allowed: true, choice: -1 }],
		["a digit", ["1"], { allowed: true, choice: 0 }],
		["arrows and Enter", [DOWN, ENTER], { allowed: true, choice: -1 }],
		["more ups than rows", [...Array(9).fill(UP), ENTER], { allowed: false }],
		["a rule", ["2", ENTER], { allowed: true, choice: 1, rule: "git push *" }],
		["an edited rule", ["2", "\x7f", ..."origin", ENTER], { allowed: true, choice: 1, rule: "git push origin" }],
	])("%s", (_, keys, answer) => {
		const { press, answers } = open();
		press(keys);
		expect(answers).toEqual([answer]);
	});

	test("a rule that cannot be used is not accepted, and Escape goes back to the list", () => {
		const { press, answers } = open();
		expect(press(["2", "\x15", "*", ENTER])).toContain("it would allow everything");
		expect(press(["\x15", ENTER])).toContain("a rule must not be empty");
		expect(press([ESCAPE])).toContain("→ 2  Yes, always: git push *");
		expect(answers).toEqual([]);
		press([ESCAPE]);
		expect(answers).toEqual([{ allowed: false, isClosed: true }]);
	});
});

describe("a refusal", () => {
	test.each<[string, string[], ApprovalAnswer]>([
		["Enter at first", [ENTER], { allowed: false }],
		["n", ["n"], { allowed: false }],
		["more downs than rows", [...Array(9).fill(DOWN), ENTER, ESCAPE, ENTER], { allowed: false }],
		["Escape", [ESCAPE], { allowed: false, isClosed: true }],
		["Escape after a letter", ["\x03"], { allowed: false, isClosed: true }],
	])("%s", (_, keys, answer) => {
		const { press, answers } = open();
		press(keys);
		expect(answers).toEqual([answer]);
	});

	test("a sentence becomes the message, whatever letters it begins with", () => {
		for (const text of ["yes please run it no", "no, use the branch", "1 more test first", "y n 1"]) {
			const { press, answers } = open();
			press(text, 100);
			press([ENTER]);
			expect(answers).toEqual([{ allowed: false, message: text }]);
		}
	});

	test("a paste becomes the message, whatever line breaks it has", () => {
		const { press, answers } = open();
		press([paste("y\r\ny\n\n1\r")]);
		expect(answers).toEqual([]);
		press([ENTER]);
		expect(answers).toEqual([{ allowed: false, message: "y y 1" }]);
	});

	test("keys that come together are text, also with Enter among them", () => {
		const { press, answers, timing } = open();
		press("y\rn\ry\r", 0);
		timing.pass(CALM);
		expect(answers).toEqual([]);
		press([ENTER]);
		expect(answers).toEqual([{ allowed: false, message: "y n y" }]);
	});

	test("Enter before the rest of a burst answers nothing, whatever is selected", () => {
		const { press, answers, timing } = open();
		press([DOWN]);
		press("\rrm it\r", 0);
		timing.pass(CALM);
		expect(answers).toEqual([]);
	});

	test("Escape closes the text first", () => {
		const { press, answers } = open();
		expect(press("wait")).toContain("> wait");
		expect(press([ESCAPE])).not.toContain("wait");
		expect(answers).toEqual([]);
		press([ESCAPE]);
		expect(answers).toEqual([{ allowed: false, isClosed: true }]);
	});

	test("a question without messages ignores text", () => {
		const { press, answers } = open({
			approval: { question: "Delete it?", subject: { kind: "text", text: "" }, yes: "Yes" },
		});
		press("yes do it", 100);
		press([paste("y")]);
		expect(answers).toEqual([]);
		press(["y"]);
		expect(answers).toEqual([{ allowed: true, choice: -1 }]);
	});
});

describe("time", () => {
	test.each([
		[PAUSE_MS - 1, []],
		[PAUSE_MS, [{ allowed: true, choice: -1 }]],
	])("a letter %d ms after the last key before the question", (ms, expected) => {
		const { press, timing, answers } = open({ lastKeyAgoMs: 0, isNew: true });
		timing.pass(ms);
		press(["y"]);
		expect(answers).toEqual(expected);
	});

	test.each([
		[ALONE_MS - 1, []],
		[ALONE_MS, [{ allowed: true, choice: -1 }]],
	])("a letter counts once no key has followed it for %d ms", (ms, expected) => {
		const { press, answers } = open();
		press(["y"], ms);
		expect(answers).toEqual(ms < ALONE_MS ? [] : expected);
	});

	test.each([
		["a letter", "y", PAUSE_MS],
		["Enter", ENTER, SHOWN_MS],
	])("%s (%j) counts once the question has been on the screen for %d ms", (_, key, ms) => {
		for (const [passed, count] of [
			[ms - 1, 0],
			[ms, 1],
		] as const) {
			const { press, timing, answers } = open({ isNew: true });
			timing.pass(passed);
			press([key]);
			expect(answers).toHaveLength(count);
		}
	});

	test.each([
		["y", [ENTER, ENTER]],
		["1", [ENTER, ENTER]],
		["yes", [ENTER]],
	])("%j, which an Enter too soon makes text, is not sent as a refusal", (text, enters) => {
		const { press, answers } = open();
		press(text, 100);
		press(enters.slice(1));
		expect(press([])).toContain(text === "yes" ? "No, and tell the model:" : "keys count after a pause");
		press([ENTER]);
		expect(press([])).toContain("→ n  No");
		expect(answers).toEqual([]);
	});
	test.each([0, ENTER_MS - 1])("Enter %d ms after an arrow key chooses nothing, and the question says so", (ms) => {
		const { dialog, press, timing, answers, draw } = open();
		dialog.handleInput(DOWN);
		timing.pass(ms);
		dialog.handleInput(ENTER);
		timing.pass(CALM);
		expect(answers).toEqual([]);
		expect(draw().join("\n")).toContain("keys count after a pause");
		press([ENTER]);
		expect(answers).toEqual([{ allowed: true, choice: -1 }]);
	});

	test("Enter right after an arrow key that selected nothing else counts", () => {
		const { press, answers } = open();
		press([UP], 10);
		press([ENTER]);
		expect(answers).toEqual([{ allowed: false }]);
	});

	test.each([ENTER_MS, 150, 400])("arrows and Enter count %d ms apart once the question has been read", (ms) => {
		const { press, answers } = open({ isNew: true, lastKeyAgoMs: 100 });
		expect(press([UP, UP], CALM)).toContain("→ n  No");
		press([DOWN, DOWN, UP, ENTER], ms);
		expect(answers).toEqual([{ allowed: true, choice: -1 }]);
	});

	test("time under another dialog does not count", () => {
		const { dialog, press, timing, answers } = open();
		timing.pass(CALM);
		dialog.focused = false;
		timing.pass(CALM);
		dialog.focused = true;
		press(["y", ENTER], 20);
		expect(answers).toEqual([]);
	});
});

describe("a question that does not fit", () => {
	test.each([DOWN, "y"])("does not allow before all of it was on the screen (%j)", (key) => {
		const { press, answers, draw } = open({ approval: LINES });
		const keys = key === DOWN ? [DOWN] : [];
		press(keys);
		const answer = key === DOWN ? ENTER : "y";
		const seen = new Set(draw());
		for (let pages = 0; answers.length === 0 && pages < 40; pages++) {
			press([answer]);
			for (const line of draw()) seen.add(line);
		}
		expect(answers).toEqual([{ allowed: true, choice: -1 }]);
		for (const line of lines(60).split("\n")) expect(seen).toContain(` ${line}`);
	});

	test("what is between its start and its end must have been on the screen", () => {
		const { press, answers } = open({ approval: LINES });
		expect(press([END])).toContain("line 60");
		expect(press(["y"])).not.toContain("line 60");
		expect(answers).toEqual([]);
	});

	test("page keys scroll it, and it can be refused at any time", () => {
		const { press, answers, draw } = open({ approval: LONG, width: 40 });
		expect(draw().join("\n")).toMatch(/lines 1–12 of \d+ · pageUp pageDown/);
		expect(press([PAGE_DOWN])).toMatch(/lines 12–23 of/);
		expect(press([PAGE_UP])).toMatch(/lines 1–12 of/);
		press(["n"]);
		expect(answers).toEqual([{ allowed: false }]);
	});

	test("a long question is scrolled, too", () => {
		const approval = { ...PUSH, question: lines(30) };
		const { press, answers, draw } = open({ approval });
		expect(draw().join("\n")).toContain(" line 1\n");
		press(["y"]);
		expect(answers).toEqual([]);
	});

	test.each([
		[10, 3],
		[10, 5],
	])("at %d columns and %d rows Escape refuses", (width, rows) => {
		const { press, answers, draw } = open({ width, rows });
		expect(draw().join("\n")).toContain("→ n  No");
		press([ESCAPE]);
		expect(answers).toEqual([{ allowed: false, isClosed: true }]);
	});
});
