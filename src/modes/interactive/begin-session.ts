import { setImmediate, setTimeout } from "node:timers/promises";
import type { AgentSession } from "../../sdk/agent-session.js";
import { graphemes } from "../../tui/internals/measure-text.js";
import { VIM_SCOPE } from "../../tui/key-table.js";
import { LAST_BYTES } from "../../tui/terminal-guard.js";
import { statOrNull } from "../../util/fs.js";
import { compileGrammars, loadHighlighter } from "../../util/highlight.js";
import { loadWordDiff } from "../../util/word-diff.js";
import { plural } from "../format.js";
import type { StartQuestions } from "../start-questions.js";
import type { MissingHooksHost } from "./dialogs/missing-hooks-question.js";
import { bindHookKeys } from "./hook-keys.js";
import type { InteractiveOptions, News } from "./interactive-options.js";
import { createPromptTarget, sendPrompts } from "./prompt-controller.js";
import type { Screen } from "./screen.js";
import type { ScreenComponents, ScreenReports } from "./screen-components.js";
import { createShell, type ShellHost } from "./screen-shell.js";
import type { Transcript } from "./transcript.js";

/** The questions that starting a session may ask on this screen. */
export function startQuestions({ style, themes, overlays, dialogs }: ScreenComponents): StartQuestions {
	return {
		ui: dialogs,
		async showCode(title, code) {
			const { createCodePager } = await import("./dialogs/pager.js");
			const look = { ...style, theme: themes.trusted };
			await overlays.open<null>((settle) => createCodePager(look, title, code, () => settle(null)), {
				canceled: null,
				isOnTop: true,
			});
		},
		lastBytes: LAST_BYTES,
	};
}

/** Starts a session and shows it until `ended` aborts. Asks for a model and for missing hooks before the first prompt. */
export async function beginSession(
	session: AgentSession,
	components: ScreenComponents,
	options: InteractiveOptions,
	{ quit, ended }: Pick<ScreenReports, "quit"> & { ended: AbortSignal },
): Promise<void> {
	const { screen, editor, palette, images, pastedTexts, input, dialogs, keymap, failed } = components;
	const shell = createShell(shellHost(components, options, quit));
	session.attachUI(dialogs, {
		...shell,
		confirmEnd: async (title, signal) => {
			const { confirmEnd } = await import("../end-question.js");
			return confirmEnd(session, { title, about: "work", signal }, dialogs);
		},
	});
	session.mode = "interactive";
	// Too much for the first paint.
	const [{ FAILURE_WORDS }, { SessionBinding }] = await Promise.all([
		import("../request-error.js"),
		import("./session-binding.js"),
	]);
	const binding = new SessionBinding(screen, session, editor, { words: FAILURE_WORDS, ended });
	announceReading(session, screen);
	// A resumed session needs highlighting for its first frame; a new session loads it later.
	await Promise.all([session.start(), session.log.length > 1 ? loadHighlighting() : undefined]);
	screen.hint(null);
	components.themes.usePackages(session.loaded.themes);
	binding.begin();
	bindHookKeys(session, keymap, (problem) => screen.transcript.notice("warning", problem));
	editor.addOlderPrompts(binding.promptHistory());
	palette.attach(session);
	session.subscribe(({ type }) => {
		if (type !== "registrations_changed") return;
		editor.refreshCommands();
		components.themes.usePackages(session.loaded.themes);
	});
	const isConnected = session.model !== null;
	// Do not ask while the user is typing: the next key would answer the question.
	if (!isConnected && editor.getText() === "") await session.prompt("/setup").catch(failed);
	await watchMissingHooks({ session, dialogs, quit }, failed);
	const { prompts = [] } = options;
	void sendPrompts(session, typeof prompts === "function" ? await prompts() : prompts, { editor, failed });
	input.attach(createPromptTarget(session, images, pastedTexts, options.home));
	void afterFirstRequest(session).then(prepareDrawing);
	void afterFirstRequest(session).then(() => session.controls.updateModelsWeekly(ended));
	const news = await options.news?.();
	if (news === "first") {
		// The setup has just asked the others.
		if (isConnected) screen.transcript.notice("info", FIRST_HINT);
	} else if (news) showNews(news, screen.transcript);
}

/** For users whose key pi found: they never see the setup. */
const FIRST_HINT = "nothing asks before commands run · /setup turns on a guard, plan mode, tasks, web pages";

