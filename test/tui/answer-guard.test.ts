import { describe, expect, test } from "vitest";
import { ALONE_MS, ENTER_MS, SHOWN_MS } from "../../src/tui/answer-guard.js";
import { PAUSE_MS } from "../../src/util/clock.js";
import { CALM, DOWN, ENTER, ESCAPE, LINES, openApproval, PAGE_DOWN, UP } from "./open-approval.js";

describe("keys that walk through the history as the question opens", () => {
	const walk = [DOWN, DOWN, DOWN, UP, UP];

	test.each([100, 300, 400, PAUSE_MS - 1])("select nothing, %d ms apart", (ms) => {
		const { press, answers } = openApproval({ isNew: true, lastKeyAgoMs: ms });
		expect(press(walk, ms)).toContain("→ n  No");
		expect(press([], 0)).toContain("keys count after a pause");
		press([ENTER]);
		expect(answers).toEqual([{ allowed: false }]);
	});

	test("select nothing if the first is pressed before anyone can react", () => {
		const { press, timing } = openApproval({ isNew: true });
		timing.pass(PAUSE_MS - 1);
		expect(press(walk, 400)).toContain("→ n  No");
	});

	test("count after a pause, and from then on at any speed", () => {
		const { press, answers, timing } = openApproval({ isNew: true, lastKeyAgoMs: 100 });
		press([DOWN], PAUSE_MS);
		expect(press(walk, 50)).toContain("→ y  Yes, once");
		timing.pass(SHOWN_MS);
		press([ENTER]);
		expect(answers).toEqual([{ allowed: true, choice: -1 }]);
	});

	test("select nothing if a dialog that covered the question got the first of them", () => {
		const { press, timing, cover } = openApproval();
		cover();
		timing.pass(PAUSE_MS - 1);
		expect(press(walk, 400)).toContain("→ n  No");
	});

	test("scroll and close at once", () => {
		const { press, answers } = openApproval({ approval: LINES, isNew: true, lastKeyAgoMs: 100 });
		expect(press([PAGE_DOWN, PAGE_DOWN], 100)).not.toContain("line 1\n");
		press([ESCAPE]);
		expect(answers).toEqual([{ allowed: false, isClosed: true }]);
	});
});

test("a question that was covered has its refusal selected when it comes back", () => {
	const { press, dialog, draw } = openApproval();
	expect(press([DOWN])).toContain("→ y  Yes, once");
	dialog.focused = false;
	dialog.focused = true;
	expect(draw().join("\n")).toContain("→ n  No");
	expect(press([DOWN, DOWN, DOWN, ENTER])).toContain("git push *");
	dialog.focused = false;
	dialog.focused = true;
	expect(draw().join("\n")).toContain("→ n  No");
});

test("a key that repeats, as one that is held down since before the question, allows nothing", () => {
	const { press, answers } = openApproval();
	press(["\x1b[121;1:2u", "\x1b[49;1:2u"]);
	expect(answers).toEqual([]);
});

describe("time", () => {
	test.each([
		[PAUSE_MS - 1, []],
		[PAUSE_MS, [{ allowed: true, choice: -1 }]],
	])("a letter %d ms after the last key before the question", (ms, expected) => {
		const { press, timing, answers } = openApproval({ lastKeyAgoMs: 0, isNew: true });
		timing.pass(ms);
		press(["y"]);
		expect(answers).toEqual(expected);
	});

	test.each([
		[ALONE_MS - 1, []],
		[ALONE_MS, [{ allowed: true, choice: -1 }]],
	])("a letter counts once no key has followed it for %d ms", (ms, expected) => {
		const { press, answers } = openApproval();
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
			const { press, timing, answers } = openApproval({ isNew: true });
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
		const { press, answers } = openApproval();
		press(text, 100);
		press(enters.slice(1));
		expect(press([])).toContain(text === "yes" ? "No, and tell the model:" : "keys count after a pause");
		press([ENTER]);
		expect(press([])).toContain("→ n  No");
		expect(answers).toEqual([]);
	});
	test.each([0, ENTER_MS - 1])("Enter %d ms after an arrow key chooses nothing, and the question says so", (ms) => {
		const { dialog, press, timing, answers, draw } = openApproval();
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
		const { press, answers } = openApproval();
		press([UP], 10);
		press([ENTER]);
		expect(answers).toEqual([{ allowed: false }]);
	});

	test.each([ENTER_MS, 150, 400])("arrows and Enter count %d ms apart once the question has been read", (ms) => {
		const { press, answers } = openApproval({ isNew: true, lastKeyAgoMs: 100 });
		expect(press([UP, UP], CALM)).toContain("→ n  No");
		press([DOWN, DOWN, UP, ENTER], ms);
		expect(answers).toEqual([{ allowed: true, choice: -1 }]);
	});

	test("time under another dialog does not count", () => {
		const { dialog, press, timing, answers } = openApproval();
		timing.pass(CALM);
		dialog.focused = false;
		timing.pass(CALM);
		dialog.focused = true;
		press(["y", ENTER], 20);
		expect(answers).toEqual([]);
	});
});
