import { onTestFinished } from "vitest";
import { createLocalMachine } from "../../src/tools/machine/local-machine.js";
import { createCompletion } from "../../src/tui/completion.js";
import type { ListFiles } from "../../src/tui/file-search.js";
import { createKeymap } from "../../src/tui/keymap.js";
import { LiveTUI } from "../../src/tui/live-tui.js";
import { PromptEditor } from "../../src/tui/prompt-editor.js";
import { createTheme } from "../../src/tui/theme.js";
import { VirtualTerminal } from "../helpers/virtual-terminal.js";

/** Settings of a test's editor. */
export interface EditorStageOptions {
	columns?: number;
	cwd?: string;
	/** Paths that `@` finds. */
	files?: readonly string[];
	listFiles?: ListFiles;
	earlierPrompts?: () => Promise<readonly string[] | null>;
}

/** A prompt editor on a terminal in memory. */
export interface EditorStage {
	terminal: VirtualTerminal;
	editor: PromptEditor;
	/** Submitted texts, in order. They are also in the history, as in the program. */
	submitted: string[];
	/** The rows below the editor's lower border. */
	popup(): Promise<string[]>;
}

/** Starts an editor and stops it when the test ends. */
export function startEditor({ columns = 80, cwd = "/", files = [], ...options }: EditorStageOptions = {}): EditorStage {
	const terminal = new VirtualTerminal(columns, 24);
	const tui = new LiveTUI(terminal);
	const completion = createCompletion({
		folders: () => createLocalMachine(cwd),
		palette: () => [{ name: "pop", description: "Pop to a previous turn", origin: "hook stack" }],
		completeArguments: async () => [],
		listFiles: options.listFiles ?? listOf(files),
	});
	const theme = createTheme("plain");
	const { earlierPrompts } = options;
	const editor = new PromptEditor(tui, {
		theme,
		keymap: createKeymap(),
		completion,
		...(earlierPrompts ? { earlierPrompts } : {}),
	});
	const submitted: string[] = [];
	editor.onSubmit = (text) => {
		submitted.push(text);
		editor.addToHistory(text);
	};
	tui.addChild(editor);
	tui.setFocus(editor);
	tui.start();
	onTestFinished(() => tui.stop());
	return {
		terminal,
		editor,
		submitted,
		popup: async () => {
			const screen = await terminal.screen();
			return screen.slice(screen.findLastIndex((line) => line.startsWith("──")) + 1);
		},
	};
}

function listOf(files: readonly string[]): ListFiles {
	return async (onFile) => {
		for (const file of files) onFile(file);
	};
}
