import { expect, test } from "vitest";
import { startEditor } from "./editor-stage.js";

const LINES = Array.from({ length: 30 }, (_, index) => `line ${index}`).join("\n");

test("up shows earlier prompts, down returns to the draft", async () => {
	const { terminal, editor } = startEditor();
	for (const text of ["one", "two"]) {
		await terminal.type(text);
		await terminal.press("enter");
	}
	await terminal.type("a draft");
	const seen: string[] = [];
	for (const key of ["up", "up", "up", "down", "down", "down"] as const) {
		await terminal.press(key);
		seen.push(editor.getText());
	}
	expect(seen).toEqual(["two", "one", "one", "two", "a draft", "a draft"]);
});

test("in a text of several rows the arrows move the cursor up to the first or last row", async () => {
	const { terminal, editor } = startEditor({ columns: 20 });
	await terminal.type("sent");
	await terminal.press("enter");
	await terminal.type("words that wrap twice over");
	await terminal.press("up");
	expect(editor.getText()).toBe("words that wrap twice over");
	await terminal.press("up");
	expect(editor.getText()).toBe("sent");
	await terminal.press("down");
	expect(editor.getText()).toBe("words that wrap twice over");
});

test("up continues in the history after a long prompt until a key moves the cursor", async () => {
	const { terminal, editor } = startEditor({ earlierPrompts: async () => ["newer", LINES, "older"] });
	await terminal.press("up", "up");
	expect(editor.getText()).toBe(LINES);
	await terminal.press("up");
	expect(editor.getText()).toBe("older");
	await terminal.press("down", "left", "up");
	expect(editor.getText()).toBe(LINES);
	await terminal.type("x");
	expect(editor.getText()).toContain("line 2x8");
});

test("a recalled prompt that is edited becomes the draft", async () => {
	const { terminal, editor } = startEditor();
	for (const text of ["one", "two"]) {
		await terminal.type(text);
		await terminal.press("enter");
	}
	await terminal.press("up");
	await terminal.type(" changed");
	await terminal.press("up");
	expect(editor.getText()).toBe("two");
	await terminal.press("down");
	expect(editor.getText()).toBe("two changed");
});

test("prompts of earlier sessions come after those of this one and are loaded once, on first use", async () => {
	let asked = 0;
	const earlierPrompts = async () => {
		asked++;
		return ["earlier two", "now", "earlier one"];
	};
	const { terminal, editor } = startEditor({ earlierPrompts });
	await terminal.type("now");
	await terminal.press("enter");
	expect(asked).toBe(0);
	const seen: string[] = [];
	for (const key of ["up", "up", "up"] as const) {
		await terminal.press(key);
		seen.push(editor.getText());
	}
	expect(seen).toEqual(["now", "earlier two", "earlier one"]);
	expect(asked).toBe(1);
});

test("the first up shows an earlier prompt when it is loaded, unless the user has typed meanwhile", async () => {
	let find = (_: string[]) => {};
	const found = new Promise<string[]>((resolve) => {
		find = resolve;
	});
	const { terminal, editor } = startEditor({ earlierPrompts: () => found });
	await terminal.press("up");
	const other = startEditor({ earlierPrompts: () => found });
	await other.terminal.press("up");
	await other.terminal.type("typed");
	find(["an earlier prompt"]);
	await terminal.waitFor("an earlier prompt");
	expect([editor.getText(), other.editor.getText()]).toEqual(["an earlier prompt", "typed"]);
});

test("earlier prompts that are not available yet are requested again", async () => {
	const answers: (string[] | null)[] = [["an earlier prompt"], null];
	const { terminal } = startEditor({ earlierPrompts: async () => answers.pop() ?? null });
	await terminal.press("up", "up");
	await terminal.waitFor("an earlier prompt");
});

test("a recalled command opens no palette, so the arrows keep browsing the history", async () => {
	const { terminal, editor, popup } = startEditor();
	for (const text of ["first", "/pop 3"]) {
		await terminal.type(text);
		await terminal.press("enter");
	}
	await terminal.press("up");
	expect(await popup()).toEqual([]);
	await terminal.press("up");
	expect(editor.getText()).toBe("first");
});

test("a paste is folded into a mark that survives the history, a draft and undo, and is sent in full", async () => {
	const { terminal, editor, submitted } = startEditor();
	await terminal.type("see ");
	await terminal.paste(LINES);
	expect(editor.getText()).toBe("see [paste #1 +30 lines]");
	await terminal.press("enter");
	await terminal.paste("x".repeat(1500));
	await terminal.press("up");
	expect(editor.getText()).toBe("see [paste #2 +30 lines]");
	expect(editor.getExpandedText()).toBe(`see ${LINES}`);
	await terminal.press("down");
	expect(editor.getExpandedText()).toBe("x".repeat(1500));
	await terminal.press("backspace");
	expect(editor.getText()).toBe("");
	await terminal.press("ctrl+_");
	expect(editor.getExpandedText()).toBe("x".repeat(1500));
	await terminal.press("enter");
	expect(submitted).toEqual([`see ${LINES}`, "x".repeat(1500)]);
});

test("a mark that was typed or is part of a paste is text", async () => {
	const { terminal, editor } = startEditor();
	await terminal.type("[paste #1 +30 lines] ");
	await terminal.paste(`[paste #1 +30 lines]${"y".repeat(1200)}`);
	expect(editor.getText()).toBe("[paste #1 +30 lines] [paste #1 1220 chars]");
	await terminal.paste(LINES);
	expect(editor.getExpandedText()).toContain(`[paste #1 +30 lines]${"y".repeat(1200)}${LINES}`);
});

test("a paste does not get a number that would turn typed text into its mark", async () => {
	const { terminal, editor } = startEditor();
	await terminal.type("not [paste #1 +30 lines] but ");
	await terminal.paste(LINES);
	expect(editor.getText()).toBe("not [paste #1 +30 lines] but [paste #2 +30 lines]");
	expect(editor.getExpandedText()).toBe(`not [paste #1 +30 lines] but ${LINES}`);
});

test("text that would slow down the editor is folded, wherever it comes from", () => {
	const { editor } = startEditor();
	const wide = "z".repeat(5000);
	editor.setText(wide);
	expect([editor.getText(), editor.getExpandedText()]).toEqual(["[paste #1 5000 chars]", wide]);
	editor.putBack("short");
	expect([editor.getText(), editor.getExpandedText()]).toEqual(["short\n\n[paste #1 5000 chars]", `short\n\n${wide}`]);
	editor.putBack(LINES.repeat(100));
	expect(editor.getText()).toMatch(/^\[paste #\d \+\d+ lines]$/);
	expect(editor.getExpandedText()).toBe(`${LINES.repeat(100)}\n\nshort\n\n${wide}`);
});

test("control characters in a paste are visible in every encoding", async () => {
	const { terminal, editor } = startEditor();
	await terminal.paste("a\x1b[106;5ub\x1b[103;5u\x07\r\nc\x1b[2J\td");
	expect(editor.getText()).toBe("a\nb^G^G\nc␛[2J\td");
});
