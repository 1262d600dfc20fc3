import { expect, test } from "vitest";
import { startEditor } from "./editor-stage.js";

test.each([
	["shift+enter, modifyOtherKeys", "\x1b[27;2;13~"],
	["shift+enter, Kitty", "\x1b[13;2u"],
	["ctrl+j on a plain terminal", "\n"],
	["ctrl+j, modifyOtherKeys", "\x1b[27;5;106~"],
	["ctrl+j, Kitty", "\x1b[106;5u"],
	["a backslash and enter", "\\\r"],
])("%s starts a new line", async (_, keys) => {
	const { terminal, editor, submitted } = startEditor();
	await terminal.type("one");
	if (keys.startsWith("\\")) for (const key of keys) terminal.send(key);
	else terminal.send(keys);
	await terminal.type("two");
	expect([editor.getText(), submitted]).toEqual(["one\ntwo", []]);
});

test("words are killed and yanked, yank pop inserts the previous kill, and each step can be undone", async () => {
	const { terminal, editor } = startEditor();
	await terminal.type("alpha beta gamma");
	await terminal.press("ctrl+w", "left", "ctrl+u");
	expect(editor.getText()).toBe(" ");
	await terminal.press("ctrl+y");
	expect(editor.getText()).toBe("alpha beta ");
	terminal.send("\x1by");
	expect(editor.getText()).toBe("gamma ");
	const seen: string[] = [];
	for (let count = 0; count < 4; count++) {
		await terminal.press("ctrl+_");
		seen.push(editor.getText());
	}
	expect(seen).toEqual(["alpha beta ", " ", "alpha beta ", "alpha beta gamma"]);
});

test("alt with an arrow or a letter moves by words", async () => {
	const { terminal, editor } = startEditor();
	await terminal.type("alpha beta");
	const columns: number[] = [];
	for (const keys of ["\x1bb", "\x1b[1;3D", "\x1bf", "\x1b[1;5C"]) {
		terminal.send(keys);
		columns.push(editor.getCursor().col);
	}
	expect(columns).toEqual([6, 0, 5, 10]);
});

test("a paste of ten megabytes is shown as a mark, is cheap to draw, and is sent in full", async () => {
	const { terminal, editor, submitted } = startEditor();
	const pasted = `${"0123456789".repeat(100)}\n`.repeat(10_000);
	const written = terminal.output.length;
	await terminal.paste(pasted);
	expect(editor.getText()).toBe("[paste #1 +10000 lines]");
	await terminal.type(" count them");
	expect(terminal.output.length - written).toBeLessThan(20_000);
	await terminal.press("enter");
	expect(submitted).toEqual([`${pasted} count them`]);
});

test("an undone change can be redone until the text changes", async () => {
	const { terminal, editor } = startEditor();
	await terminal.type("alpha beta");
	await terminal.press("ctrl+w", "ctrl+w");
	const seen: string[] = [];
	const press = async (...keys: ("undo" | "redo")[]) => {
		for (const key of keys) {
			terminal.send(key === "undo" ? "\x1f" : "\x1bz");
			seen.push(editor.getText());
		}
	};
	await press("undo", "undo", "redo", "redo", "redo");
	expect(seen.splice(0)).toEqual(["alpha ", "alpha beta", "alpha ", "", ""]);
	await press("undo");
	await terminal.type("x");
	await press("redo");
	expect(seen).toEqual(["alpha ", "alpha x"]);
});
