import { expect, test } from "vitest";
import { createKeymap } from "../../../src/tui/keymap.js";
import type { CursorShape } from "../../../src/tui/terminal-window.js";
import { createTheme } from "../../../src/tui/theme.js";
import { VimEditor } from "../../../src/tui/vim/vim-editor.js";
import { startEditor } from "../editor-stage.js";

const ESCAPE = "\x1b";

/** An editor with the keys of vim, and what the keys showed and copied. */
function startVim(hasShapes = true) {
	const stage = startEditor();
	const shapes: (CursorShape | null)[] = [];
	const copied: string[] = [];
	stage.editor.vim = new VimEditor(stage.editor, {
		keymap: createKeymap(),
		theme: createTheme("plain"),
		copy: (text) => copied.push(text),
		onCursor: (shape) => shapes.push(shape),
		hasShapes,
	});
	const press = (...keys: string[]) => {
		for (const key of keys)
			for (const data of key.startsWith(ESCAPE) ? [key] : [...key]) stage.editor.handleInput(data);
	};
	return { ...stage, shapes, copied, press };
}

test("a folded paste is one character: no command cuts it, and it is sent in full", () => {
	const { editor, press, submitted } = startVim();
	const pasted = Array.from({ length: 12 }, (_, index) => `line ${index}`).join("\n");
	press("see ");
	editor.handleInput(`\x1b[200~${pasted}\x1b[201~`);
	press(" end", ESCAPE, "0w");
	expect(editor.getCursor()).toEqual({ line: 0, col: 4 });
	press("x");
	expect(editor.getText()).toBe("see  end");
	press("u~rau");
	expect(editor.getText()).toBe("see [paste #1 +12 lines] end");
	press("\r");
	expect(submitted).toEqual([`see ${pasted} end`]);
});

test("a register keeps the text of a folded paste after the prompt was sent", () => {
	const { editor, press, submitted } = startVim();
	const pasted = Array.from({ length: 12 }, (_, index) => `line ${index}`).join("\n");
	editor.handleInput(`\x1b[200~${pasted}\x1b[201~`);
	press(ESCAPE, "yy", "\r", ESCAPE, "P", "\r");
	expect(submitted).toEqual([pasted, pasted]);
});

test("a prompt begins in insert mode; j and k step through the history", () => {
	const { editor, press, submitted } = startVim();
	press("one", ESCAPE, "\r", "two\x1b", "\r");
	press("two", ESCAPE, "\r");
	expect(submitted.slice(0, 1)).toEqual(["one"]);
	press("draft", ESCAPE, "k");
	expect(editor.getText()).toBe(submitted.at(-1));
	press("kk");
	expect(editor.getText()).toBe("one");
	press("jjj");
	expect(editor.getText()).toBe("draft");
});

test("completions are offered in insert mode only, and Escape closes them first", () => {
	const { editor, press } = startVim();
	press("/po");
	expect(editor.isShowingAutocomplete()).toBe(true);
	press(ESCAPE);
	expect(editor.isShowingAutocomplete()).toBe(false);
	expect(editor.vim?.isInserting).toBe(true);
	press(ESCAPE, "x");
	expect([editor.vim?.isInserting, editor.getText(), editor.isShowingAutocomplete()]).toEqual([false, "/p", false]);
});

test("the cursor is a bar in insert mode and drawn as a block in normal mode", () => {
	const { shapes, press } = startVim();
	press(ESCAPE, "R", ESCAPE, "i");
	expect(shapes).toEqual(["bar", null, "underline", null, "bar"]);
	expect(startVim(false).shapes).toEqual([null]);
});

test('the registers "+ and "* copy to the clipboard', () => {
	const { press, copied } = startVim();
	press("one two", ESCAPE, '0"+yw', '"*yy');
	expect(copied).toEqual(["one ", "one two"]);
});

test("Ctrl+O in insert mode runs one command, and Ctrl+R in normal mode redoes", () => {
	const { editor, press } = startVim();
	press("one two", "\x0f", "b", "x");
	expect(editor.getText()).toBe("one xtwo");
	press(ESCAPE, "dd", "u", "\x12");
	expect(editor.getText()).toBe("");
});

test("a paste in normal mode is inserted, and one in visual mode ends the selection", () => {
	const { editor, press } = startVim();
	press("one", ESCAPE, "v");
	editor.handleInput("\x1b[200~new\x1b[201~");
	press("x");
	expect([editor.getText(), editor.vim?.isInserting]).toEqual(["onnew", false]);
});
