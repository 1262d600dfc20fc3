import { visibleWidth } from "@mariozechner/pi-tui";
import { describe, expect, test } from "vitest";
import { createTheme } from "../../src/tui/theme.js";
import type { Approval, ApprovalAnswer } from "../../src/util/approval.js";
import {
	CALM,
	DOWN,
	EDIT,
	END,
	ENTER,
	ESCAPE,
	LINES,
	LONG,
	lines,
	openApproval,
	PAGE_DOWN,
	PAGE_UP,
	PUSH,
	paste,
	UP,
} from "./open-approval.js";

test.each([
	[80, 4],
	[20, 6],
])(
	"a window of %d × %d without room for question and answer asks for a larger one instead of an answer",
	(width, rows) => {
		const { press, answers, draw } = openApproval({ width, rows });
		expect(draw().join("\n")).toContain("→ n  No");
		expect(press([DOWN])).toMatch(/enlarge the\s+window/);
		expect(draw().join("\n")).not.toContain("Yes");
		press([ENTER]);
		expect(answers).toEqual([]);
		press([ESCAPE]);
		expect(answers).toEqual([{ allowed: false, isClosed: true }]);
	},
);

test("left and right move in the text for the model", () => {
	const { press, answers } = openApproval();
	press("use s");
	press(["\x1b[D", "l", "\x1b[C", ENTER]);
	expect(answers).toEqual([{ allowed: false, message: "use ls" }]);
});

