import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createLocalMachine } from "../../src/tools/machine/local-machine.js";
import { createCompletion } from "../../src/tui/completion.js";
import { createKeymap } from "../../src/tui/keymap.js";
import { LiveTUI } from "../../src/tui/live-tui.js";
import { PromptEditor } from "../../src/tui/prompt-editor.js";
import { createTheme } from "../../src/tui/theme.js";
import { tempDir } from "../helpers/temp.js";
import { VirtualTerminal } from "../helpers/virtual-terminal.js";

const PALETTE = [
	{ name: "prompts", description: "Insert a prompt template", origin: "built-in" },
	{
		name: "pop",
		argumentHint: "[turn]",
		description: "Pop to a previous turn, summarizing the work",
		origin: "hook stack",
	},
	{ name: "export", argumentHint: "[file]", description: "Write the session as HTML", origin: "built-in" },
	{ name: "help", description: "List commands\u202e", origin: "built-in" },
];
const TURNS = [
	{ value: "1", description: "what is this project?" },
	{ value: "12", description: "now the tax code" },
];

function start({ columns = 80, files = [] as readonly string[], cwd = "/", palette = PALETTE } = {}) {
	const terminal = new VirtualTerminal(columns, 24);
	const tui = new LiveTUI(terminal);
	const submitted: string[] = [];
	const followUps: string[] = [];
	const completion = createCompletion({
		folders: () => createLocalMachine(cwd),
		palette: () => palette,
		completeArguments: async (name, prefix) => {
			if (name === "help") await new Promise(() => {});
			return name === "pop" ? TURNS.filter(({ value }) => value.startsWith(prefix)) : [];
		},
		listFiles: async (onFile) => {
			for (const file of files) onFile(file);
		},
	});
	const editor = new PromptEditor(tui, { theme: createTheme("plain"), keymap: createKeymap(), completion });
	editor.onSubmit = (text) => submitted.push(text);
	editor.onFollowUp = (text) => followUps.push(text);
	tui.addChild(editor);
	tui.setFocus(editor);
	tui.start();
	onTestFinished(() => tui.stop());
	return { terminal, editor, submitted, followUps, rows: async () => (await terminal.screen()).slice(3) };
}

test("the palette ranks commands, shows hint, description and origin, and selects the first", async () => {
	const { terminal, rows } = start();
	await terminal.type("/po");
	expect(await rows()).toEqual([
		" → /pop [turn]     Pop to a previous turn, summarizing the work      hook stack",
		"   /prompts        Insert a prompt template                            built-in",
		"   /export [file]  Write the session as HTML                           built-in",
	]);
});

test("at 40 columns the origin is omitted first; invisible characters are shown", async () => {
	const { terminal, rows } = start({ columns: 40 });
	await terminal.type("/");
	expect(await rows()).toEqual([
		" → /prompts        Insert a prompt tem…",
		"   /pop [turn]     Pop to a previous t…",
		"   /export [file]  Write the session a…",
		"   /help           List commands‹U+202…",
	]);
});

test("enter runs the selected command, tab completes it and leaves the usage in view", async () => {
	const { terminal, editor, submitted, rows } = start();
	await terminal.type("/po");
	await terminal.press("enter");
	expect(submitted).toEqual(["/pop"]);
	expect(await rows()).toEqual([]);
	await terminal.type("/po");
	await terminal.press("tab");
	expect(editor.getText()).toBe("/pop ");
	expect(await rows()).toEqual([
		"   /pop [turn]  Pop to a previous turn, summarizing the work",
		"   1   what is this project?",
		"   12  now the tax code",
	]);
	await terminal.press("down", "down", "enter");
	expect(submitted).toEqual(["/pop", "/pop 12"]);
});

test.each(["/pop ", "/pop 1", "/pop 120", "/pop w"])("enter submits the argument of %j as typed", async (text) => {
	const { terminal, submitted } = start();
	await terminal.type(text);
	await terminal.press("enter");
	expect(submitted).toEqual([text.trim()]);
});

test.each([
	[["down", "down", "enter"], "/pop 12"],
	[["up", "enter"], "/pop 12"],
	[["down", "up", "enter"], "/pop 12"],
	[["tab", "enter"], "/pop 1"],
	[["down", "down", "1", "enter"], "/pop 1"],
] as const)("the keys %j behind a command submit %j", async (keys, expected) => {
	const { terminal, submitted } = start();
	await terminal.type("/pop ");
	for (const key of keys) await (key === "1" ? terminal.type(key) : terminal.press(key));
	expect(submitted).toEqual([expected]);
});

