import type { Terminal } from "@mariozechner/pi-tui";
import { describeError } from "../../errors.js";
import type { AgentSession } from "../../session/agent-session.js";
import { KeyboardTerminal } from "../../tui/keyboard-terminal.js";
import { createKeymap, type Keymap } from "../../tui/keymap.js";
import type { OverlayStack } from "../../tui/overlay-stack.js";
import { PromptEditor } from "../../tui/prompt-editor.js";
import type { Look } from "../../tui/select-dialog.js";
import { DialogController } from "./dialog-controller.js";
import { dropFiles } from "./dropped-paths.js";
import { promptsBefore, searchHistory } from "./history-search.js";
import type { InteractiveOptions } from "./interactive-options.js";
import { createKeyActions } from "./key-actions.js";
import { KeyController } from "./key-controller.js";
import { listFiles } from "./list-files.js";
import { PaletteController } from "./palette-controller.js";
import { PastedImages } from "./pasted-images.js";
import { PromptController } from "./prompt-controller.js";
import { waitingQueue } from "./prompt-target.js";
import { Screen } from "./screen.js";
import { ThemeController } from "./theme-controller.js";

/** What the parts of a screen ask for and tell while there is one. */
export interface ScreenHost {
	/** null until it is there: keys that need it then do nothing. */
	session(): AgentSession | null;
	quit(): void;
}

/** All that is on the screen, or behind it, before there is a session. */
export interface ScreenParts {
	terminal: Terminal;
	keymap: Keymap;
	themes: ThemeController;
	screen: Screen;
	editor: PromptEditor;
	overlays: OverlayStack;
	/** How dialogs look. */
	look: Look;
	dialogs: DialogController;
	palette: PaletteController;
	images: PastedImages;
	input: PromptController;
	/** Lets the user write in a program of theirs. @returns the new text, or null when it is to stay */
	editExternally(text: string): Promise<string | null>;
	/** Reads the user's keys anew; what is wrong with them is told. */
	loadKeys(): void;
	/** Tells of something that went wrong. */
	failed(error: unknown): void;
}

/** Puts the screen together: layout, editor with its completion, images and history, dialogs, keys. Draws nothing yet. */
export function createScreenParts(options: InteractiveOptions, { session, quit }: ScreenHost): ScreenParts {
	const { cwd } = options;
	const terminal = options.terminal ?? new KeyboardTerminal();
	const keymap = createKeymap();
	const warn = (problem: string) => screen.transcript.notice("warning", problem);
	const failed = (error: unknown) => screen.transcript.notice("error", describeError(error));
	const themes = new ThemeController(options.theme, options.settings, warn);
	const { theme } = themes;
	const screen = new Screen({ ...options, settings: options.settings.current, terminal, theme, keymap });
	const palette = new PaletteController(cwd, (onFile, signal) => listFiles(cwd, onFile, signal));
	const editor = new PromptEditor(screen.tui, {
		theme,
		keymap,
		completion: palette.completion,
		earlierPrompts: async () => {
			const current = session();
			return current && promptsBefore(current);
		},
	});
	const overlays = screen.holdEditor(editor);
	const look = { theme, keymap, rows: () => terminal.rows };
	const images = new PastedImages((text) => editor.insertTextAtCursor(text));
	editor.onPaste = (text) =>
		dropFiles(text, { cwd, draft: editor.getText(), addImage: (path) => images.addFile(path) });
	const keys = createKeyActions({
		screen,
		session,
		editorCommand: options.editorCommand ?? null,
		quit,
		searchHistory: () => void searchHistory(editor, overlays, look).then((hint) => screen.hint(hint), failed),
		pasteImage: () => void images.paste().then((hint) => screen.hint(hint), failed),
		failed,
	});
	const controller = new KeyController(editor, keymap, keys);
	editor.onKey = (data) => {
		const current = session();
		const asksForHelp = data === "?" && current !== null && editor.getText() === "";
		if (asksForHelp) current.prompt("/help").catch(failed);
		return asksForHelp || controller.handle(data);
	};
	return {
		terminal,
		keymap,
		themes,
		screen,
		editor,
		overlays,
		look,
		dialogs: new DialogController(overlays, look, (level, message) => screen.transcript.notice(level, message)),
		palette,
		images,
		input: new PromptController(editor, failed, (waiting) => screen.showQueue(waitingQueue(waiting))),
		editExternally: (text) => keys.editExternally(text),
		loadKeys() {
			const file = options.keybindings?.();
			keymap.reload(file?.value ?? {}, file?.placeOf);
			screen.nameKeys(keymap);
			for (const problem of [...(file?.problem ? [file.problem] : []), ...keymap.problems]) warn(problem);
		},
		failed,
	};
}