describe("the screen", () => {
	test.each([40, 80, 120])("a command, a diff, a long text, a rule and a message at %d columns", async (width) => {
		const shown = [PUSH, EDIT, LONG].map((approval) => openApproval({ approval, width }).draw());
		const rule = openApproval({ width });
		rule.press([DOWN, DOWN, DOWN, ENTER]);
		const message = openApproval({ width });
		message.press("not on main");
		const frames = [...shown, rule.draw(), message.draw()].map((frame) => `${frame.join("\n")}\n`);
		await expect(frames.join("\n")).toMatchFileSnapshot(`../screens/approval-${width}.txt`);
	});

	test.each(["light", "high-contrast"] as const)("marks danger and changes in the theme %s", async (name) => {
		const theme = createTheme(name);
		const command = openApproval({ theme: name, width: 60 }).draw().join("\n");
		expect(command).toContain(`bash: ${theme.error("git push --force")} origin main`);
		const diff = openApproval({ approval: EDIT, theme: name, width: 60 }).draw().join("\n");
		expect(diff).toContain(theme.removed("- const tax = 0.19;"));
		expect(diff).toContain(theme.added("+ const tax = 0.07;"));
		await expect(`${command}\n${diff}\n`).toMatchFileSnapshot(`../screens/approval-${name}.txt`);
	});

	test("danger is marked across the rows of a long line, and not in other arguments", () => {
		const theme = createTheme("dark");
		const text = `echo ${"word ".repeat(12)}&& sudo rm -rf ${"deep/".repeat(12)}`;
		const approval: Approval = { ...PUSH, subject: { kind: "command", text, more: "note: sudo rm -rf /" } };
		const frame = openApproval({ approval, theme: "dark", width: 40 }).draw().join("\n");
		const marked = frame.split(theme.error("|").split("|")[0] ?? "").length - 1;
		expect(marked).toBeGreaterThan(0);
		expect(frame).toContain(" note: sudo rm -rf /");
	});

	test.each([1, 2, 3, 10, 40])("no line is wider than %d columns, at any height", (width) => {
		for (const rows of [1, 3, 5, 10, 24]) {
			for (const approval of [PUSH, EDIT, LONG, LINES]) {
				const { dialog, draw } = openApproval({ approval, width, rows });
				for (const line of dialog.render(width)) expect(visibleWidth(line)).toBeLessThanOrEqual(width);
				expect(draw().length).toBeLessThanOrEqual(Math.max(2, rows - 2));
			}
		}
	});

	test("invisible characters are shown by name in every part", () => {
		const text = "rm\u202e x\u200b\x1b[8m";
		const frame = openApproval({
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
		const { press, answers } = openApproval();
		press(keys);
		expect(answers).toEqual([answer]);
	});

	test("a rule that cannot be used is not accepted, and Escape goes back to the list", () => {
		const { press, answers } = openApproval();
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
		const { press, answers } = openApproval();
		press(keys);
		expect(answers).toEqual([answer]);
	});

	test("a sentence becomes the message, whatever letters it begins with", () => {
		for (const text of ["yes please run it no", "no, use the branch", "1 more test first", "y n 1"]) {
			const { press, answers } = openApproval();
			press(text, 100);
			press([ENTER]);
			expect(answers).toEqual([{ allowed: false, message: text }]);
		}
	});

	test("a paste becomes the message, whatever line breaks it has", () => {
		const { press, answers } = openApproval();
		press([paste("y\r\ny\n\n1\r")]);
		expect(answers).toEqual([]);
		press([ENTER]);
		expect(answers).toEqual([{ allowed: false, message: "y y 1" }]);
	});

	test("keys that come together are text, also with Enter among them", () => {
		const { press, answers, timing } = openApproval();
		press("y\rn\ry\r", 0);
		timing.pass(CALM);
		expect(answers).toEqual([]);
		press([ENTER]);
		expect(answers).toEqual([{ allowed: false, message: "y n y" }]);
	});

	test("Enter before the rest of a burst answers nothing, whatever is selected", () => {
		const { press, answers, timing } = openApproval();
		press([DOWN]);
		press("\rrm it\r", 0);
		timing.pass(CALM);
		expect(answers).toEqual([]);
	});

	test("Escape closes the text first", () => {
		const { press, answers } = openApproval();
		expect(press("wait")).toContain("> wait");
		expect(press([ESCAPE])).not.toContain("wait");
		expect(answers).toEqual([]);
		press([ESCAPE]);
		expect(answers).toEqual([{ allowed: false, isClosed: true }]);
	});

	test("a question without messages ignores text", () => {
		const { press, answers } = openApproval({
			approval: { question: "Delete it?", subject: { kind: "text", text: "" }, yes: "Yes" },
		});
		press("yes do it", 100);
		press([paste("y")]);
		expect(answers).toEqual([]);
		press(["y"]);
		expect(answers).toEqual([{ allowed: true, choice: -1 }]);
	});
});

describe("a question that does not fit", () => {
	test.each([DOWN, "y"])("does not allow before all of it was on the screen (%j)", (key) => {
		const { press, answers, draw } = openApproval({ approval: LINES });
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
		const { press, answers } = openApproval({ approval: LINES });
		expect(press([END])).toContain("line 60");
		expect(press(["y"])).not.toContain("line 60");
		expect(answers).toEqual([]);
	});

	test("page keys scroll it, and it can be refused at any time", () => {
		const { press, answers, draw } = openApproval({ approval: LONG, width: 40 });
		expect(draw().join("\n")).toMatch(/lines 1–12 of \d+ · pageUp pageDown/);
		expect(press([PAGE_DOWN])).toMatch(/lines 12–23 of/);
		expect(press([PAGE_UP])).toMatch(/lines 1–12 of/);
		press(["n"]);
		expect(answers).toEqual([{ allowed: false }]);
	});

	test("a long question is scrolled, too", () => {
		const approval = { ...PUSH, question: lines(30) };
		const { press, answers, draw } = openApproval({ approval });
		expect(draw().join("\n")).toContain(" line 1\n");
		press(["y"]);
		expect(answers).toEqual([]);
	});

	test.each([
		[10, 3],
		[10, 5],
	])("at %d columns and %d rows Escape refuses", (width, rows) => {
		const { press, answers, draw } = openApproval({ width, rows });
		expect(draw().join("\n")).toContain("→ n  No");
		press([ESCAPE]);
		expect(answers).toEqual([{ allowed: false, isClosed: true }]);
	});
});
