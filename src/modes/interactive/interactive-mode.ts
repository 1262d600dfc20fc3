import { constants } from "node:os";
import type { Terminal } from "@mariozechner/pi-tui";
import type { Settings } from "../../config/settings.js";
import type { ProjectSet } from "../../config/trust.js";
import { describeError } from "../../errors.js";
import type { GrantAnswer, GrantRequest } from "../../hooks/grant-request.js";
import type { HookUI } from "../../hooks/types.js";
import type { AgentSession } from "../../session/agent-session.js";
import type { TrustAnswer } from "../../session/project-code.js";
import { loadHighlighter } from "../../tui/highlight.js";
import { KeyboardTerminal } from "../../tui/keyboard-terminal.js";
import { createKeymap } from "../../tui/keymap.js";
import { PromptEditor } from "../../tui/prompt-editor.js";
import { closeScreen, guardTerminal, LAST_BYTES } from "../../tui/terminal-guard.js";
import { createTheme, type ThemeName } from "../../tui/theme.js";
import { DialogController } from "./dialog-controller.js";
import { askGrant } from "./grant-question.js";
import { createKeyActions } from "./key-actions.js";
import { KeyController } from "./key-controller.js";
import { listFiles } from "./list-files.js";
import { PaletteController } from "./palette-controller.js";
import { TypingGuard } from "./panels/typing-guard.js";
import { PastedImages } from "./pasted-images.js";
import { PromptController } from "./prompt-controller.js";
import { createPromptTarget, type FirstPrompt, sayAll, waitingQueue } from "./prompt-target.js";
import { Screen } from "./screen.js";
import { SessionBinding } from "./session-binding.js";
import { endSession, resumeHint } from "./session-end.js";
import { createShell } from "./shell.js";
import { askTrust } from "./trust-question.js";

/** What the start of a session may ask. */
export interface StartQuestions {
	ui: HookUI;
	/** Shows the project's code and asks whether it may run. */
	askTrust(set: ProjectSet): Promise<TrustAnswer>;
	/** Asks whether a hook gets what it requires. */
	askGrant(request: GrantRequest): Promise<GrantAnswer>;
	/** Gives the terminal back, written by whoever ends the program in the place of this mode. */
	lastBytes: string;
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
	/** Said first, each when what the one before it began is over. */
	prompts?: readonly FirstPrompt[];
	/** Text in the editor at the start. */
	draft?: string;
	/** Default: the terminal of the process, which is given back on every way out. */
	terminal?: Terminal;
}

/**
 * Runs pi on a terminal until the user quits. Paints before the session exists; what is typed meanwhile is kept.
 * @returns the exit code
 * @throws what `startSession` throws, with the terminal given back
 */
export async function runInteractive(options: InteractiveOptions): Promise<number> {
	const { cwd, home, version, settings, prompts = [] } = options;
	const terminal = options.terminal ?? new KeyboardTerminal();
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
	const begin = async (): Promise<void> => {
		await painted(() => editor.getText() !== "");
		const created = await options.startSession({
			ui: dialogs,
			askGrant: (request) =>
				askGrant(request, overlays, look, {
					places: { cwd, home },
					guard: new TypingGuard(editor.getText() !== ""),
				}),
			lastBytes: LAST_BYTES,
			askTrust: (set) => askTrust(set, overlays, look, { isTyping: editor.getText() !== "" }),
		});
		session = created;
		// The user may have left meanwhile.
		if (ended.signal.aborted) return dispose();
		const shell = createShell({
			write: (data) => terminal.write(data),
			setEditorText: (text) => editor.setText(text),
			secret: (title) => dialogs.secret(title),
			quit,
			hotkeys: () => keymap.list(),
			page: (title, lines) => transcript.page(title, lines),
			panels: { overlays, look, requestRender: () => screen.tui.requestRender(), places: { cwd, home } },
		});
		created.attachUI(dialogs, shell);
		const binding = new SessionBinding(screen, created, (level) => editor.setThinkingLevel(level));
		// What is there to be drawn at once is drawn in colour; a new session does not wait for what it needs later.
		await Promise.all([created.start(), created.log.length > 1 ? loadHighlighter() : undefined]);
		binding.begin();
		input.fillHistory(binding.promptHistory());
		palette.attach(created);
		void sayAll(created, prompts, failed);
		input.attach(createPromptTarget(created, images));
		void loadHighlighter();
	};
	const dispose = () => endSession(session);
	const release = options.terminal
		? () => {}
		: guardTerminal(
				screen.tui,
				(signal) => void dispose().finally(() => process.exit(128 + constants.signals[signal])),
			);
	if (options.draft) editor.setText(options.draft);
	screen.tui.start();
	for (const problem of keymap.problems) transcript.notice("warning", problem);
	try {
		// Quitting does not wait for a session that takes its time to start.
		await Promise.race([begin(), quitting]);
		await quitting;
		overlays.closeAll();
		await closeScreen(screen.tui);
		const left = resumeHint(session);
		if (left) terminal.write(`${theme.dim(left)}\r\n`);
		return 0;
	} finally {
		ended.abort();
		overlays.closeAll();
		screen.stop();
		await dispose();
		release();
	}
}

/** ms between two frames of pi-tui. */
const FRAME_MS = 17;

/** Resolves once the first frame is out, and what was typed before it too: what is loaded next would hold them up. */
async function painted(isTyped: () => boolean): Promise<void> {
	await new Promise((resolve) => setTimeout(resolve, 0));
	for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
	if (isTyped()) await new Promise((resolve) => setTimeout(resolve, FRAME_MS));
}
