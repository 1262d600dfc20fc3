import type { Terminal } from "@mariozechner/pi-tui";
import type { KeybindingsFile } from "../../config/keybindings-file.js";
import type { Settings } from "../../config/settings.js";
import type { TerminalFeatures } from "../../config/terminal-features.js";
import type { ProjectSet } from "../../config/trust.js";
import type { WindowTraits } from "../../config/window-traits.js";
import { describeError } from "../../errors.js";
import type { GrantAnswer, GrantRequest } from "../../hooks/grant-request.js";
import type { HookUI } from "../../hooks/types.js";
import type { AgentSession } from "../../session/agent-session.js";
import type { TrustAnswer } from "../../session/project-code.js";
import { KeyboardTerminal } from "../../tui/keyboard-terminal.js";
import { createKeymap } from "../../tui/keymap.js";
import { PromptEditor } from "../../tui/prompt-editor.js";
import { closeScreen, guardTerminal, LAST_BYTES } from "../../tui/terminal-guard.js";
import { exitBySignal } from "../../util/exit-by-signal.js";
import { DialogController } from "./dialog-controller.js";
import { loadDrawingParts } from "./drawing-parts.js";
import { dropFiles } from "./dropped-paths.js";
import { askGrant } from "./grant-question.js";
import { promptsBefore, searchHistory } from "./history-search.js";
import { createKeyActions } from "./key-actions.js";
import { KeyController } from "./key-controller.js";
import { listFiles } from "./list-files.js";
import { watchMissingHooks } from "./missing-hooks-question.js";
import { type News, tell } from "./news.js";
import { PaletteController } from "./palette-controller.js";
import { TypingGuard } from "./panels/typing-guard.js";
import { PastedImages } from "./pasted-images.js";
import { PromptController } from "./prompt-controller.js";
import { createPromptTarget, type FirstPrompt, sayAll, waitingQueue } from "./prompt-target.js";
import { Screen } from "./screen.js";
import { SessionBinding } from "./session-binding.js";
import { endSession, resumeHint } from "./session-end.js";
import { createShell } from "./shell.js";
import { themeCommands } from "./theme-commands.js";
import { ThemeController, type ThemeOptions } from "./theme-controller.js";
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
	theme: ThemeOptions;
	/** What the terminal can show. Default: text. */
	features?: TerminalFeatures;
	cwd: string;
	home: string;
	version: string;
	/** Reads the user's keys, at the start and at each reload. */
	keybindings?: () => KeybindingsFile;
	/** What the terminal's window can show. */
	window?: WindowTraits;
	/** As in `$VISUAL` or `$EDITOR`. */
	editorCommand?: string | null;
	/** Said first, each when what the one before it began is over. */
	prompts?: readonly FirstPrompt[];
	/** Text in the editor at the start. */
	draft?: string;
	/** Begins the demo once this mode has ended; absent: it is not offered. */
	startDemo?(): void;
	/** What the terminal says of itself, for reports: names and values of variables. */
	terminalFacts?: Readonly<Record<string, string>>;
	/** Told once the session is there: what an update brought, or null. */
	news?(): Promise<News | null>;
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
	const keymap = createKeymap();
	const themes = new ThemeController(options.theme, (problem) => screen.transcript.notice("warning", problem));
	const { theme } = themes;
	const { features, window } = options;
	const screen = new Screen({ terminal, theme, keymap, settings, features, window, cwd, home, version });
	const ended = new AbortController();
	const palette = new PaletteController(cwd, (onFile, signal) => listFiles(cwd, onFile, signal));
	const editor = new PromptEditor(screen.tui, {
		theme,
		keymap,
		completion: palette.completion,
		earlierPrompts: async () => session && promptsBefore(session),
	});
	const overlays = screen.holdEditor(editor);
	const { transcript } = screen;
	const failed = (error: unknown) => transcript.notice("error", describeError(error));
	const warn = (problem: string) => transcript.notice("warning", problem);
	const look = { theme, keymap, rows: () => terminal.rows };
	const dialogs = new DialogController(overlays, look, (level, message) => transcript.notice(level, message));
	const images = new PastedImages((text) => editor.insertTextAtCursor(text));
	editor.onPaste = (text) =>
		dropFiles(text, { cwd, draft: editor.getText(), addImage: (path) => images.addFile(path) });
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
		searchHistory: () => void searchHistory(editor, overlays, look).then((hint) => screen.hint(hint), failed),
		pasteImage: () => void images.paste().then((hint) => screen.hint(hint), failed),
		failed,
	});
	const controller = new KeyController(editor, keymap, keys);
	const loadKeys = () => {
		const file = options.keybindings?.();
		keymap.reload(file?.value ?? {}, file?.placeOf);
		screen.nameKeys(keymap);
		return [...(file?.problem ? [file.problem] : []), ...keymap.problems];
	};
	editor.onKey = (data) => {
		const asksForHelp = data === "?" && session !== null && editor.getText() === "";
		if (asksForHelp) session?.prompt("/help").catch(failed);
		return asksForHelp || controller.handle(data);
	};
	const begin = async (): Promise<void> => {
		await painted(() => editor.getText() !== "");
		const created = await options.startSession({
			ui: dialogs,
			askTrust: (set) =>
				askTrust(set, overlays, { ...look, theme: themes.trusted }, { isTyping: editor.getText() !== "" }),
			askGrant: (request) =>
				askGrant(
					request,
					overlays,
					{ ...look, theme: themes.trusted },
					{
						places: { cwd, home },
						guard: new TypingGuard(editor.getText() !== ""),
					},
				),
			lastBytes: LAST_BYTES,
		});
		session = created;
		// The user may have left meanwhile.
		if (ended.signal.aborted) return dispose();
		const shell = createShell({
			write: (data) => terminal.write(data),
			setEditorText: (text) => editor.setText(text),
			secret: (title) => dialogs.secret(title),
			quit,
			startDemo:
				options.startDemo &&
				(() => {
					options.startDemo?.();
					quit();
				}),
			hotkeys: () => keymap.list(),
			reloadKeys: () => loadKeys().forEach(warn),
			themes: themeCommands(themes, { overlays, look }),
			page: (title, lines) => transcript.page(title, lines),
			panels: {
				overlays,
				look,
				requestRender: () => screen.tui.requestRender(),
				createEditor: () => new PromptEditor(screen.tui, { theme, keymap }),
				editExternally: (text) => keys.editExternally(text),
				places: { cwd, home },
				applySetting: (path, value) => themes.applySetting(path, value) || screen.applySetting(path, value),
				screen: () => ({ ...screen.facts, terminal: options.terminalFacts ?? {} }),
			},
		});
		created.attachUI(dialogs, shell);
		const binding = new SessionBinding(screen, created, (level) => editor.setThinkingLevel(level), ended.signal);
		// What is there to be drawn at once is drawn in colour; a new session does not wait for what it needs later.
		await Promise.all([created.start(), created.log.length > 1 ? loadDrawingParts() : undefined]);
		binding.begin();
		editor.addOlderPrompts(binding.promptHistory());
		palette.attach(created);
		// Somebody who types already is not to answer a question by it.
		if (created.model === null && editor.getText() === "") await created.prompt("/setup").catch(failed);
		await watchMissingHooks({ session: created, dialogs, quit, failed });
		void sayAll(created, prompts, failed);
		input.attach(createPromptTarget(created, images));
		void loadDrawingParts();
		const news = await options.news?.();
		if (news) tell(news, transcript);
	};
	const dispose = () => endSession(session);
	const release = options.terminal
		? () => {}
		: guardTerminal(screen.tui, (signal) => void dispose().finally(() => exitBySignal(signal)));
	if (options.draft) editor.setText(options.draft);
	screen.tui.start();
	themes.begin(screen);
	loadKeys().forEach(warn);
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
		themes.stop();
		palette.completion.cancel();
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
