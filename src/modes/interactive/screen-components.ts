import { describeError } from "../../errors.js";
import type { AgentSession } from "../../sdk/agent-session.js";
import { elsewhereOf } from "../../tools/machine/elsewhere.js";
import { createLocalMachine } from "../../tools/machine/local-machine.js";
import { EditorFrame } from "../../tui/editor-frame.js";
import { KeyboardTerminal } from "../../tui/internals/keyboard-terminal.js";
import { createKeymap } from "../../tui/keymap.js";
import { clipLine } from "../../tui/line.js";
import { isLongPaste } from "../../tui/paste-marks.js";
import { PromptEditor } from "../../tui/prompt-editor.js";
import { lendTerminal, suspend } from "../../tui/terminal-guard.js";
import { monotonicMs } from "../../util/clock.js";
import type { Leave } from "../end-question.js";
import { AppKeys } from "./app-keys.js";
import { cleanLine } from "./clean-text.js";
import { DialogController } from "./dialog-controller.js";
import { dropFiles } from "./dropped-paths.js";
import { promptsBefore, searchHistory } from "./history-search.js";
import { HookScreenLoader } from "./hook-screen/hook-screen-loader.js";
import type { InteractiveOptions } from "./interactive-options.js";
import { PaletteController } from "./palette-controller.js";
import { PastedImages } from "./pasted-images.js";
import { PastedTexts } from "./pasted-texts.js";
import { PromptController, waitingQueue } from "./prompt-controller.js";
import { Screen } from "./screen.js";
import { copyText } from "./screen-shell.js";
import { ThemeController } from "./theme-controller.js";

/** The mode that runs the screen. */
export interface ScreenReports {
	/** null until the session has started; keys that need a session do nothing until then. */
	session(): AgentSession | null;
	quit(): void;
}

const NO_EDITOR = "no editor found: install vi or nano, or set $VISUAL or $EDITOR";

/** The components of the screen, which exist before the session. */
export type ScreenComponents = ReturnType<typeof createScreenComponents>;

