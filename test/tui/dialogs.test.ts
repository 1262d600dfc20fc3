import { visibleWidth } from "@mariozechner/pi-tui";
import { describe, expect, test } from "vitest";
import { ApprovalDialog } from "../../src/tui/approval-dialog.js";
import { InputDialog } from "../../src/tui/input-dialog.js";
import { createKeymap } from "../../src/tui/keymap.js";
import { SelectDialog, type SelectItem } from "../../src/tui/select-dialog.js";
import { createTheme } from "../../src/tui/theme.js";
import type { Approval } from "../../src/util/approval.js";

const look = { theme: createTheme("plain"), keymap: createKeymap(), rows: () => 24 };
const DOWN = "\x1b[B";
const UP = "\x1b[A";
const PAGE_DOWN = "\x1b[6~";

const turns = [
	{ label: "3  why does checkout round down?", value: 3, description: "9 messages  14.2k" },
	{ label: "2  add the coupon field", value: 2, description: "22 messages  31.0k" },
	{ label: "1  what is this project?", value: 1, description: "4 messages  3.1k" },
];

function select<T>(title: string, items: readonly SelectItem<T>[], selected?: number) {
	const chosen: unknown[] = [];
	const dialog = new SelectDialog(look, {
		title,
		items,
		selected,
		onSelect: (value) => chosen.push(value),
		onCancel: () => chosen.push("canceled"),
	});
	const send = (...keys: string[]) => {
		for (const key of keys) dialog.handleInput(key);
	};
	return { dialog, chosen, send };
}

test("a select dialog shows title, count, right-aligned descriptions and keys", () => {
	const { dialog } = select("Pop to which turn?", turns);
	expect(dialog.render(70)).toEqual([
		"─".repeat(70),
		" Pop to which turn?                               type to filter  1/3 ",
		" → 3  why does checkout round down?                 9 messages  14.2k",
		"   2  add the coupon field                         22 messages  31.0k",
		"   1  what is this project?                          4 messages  3.1k",
		" enter select · esc cancel",
	]);
});

test("typing filters the list, backspace widens it again, enter chooses the best match", () => {
	const { dialog, chosen, send } = select("Which?", turns);
	send(..."coupon");
	expect(dialog.render(60).slice(1, 4)).toEqual([
		" Which?                                         coupon  1/1 ",
		" → 2  add the coupon field               22 messages  31.0k",
		" enter select · esc cancel",
	]);
	send("\r", ..."zzz");
	expect(dialog.render(60)[2]).toBe("   nothing matches");
	send("\r", "\x15");
	expect(dialog.render(60)).toHaveLength(6);
	send(DOWN, "\r", "\x1b");
	expect(chosen).toEqual([2, 2, "canceled"]);
});

test.each([
	[1, 2],
	[-1, 3],
	[7, 1],
	[Number.NaN, 3],
])("with initial index %d the nearest existing item is selected", (selected, value) => {
	const { chosen, send } = select("Which?", turns, selected);
	send("\r");
	expect(chosen).toEqual([value]);
});

test("arrows wrap around at the ends, page keys stop there, and long lists scroll", () => {
	const items = Array.from({ length: 50 }, (_, index) => ({ label: `item ${index}`, value: index }));
	const { dialog, chosen, send } = select("Which?", items);
	send(UP, "\r", DOWN, "\r", PAGE_DOWN, "\r", "\x1b[F", PAGE_DOWN, "\r");
	expect(chosen).toEqual([49, 0, 7, 49]);
	expect(dialog.render(40)).toHaveLength(1 + 1 + 8 + 1);
	expect(dialog.render(40).at(-2)).toBe(" → item 49");
});