test("a command chosen with the arrows is submitted although another one is completely typed", async () => {
	const palette = ["help", "help-me"].map((name) => ({ name, description: "", origin: "built-in" }));
	const { terminal, submitted } = start({ palette });
	await terminal.type("/help");
	await terminal.press("down", "enter");
	expect(submitted).toEqual(["/help-me"]);
});

test("arguments typed before their completions arrive are kept", async () => {
	const { terminal, submitted, rows } = start();
	for (const key of "/help me now") terminal.send(key);
	expect(await rows()).toEqual([]);
	terminal.send("\r");
	for (const key of "/pop 1") terminal.send(key);
	terminal.send("\r");
	expect(submitted).toEqual(["/help me now", "/pop 1"]);
	await terminal.settle();
});

test("rows that still match remain while new completions are loading", async () => {
	const { terminal, submitted, rows } = start();
	await terminal.type("/help");
	await terminal.type(" ");
	expect(await rows()).toEqual([expect.stringMatching(/^ → \/help {2}List commands/)]);
	await terminal.press("enter");
	expect(submitted).toEqual(["/help"]);
});

test("escape closes only the popup; the text remains", async () => {
	const { terminal, editor, rows } = start();
	const keys: string[] = [];
	editor.onKey = (data) => {
		keys.push(data);
		return false;
	};
	await terminal.type("/ex");
	await terminal.press("escape");
	expect(await rows()).toEqual([]);
	expect(editor.getText()).toBe("/ex");
	expect(keys).not.toContain("\x1b");
	await terminal.press("escape");
	expect(keys).toContain("\x1b");
});

test("@ finds files by letters in order and quotes names with spaces", async () => {
	const { terminal, editor, rows } = start({
		files: ["src/price.ts", "src/print/index.ts", "docs/my notes.md", "test/price.test.ts"],
	});
	await terminal.type("look at @prts");
	await terminal.waitFor("price.test.ts");
	expect((await rows())[0]).toBe(" → src/price.ts");
	await terminal.press("enter");
	expect(editor.getText()).toBe("look at @src/price.ts ");
	await terminal.type("and @notes");
	await terminal.waitFor("my notes.md");
	await terminal.press("tab");
	expect(editor.getText()).toBe('look at @src/price.ts and @"docs/my notes.md" ');
	expect(await rows()).toEqual([]);
});

test.each([
	["x @main.ts", ["   main.ts", "   domain.ts"]],
	["x @src/", ["   src/c.md"]],
	["x @src", ["   src/", "   src.md", "   src/c.md"]],
	["x @./main.ts", []],
	["x @./src/", ["   c.md"]],
	["x @.hidden.ts", []],
	['x @"a b.ts', ["   a b.ts", "   a b.tsx"]],
])("%s names a file or folder completely: enter sends the text as typed", async (text, offered) => {
	const cwd = tempDir();
	mkdirSync(join(cwd, "src"));
	const files = ["domain.ts", "main.ts", "src.md", "src/c.md", "a b.ts", "a b.tsx"];
	for (const file of [...files, ".hidden.ts"]) writeFileSync(join(cwd, file), "");
	const { terminal, rows, submitted } = start({ cwd, files });
	await terminal.type(text);
	await expect.poll(rows).toEqual(offered);
	await terminal.press("enter");
	expect(submitted).toEqual([text]);
});

test("the list of another file is chosen from with the arrows, and tab accepts the typed one", async () => {
	const cwd = tempDir();
	for (const file of ["domain.ts", "main.ts"]) writeFileSync(join(cwd, file), "");
	const { terminal, editor, rows } = start({ cwd, files: ["domain.ts", "main.ts"] });
	await terminal.type("@main.ts");
	await expect.poll(rows).toEqual(["   main.ts", "   domain.ts"]);
	await terminal.press("tab");
	expect(editor.getText()).toBe("@main.ts ");
	await terminal.press("backspace");
	await expect.poll(rows).toEqual(["   main.ts", "   domain.ts"]);
	await terminal.press("down", "down", "enter");
	expect(editor.getText()).toBe("@domain.ts ");
});

test("@ marks an emoji of a name as a whole", async () => {
	const { terminal } = start({ files: ["😀.md", "src/a😁/😀.md"] });
	await terminal.type("@😀");
	await terminal.waitFor("😀.md");
	expect(terminal.output.isWellFormed()).toBe(true);
	await terminal.press("enter");
	expect(await terminal.text()).toContain("@😀.md");
});

test("a file is completed in the middle of a text", async () => {
	const { terminal, editor } = start({ files: ["src/price.ts"] });
	await terminal.type("see  please");
	await terminal.press("left", "left", "left", "left", "left", "left", "left");
	await terminal.type("@pri");
	await terminal.waitFor("src/price.ts");
	await terminal.press("enter");
	expect(editor.getText()).toBe("see @src/price.ts  please");
});