/** Creates the layout, the editor with its completion, images and history, dialogs and keys, without drawing them. */
export function createScreenComponents(options: InteractiveOptions, { session, quit }: ScreenReports) {
	const { cwd } = options;
	const terminal = options.terminal ?? new KeyboardTerminal();
	const keymap = createKeymap();
	const warn = (problem: string) => screen.transcript.notice("warning", problem);
	const failed = (error: unknown) => screen.transcript.notice("error", describeError(error));
	const themes = new ThemeController(options.theme, options.settings, warn);
	const { theme } = themes;
	const screen = new Screen({ ...options, settings: options.settings.current, terminal, theme, keymap });
	const local = createLocalMachine(cwd);
	const palette = new PaletteController(() => session()?.host ?? local);
	const editor = new PromptEditor(screen.tui, {
		theme,
		keymap,
		completion: palette.completion,
		earlierPrompts: async () => {
			const current = session();
			return current && promptsBefore(current);
		},
	});
	editor.placeholder = "Ask anything, or type / for commands";
	const frame = new EditorFrame(editor);
	const overlays = screen.holdEditor(frame);
	const style = { theme, keymap, rows: () => terminal.rows, marksRows: () => screen.hasMouse };
	screen.onLink = (address) => {
		const open = async () => {
			if (await options.openLink?.(address)) return;
			await copyText(address, (data) => terminal.write(data));
			screen.hint(`copied ${address}`);
		};
		open().catch(failed);
	};
	const images = new PastedImages((text) => editor.insertTextAtCursor(text));
	const pastedTexts = new PastedTexts();
	editor.onPaste = (text) => {
		if (isLongPaste(text)) pastedTexts.add(text);
		return dropFiles(text, {
			cwd,
			elsewhere: elsewhereOf(session()?.host),
			hint: (line) => screen.hint(line),
			draft: editor.getText(),
			addImage: (path) => images.addFile(path),
		});
	};
	/** An editor with a window of its own leaves the screen empty but for this line. */
	const lendTo = <T>(command: string, run: () => Promise<T>): Promise<T> =>
		lendTerminal(screen.tui, () => {
			terminal.write(`${theme.dim(clipLine(`waiting for ${cleanLine(command)} to exit`, terminal.columns))}\r\n`);
			return run();
		});
	/** Opens the user's external editor. @returns the new text, or null to keep the old one */
	const editExternally = async (text: string): Promise<string | null> => {
		const command = (await options.findEditor?.()) ?? null;
		if (command === null) {
			screen.hint(NO_EDITOR);
			return null;
		}
		const { editExternally } = await import("./external-editor.js");
		const edited = await lendTo(command, () => editExternally(text, command));
		// What the editor printed is gone with the alternate screen.
		if (edited === null) screen.hint("the editor exited with an error · the text is unchanged");
		return edited;
	};
	/** Turns the keys of vim on or off, as the settings say. Until they are loaded, keys type text as in their insert mode. */
	const followVim = async (): Promise<void> => {
		const isWanted = () => options.settings.current.editor.vim;
		if (!isWanted()) {
			editor.vim = null;
			screen.showCursor(null);
		} else if (editor.vim === null) {
			const { VimEditor } = await import("../../tui/vim/vim-editor.js");
			if (!isWanted() || editor.vim !== null) return;
			editor.vim = new VimEditor(editor, {
				keymap,
				theme,
				copy: (text) => void copyText(text, (data) => terminal.write(data)).catch(failed),
				onCursor: (shape) => screen.showCursor(shape),
				hasShapes: options.features?.fixedCursor !== true,
			});
		}
		screen.tui.requestRender();
	};
	screen.status.stopKeys = (key) =>
		editor.vim?.isInserting && key === keymap.keyOf("vim.normal") ? `${key} ${key}` : key;
	const createEditor = () => new PromptEditor(screen.tui, { theme, keymap });
	let isOpening = false;
	const openTranscript = async (startsAt: "end" | "prompt" = "end"): Promise<void> => {
		const current = session();
		if (!current || isOpening || (overlays.isOpen && !overlays.isDialog)) return;
		isOpening = true;
		try {
			const pager = await import("./transcript-pager/open-transcript.js");
			await pager.openTranscript(current, {
				startsAt,
				overlays,
				style,
				views: screen.style,
				copy: (text) => copyText(text, (data) => terminal.write(data)),
				view: async (text) => {
					const command = (await options.findEditor?.()) ?? null;
					if (command === null) return NO_EDITOR;
					const { viewExternally } = await import("./external-editor.js");
					await lendTo(command, () => viewExternally(text, command));
					return null;
				},
				requestRender: () => screen.tui.requestRender(),
			});
		} finally {
			isOpening = false;
		}
	};
	// What the screen shortens may be what a question is about.
	screen.tui.addInputListener((data) => {
		if (!overlays.isDialog || !keymap.matches(data, "app.transcript")) return undefined;
		void openTranscript().catch(failed);
		return { consume: true };
	});
	let keyAt = Number.NEGATIVE_INFINITY;
	screen.tui.addInputListener(() => {
		keyAt = monotonicMs();
		return undefined;
	});
	const dialogs = new DialogController(overlays, style, (level, message) => screen.transcript.notice(level, message), {
		draft: editor,
		lastKeyAt: () => keyAt,
		trustedTheme: () => themes.trusted,
		text: { createEditor, editExternally, requestRender: () => screen.tui.requestRender() },
		hookScreen: new HookScreenLoader({
			screen,
			editor,
			frame,
			overlays,
			themes,
			keymap,
			completions: palette,
			draft: editor,
			failed,
		}),
	});
	let leaveMode: Promise<Leave> | undefined;
	const leave = async (...how: Parameters<Leave>): Promise<void> => {
		// Without a session, nothing has to be loaded.
		if (session() === null) return quit();
		leaveMode ??= import("../end-question.js").then(
			({ createLeave }) => createLeave(session, dialogs, quit),
			// The files of pi were replaced while it runs: quitting still works.
			() => async () => quit(),
		);
		await leaveMode.then((ask) => ask(...how)).catch(failed);
	};
	const input = new PromptController(editor, failed, (waiting) => screen.showWaiting(waitingQueue(waiting)));
	new AppKeys(editor, keymap, {
		screen,
		session,
		takeWaiting: () => input.takeWaiting(),
		quit: () => void leave("entries"),
		leave: () => void leave("all"),
		suspend: () => void suspend(screen.tui).catch(failed),
		searchHistory: () => void searchHistory(editor, overlays, style).then((hint) => screen.hint(hint), failed),
		openTranscript: (at) => void openTranscript(at).catch(failed),
		pasteImage: () => void images.paste().then((hint) => screen.hint(hint), failed),
		editExternally,
		failed,
	});
	return {
		terminal,
		keymap,
		themes,
		screen,
		editor,
		overlays,
		style,
		dialogs,
		createEditor,
		palette,
		images,
		pastedTexts,
		input,
		editExternally,
		/** Quits, after a question if that loses or ends something. Reports a failure. */
		leave,
		followVim: () => void followVim().catch(failed),
		/** Reads the user's key bindings again and reports problems. A broken file changes nothing. @returns the problems */
		loadKeys(): readonly string[] {
			const file = options.keybindings?.();
			if (!file?.problem) {
				keymap.reload(file?.value ?? {}, file?.placeOf);
				screen.tui.redrawScreen();
			}
			const problems = file?.problem ? [file.problem] : keymap.problems;
			for (const problem of problems) warn(problem);
			return problems;
		},
		failed,
	};
}