/** A file that pi did not write is read completely: 100 MB take two seconds. */
const LARGE_BYTES = 20_000_000;

/** Says that a large session is read, which blocks the screen. */
function announceReading({ sessionFile }: AgentSession, screen: Pick<Screen, "hint" | "tui">): void {
	const bytes = (sessionFile === null ? null : statOrNull(sessionFile))?.size ?? 0;
	if (bytes < LARGE_BYTES) return;
	screen.hint(`reading the session · ${Math.round(bytes / 1_000_000)} MB`);
	screen.tui.renderNow();
}

/**
 * Resolves when the model starts to answer the prompt that was submitted during startup, or when that run ends. Resolves
 * on the next turn of the event loop when nothing runs.
 */
export async function afterFirstRequest(session: Pick<AgentSession, "isRunning" | "subscribe">): Promise<void> {
	// Prompts submitted during startup have started, or start in this turn of the event loop.
	await setImmediate();
	if (!session.isRunning) return;
	await new Promise<void>((resolve) => {
		const stop = session.subscribe((event) => {
			const answers = event.type === "message_start" && event.message.role === "assistant";
			if (!answers && event.type !== "agent_end") return;
			stop();
			resolve();
		});
	});
}

/** Loads code highlighting and word diffs. Startup does not wait for them; blocks drawn earlier are redrawn. */
async function loadHighlighting(): Promise<void> {
	await Promise.all([loadHighlighter(), loadWordDiff()]);
}

/** A resumed session has drawn its last frame by then, unless it is very large. */
const AFTER_START_MS = 250;

/** Does before the first answer what would delay its frames: the first block of code and the first emoji take up to 50 ms. */
async function prepareDrawing(): Promise<void> {
	await loadHighlighting();
	// The frames of the start come first.
	await setTimeout(AFTER_START_MS, undefined, { ref: false });
	await compileGrammars();
	graphemes.segment("");
}

/** Reports an update below the header. */
function showNews({ version, lines }: News, transcript: Transcript): void {
	if (lines.length === 0) transcript.notice("info", `updated to ${version} · /changelog`);
	else transcript.page(`Updated to ${version} · /changelog shows all`, lines);
}

/** Asks about missing hooks now and whenever the user switches sessions. @returns when the first question is over */
function watchMissingHooks(host: MissingHooksHost, failed: (error: unknown) => void): Promise<void> {
	const ask = async () => {
		if (!host.session.missingHooks?.difference) return;
		// Loaded when needed: its text comes with the code that computes contexts, which the first paint does not wait for.
		const { askMissingHooks } = await import("./dialogs/missing-hooks-question.js");
		await askMissingHooks(host);
	};
	host.session.subscribe((event) => {
		if (event.type === "session_changed" && event.reason === "switch") void ask().catch(failed);
	});
	return ask().catch(failed);
}

function shellHost(components: ScreenComponents, options: InteractiveOptions, quit: () => void): ShellHost {
	const {
		terminal,
		keymap,
		themes,
		screen,
		editor,
		overlays,
		style,
		dialogs,
		createEditor,
		editExternally,
		loadKeys,
		leave,
	} = components;
	const { cwd, home, startDemo, terminalFacts = {} } = options;
	return {
		write: (data) => terminal.write(data),
		setEditorText: (text) => editor.setText(text),
		secret: (title) => dialogs.secret(title),
		hint: (text) => screen.hint(text),
		quit: () => void leave("entries"),
		leave: (signal) => leave("work", signal),
		startDemo:
			startDemo &&
			(() =>
				void leave("entries", undefined, () => {
					startDemo();
					quit();
				})),
		hotkeys: () => keymap.list().filter(([, , scope]) => editor.vim !== null || scope !== VIM_SCOPE),
		rereadFiles: () => {
			const problems = [...loadKeys(), ...themes.reread()];
			return { read: ["keys", plural(themes.fileCount, "theme")], problems };
		},
		themes: {
			list: () => themes.list(),
			use: (name) => themes.use(name),
			choose: async (signal) =>
				(await import("./dialogs/theme-picker.js")).chooseTheme(themes, { overlays, style }, signal),
		},
		page: (title, lines) => screen.transcript.page(title, lines),
		dialogs: {
			overlays,
			style,
			requestRender: () => screen.tui.requestRender(),
			createEditor,
			editExternally,
			paths: { cwd, home },
			screen: () => ({ ...screen.facts, terminal: terminalFacts }),
		},
	};
}
