import type { AgentSession } from "../../sdk/agent-session.js";
import type { LiveTUI } from "../../tui/live-tui.js";
import { closeScreen, guardTerminal } from "../../tui/terminal-guard.js";
import type { Theme } from "../../tui/theme.js";
import { announceStart } from "../../util/announce-start.js";
import { stripAll } from "../../util/sanitize.js";
import { exitBySignal } from "../../util/signals.js";
import { endWithoutScreen, exitCodeOf, leaveSession } from "../session-end.js";
import { beginSession, startQuestions } from "./begin-session.js";
import type { InteractiveOptions } from "./interactive-options.js";
import { createScreenComponents } from "./screen-components.js";

/**
 * Runs pi on a terminal until the user quits. Draws the first frame before the session exists and keeps what the user
 * types until then.
 * @returns the exit code
 * @throws what `startSession` throws, after restoring the terminal
 */
export async function runInteractive(options: InteractiveOptions): Promise<number> {
	let session: AgentSession | null = null;
	/** Loaded with the session: not for the first paint. */
	let keepUnsent: ((session: AgentSession, texts: readonly string[]) => string | null) | null = null;
	let quit = () => {};
	const quitting = new Promise<void>((resolve) => {
		quit = resolve;
	});
	const ended = new AbortController();
	const components = createScreenComponents(options, { session: () => session, quit });
	const { terminal, themes, screen, editor, overlays, palette, input } = components;
	// They notice keys from the first one on.
	const questions = startQuestions(components);
	let kept: { line: string | null } | undefined;
	/** Keeps what was not sent, once: queued prompts come before the draft, as after Escape. @returns a line for the user */
	const keep = (): string | null => {
		if (session === null || keepUnsent === null) return null;
		const { steering, followUps } = session.queue;
		const texts = [...steering, ...followUps, ...input.takeWaiting(), editor.getExpandedText()];
		kept ??= { line: keepUnsent(session, texts) };
		return kept.line;
	};
	let ending: Promise<void> | undefined;
	const dispose = async (): Promise<void> => {
		keep();
		if (session) ending ??= endWithoutScreen(session, (line) => terminal.write(`${lastLine(line, themes.theme)}\r\n`));
		await ending;
	};
	const begin = async (): Promise<void> => {
		await painted(screen.tui, () => editor.getText() !== "");
		const unsentText = import("../unsent-text.js");
		session = await options.startSession(questions);
		({ keepUnsent } = await unsentText);
		announceStart();
		// The user may have quit during startup.
		if (ended.signal.aborted) return dispose();
		await beginSession(session, components, options, { quit, ended: ended.signal });
	};
	const release = options.terminal
		? () => {}
		: guardTerminal(screen.tui, (signal) => void dispose().finally(() => exitBySignal(signal)));
	// After an error that nothing catches, too.
	if (!options.terminal) process.on("exit", keep);
	if (options.suggestion) editor.suggest(options.suggestion);
	screen.tui.start();
	themes.begin(screen);
	const unsubscribe = options.settings.subscribe(({ paths }) => {
		if (paths.includes("theme")) themes.followSettings();
		if (paths.includes("editor.vim")) components.followVim();
		screen.use(options.settings.current);
	});
	components.loadKeys();
	if (options.settings.current.editor.vim) components.followVim();
	const say = (line: string) => terminal.write(`${themes.theme.dim(stripAll(line))}\r\n`);
	let said: string[] = [];
	try {
		// Quitting does not wait for a session that is still starting.
		await Promise.race([begin(), quitting]);
		await quitting;
		overlays.closeAll();
		screen.hideStatus();
		await closeScreen(screen.tui);
		if (session) said = leaveSession(session, keep());
		for (const line of said) say(line);
	} finally {
		ended.abort();
		unsubscribe();
		themes.stop();
		palette.completion.cancel();
		overlays.closeAll();
		screen.stop();
		await dispose();
		release();
		process.off("exit", keep);
	}
	return exitCodeOf(session, said, say);
}

/** An error of a hook, below the closed screen. */
function lastLine(text: string, { error }: Theme): string {
	return error(`✗ ${stripAll(text)}`).replaceAll("\n", "\r\n");
}

/** Resolves after the first frame, including input typed before it: loading the session would delay both. */
async function painted(screen: LiveTUI, isTyped: () => boolean): Promise<void> {
	const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
	await later(0);
	for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
	// The timer of the frame may be later than this one, if the machine paused pi between the two.
	while (screen.isRunning && screen.fullRedraws === 0) await later(1);
	if (isTyped()) screen.renderNow();
}