test("tab completes paths and enters folders", async () => {
	const cwd = mkdtempSync(join(tmpdir(), "pi-completion-"));
	onTestFinished(() => rmSync(cwd, { recursive: true }));
	mkdirSync(join(cwd, "sources"));
	for (const file of ["one.ts", "two.ts", "a b.ts", ".hidden"]) writeFileSync(join(cwd, "sources", file), "");
	const { terminal, editor, rows } = start({ cwd });
	await terminal.type("see so");
	await terminal.press("tab");
	await terminal.waitFor("one.ts");
	expect(editor.getText()).toBe("see sources/");
	expect(await rows()).toEqual([" → a b.ts", "   one.ts", "   two.ts"]);
	await terminal.press("down", "tab");
	expect(editor.getText()).toBe("see sources/one.ts ");
	await terminal.type("sources/a");
	await terminal.press("tab");
	await terminal.waitFor("a b.ts");
	expect(editor.getText()).toBe('see sources/one.ts "sources/a b.ts" ');
});

test("a list of 200 000 files does not delay a key", async () => {
	const files = Array.from({ length: 200_000 }, (_, index) => `packages/part${index % 977}/source/file${index}.ts`);
	const { terminal, rows } = start({ files: [...files, "packages/needle/here.ts"] });
	await terminal.type("@needlehere");
	await terminal.waitFor((screen) => screen[3] === " → packages/needle/here.ts");
	expect(await rows()).toHaveLength(1);
});

test("alt+enter submits a follow-up and empties the editor; enter submits pastes in full", async () => {
	const { terminal, editor, submitted, followUps } = start();
	await terminal.type("then commit");
	await terminal.press("alt+enter");
	expect(followUps).toEqual(["then commit"]);
	expect(editor.getText()).toBe("");
	const pasted = Array.from({ length: 30 }, (_, index) => `line ${index}`).join("\n");
	await terminal.paste(pasted);
	expect(editor.getText()).toContain("[paste #1");
	await terminal.press("enter");
	expect(submitted).toEqual([pasted]);
});

test("text that is put back comes before the draft", async () => {
	const { terminal, editor } = start();
	await terminal.type("draft");
	editor.putBack("queued one\n\nqueued two");
	expect(editor.getText()).toBe("queued one\n\nqueued two\n\ndraft");
	expect(editor.takeText()).toBe("queued one\n\nqueued two\n\ndraft");
	editor.putBack("again");
	expect(editor.getText()).toBe("again");
	await terminal.settle();
});

test.each<[string, (editor: PromptEditor, text: string, terminal: VirtualTerminal) => void]>([
	["set", (editor, text) => editor.setText(text)],
	["inserted", (editor, text) => editor.insertTextAtCursor(text)],
	["put back", (editor, text) => editor.putBack(text)],
	[
		"recalled",
		(editor, text, terminal) => {
			editor.addToHistory(text);
			terminal.send("\x1b[A");
		},
	],
	["pasted", (_, text, terminal) => terminal.send(`\x1b[200~${text}\x1b[201~`)],
])("control characters of text that is %s are visible and have no effect", async (_, put) => {
	const { terminal, editor } = start({ columns: 120 });
	await terminal.settle();
	const before = terminal.output.length;
	put(editor, "a\x1b]52;c;AAAA\x07 \x1b[?1049h \x9b2J\x9d0;t\x9c \u202edr\tow\r\nend", terminal);
	await terminal.settle();
	const written = terminal.output.slice(before);
	const own = /\x1b\[[\d;]*[mABGJKL]|\x1b\[\?2026[hl]|[\r\n]/g;
	expect(written.replace(own, "")).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202e]/);
	expect(editor.getText()).toMatch(
		/^a␛?\]52;c;AAAA(?:\^G)? ␛?\[\?1049h ‹U\+009B›2J‹U\+009D›0;t‹U\+009C› ‹U\+202E›dr\tow\nend$/,
	);
});

test("a border takes few more bytes than its characters", async () => {
	const terminal = new VirtualTerminal(100, 10);
	const tui = new LiveTUI(terminal);
	const editor = new PromptEditor(tui, { theme: createTheme("dark"), keymap: createKeymap() });
	tui.addChild(editor);
	tui.setFocus(editor);
	tui.start();
	onTestFinished(() => tui.stop());
	await terminal.settle();
	editor.setThinkingLevel("high");
	const before = terminal.output.length;
	await terminal.type("!ls");
	expect(terminal.output.slice(before)).toContain("\x1b[33m");
	expect(Buffer.byteLength(terminal.output)).toBeLessThan(5 * 2 * (300 + 60));
});