test("no line is wider than a narrow screen, and invisible characters are shown by name", () => {
	const hostile = [{ label: "rm -rf /\u202egpj.\u200bx\x1b[8m\nsecond line", value: 1, description: "d\x1b]0;t\x07" }];
	for (const width of [1, 2, 5, 12, 40, 80]) {
		const dialogs = [
			select("A long title that does not fit anywhere", [...hostile, ...hostile]).dialog,
			new ApprovalDialog(
				look,
				{
					question: hostile[0]?.label ?? "",
					subject: { kind: "text", text: `${hostile[0]?.label}\n`.repeat(40) },
				},
				() => {},
			),
			new InputDialog(look, { title: "Your key", placeholder: hostile[0]?.label, masked: true }, () => {}),
		];
		for (const dialog of dialogs) {
			for (const line of dialog.render(width)) {
				expect(visibleWidth(line)).toBeLessThanOrEqual(width);
				expect(line.replace(/\x1b\[7m|\x1b\[27m|\x1b\[0m/g, "")).not.toMatch(/[\x00-\x1f\u202e\u200b]/);
			}
		}
	}
	expect(select("t", hostile).dialog.render(80)[2]).toContain("‹U+202E›gpj.‹U+200B›x␛[8m ↵ second line");
});

test("an input dialog returns the typed text, or null when canceled", () => {
	const answers: (string | null)[] = [];
	const dialog = new InputDialog(look, { title: "Name?", placeholder: "my-hook" }, (answer) => answers.push(answer));
	expect(dialog.render(30)[2]).toContain("my-hook");
	for (const key of ["a", " ", "b", "\r", "\x1b"]) dialog.handleInput(key);
	expect(answers).toEqual(["a b", null]);
	expect(dialog.render(30)[2]).toContain("a b");
});

test("typing continues after the initial value", () => {
	const answers: (string | null)[] = [];
	const dialog = new InputDialog(look, { title: "Name?", value: "my hook" }, (answer) => answers.push(answer));
	for (const key of ["s", "\r"]) dialog.handleInput(key);
	expect(answers).toEqual(["my hooks"]);
});

test("enter returns the initial value as it is, but with control characters visible and on one line", () => {
	const answers: (string | null)[] = [];
	const long = `👩‍💻 ${"x".repeat(2_000)}`;
	for (const value of [long, "two\n  lines\tand a tab", "a\x1b[201~b\u202ec"]) {
		new InputDialog(look, { title: "Name?", value }, (answer) => answers.push(answer)).handleInput("\r");
	}
	expect(answers).toEqual([long, "two lines and a tab", "a␛[201~b‹U+202E›c"]);
});

test("a masked input shows dots and returns the text", () => {
	const answers: (string | null)[] = [];
	const dialog = new InputDialog(look, { title: "Key", masked: true }, (answer) => answers.push(answer));
	for (const key of ["s", "e", "c", "\x1b[200~ret\x1b[201~", "\r"]) dialog.handleInput(key);
	expect(answers).toEqual(["secret"]);
	expect(dialog.render(30)[2]).toBe(" > ••••••\x1b[7m \x1b[27m");
});

describe("a title that is too long for the row", () => {
	const TITLE = "stacking asks: Delete the branch of the last release?";
	const rows = (dialog: { render(width: number): string[] }, width: number) =>
		dialog.render(width).map((row) => row.trimEnd());

	test.each([
		[40, [" stacking asks: Delete the branch of", " the last release?"]],
		[80, [` ${TITLE}`]],
		[120, [` ${TITLE}`]],
	])("is wrapped by confirm and input at %d columns", (width, lines) => {
		const approval: Approval = { question: TITLE, subject: { kind: "text", text: "" } };
		for (const dialog of [
			new ApprovalDialog(look, approval, () => {}),
			new InputDialog(look, { title: TITLE }, () => {}),
		]) {
			expect(rows(dialog, width).slice(1, 1 + lines.length)).toEqual(lines);
		}
	});

	test("is wrapped by select, and typing a filter moves no row", () => {
		const { dialog, send } = select(TITLE, turns);
		const title = [" stacking asks: Delete the branch of", " the last release?"];
		expect(rows(dialog, 40).slice(1, 4)).toEqual([...title, `${" ".repeat(20)}type to filter  1/3`]);
		send(..."coupon");
		expect(rows(dialog, 40).slice(1, 4)).toEqual([...title, `${" ".repeat(28)}coupon  1/1`]);
	});

	test("ends after four rows", () => {
		const dialog = new InputDialog(look, { title: "word ".repeat(500) }, () => {});
		expect(dialog.render(40)).toHaveLength(1 + 4 + 1 + 1);
		expect(rows(dialog, 40)[4]).toMatch(/word…$/);
	});
});
