import type { ImageContent } from "@mariozechner/pi-ai";
import { ProcessTerminal, type Terminal } from "@mariozechner/pi-tui";
import type { Settings } from "../../config/settings.js";
import type { ProjectSet } from "../../config/trust.js";
import { describeError } from "../../errors.js";
import type { HookUI } from "../../hooks/types.js";
import type { AgentSession } from "../../session/agent-session.js";
import type { TrustAnswer } from "../../session/project-code.js";
import { createKeymap } from "../../tui/keymap.js";
import { PromptEditor } from "../../tui/prompt-editor.js";
import { closeScreen, guardTerminal } from "../../tui/terminal-guard.js";
import { createTheme, type ThemeName } from "../../tui/theme.js";
import { DialogController } from "./dialog-controller.js";
import { createKeyActions } from "./key-actions.js";
import { KeyController } from "./key-controller.js";
import { listFiles } from "./list-files.js";
import { PaletteController } from "./palette-controller.js";
import { PastedImages } from "./pasted-images.js";
import { PromptController, type Submission } from "./prompt-controller.js";
import { Screen } from "./screen.js";
import { SessionBinding } from "./session-binding.js";
import { createShell } from "./shell.js";
import { askTrust } from "./trust-question.js";

/** What the start of a session may ask. */
export interface StartQuestions {
	ui: HookUI;
	/** Shows the project's code and asks whether it may run. */
	askTrust(set: ProjectSet): Promise<TrustAnswer>;
}

/** Everything that the screen does not find out itself. */
export interface InteractiveOptions {
	/** Creates the session; it is called after the first paint. The session is started here. */
	startSession(questions: StartQuestions): Promise<AgentSession>;
	settings: Settings;
	theme: ThemeName;
	cwd: string;
	home: string;
	version: string;
	/** Content of keybindings.json. */
	keybindings?: unknown;
	/** As in `$VISUAL` or `$EDITOR`. */
	editorCommand?: string | null;
	/** Said first; what comes after the first follows when its run is over. */
	prompts?: readonly { text: string; images?: readonly ImageContent[] }[];
	/** Default: the terminal of the process, which is given back on every way out. */
	terminal?: Terminal;
}

/** A session that hangs while it ends must not keep the user from the shell, ms. */
const DISPOSE_LIMIT_MS = 3000;

/**
 * Runs pi on a terminal until the user quits. Paints before the session exists; what is typed meanwhile is kept.
 * @returns the exit code
 * @throws what `startSession` throws, with the terminal given back
 */
export async function runInteractive(options: InteractiveOptions): Promise<number> {
	const { cwd, home, version, settings, prompts = [] } = options;
	const terminal = options.terminal ?? new ProcessTerminal();
	const keymap = createKeymap(options.keybindings);
	const theme = createTheme(options.theme);
	const screen = new Screen({ terminal, theme, keymap, settings, cwd, home, version });
	const ended = new AbortController();
	const palette = new PaletteController(cwd, () => listFiles(cwd, ended.signal));
	const editor = new PromptEditor(screen.tui, { theme, keymap, completion: palette.completion });
	const overlays = screen.holdEditor(editor);
	const { transcript } = screen;
	const failed = (error: unknown) => transcript.notice("error", describeError(error));
	const look = { theme, keymap, rows: () => terminal.rows };
	const dialogs = new DialogController(overlays, look, (level, message) => transcript.notice(level, message));
	const images = new PastedImages((text) => editor.insertTextAtCursor(text));
	let session: AgentSession | null = null;
	let quit = () => {};
	const quitting = new Promise<void>((resolve) => {
		quit = resolve;
	});
	const input = new PromptController(editor, failed, (waiting) => screen.showQueue(waitingQueue(waiting)));
	const keys = createKeyActions({
		screen,
		session: () => session,
		editorCommand: options.editorCommand ?? null,
		quit,
		pasteImage: () => void images.paste().then((hint) => screen.hint(hint), failed),
		failed,
	});
	const controller = new KeyController(editor, keymap, keys);
	editor.onKey = (data) => {
		const asksForHelp = data === "?" && session !== null && editor.getText() === "";
		if (asksForHelp) session?.prompt("/help").catch(failed);
		return asksForHelp || controller.handle(data);
	};
	const dispose = () => (session ? Promise.race([session.dispose(), rest(DISPOSE_LIMIT_MS)]) : Promise.resolve());
	const release = options.terminal
		? () => {}
		: guardTerminal(screen.tui, (signal) => void dispose().finally(() => process.exit(exitCodeOf(signal))));
	screen.tui.start();
	for (const problem of keymap.problems) transcript.notice("warning", problem);
	try {
		session = await options.startSession({ ui: dialogs, askTrust: (set) => askTrust(set, dialogs, transcript) });
		const shell = createShell({
			write: (data) => terminal.write(data),
			setEditorText: (text) => editor.setText(text),
			quit,
			hotkeys: () => keymap.list(),
			page: (title, lines) => transcript.page(title, lines),
		});
		session.attachUI(dialogs, shell);
		const binding = new SessionBinding(screen, session, (level) => editor.setThinkingLevel(level));
		await session.start();
		binding.begin();
		input.fillHistory(binding.promptHistory());
		palette.attach(session);
		const { prompt } = promptsOf(session, images);
		input.attach(promptsOf(session, images));
		for (const [at, first] of prompts.entries()) {
			(at === 0 ? session.prompt(first.text, { images: first.images }) : prompt(first.text)).catch(failed);
		}
		await quitting;
		binding.end();
		await closeScreen(screen.tui);
		await dispose();
		if (session.sessionFile !== null && session.stats().totalMessages > 0) {
			terminal.write(`${theme.dim(`pi --session ${session.sessionId.slice(0, 8)} resumes this session`)}\r\n`);
		}
		return 0;
	} finally {
		ended.abort();
		overlays.closeAll();
		screen.stop();
		release();
	}
}
