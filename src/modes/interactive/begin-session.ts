import type { AgentSession } from "../../session/agent-session.js";
import { PromptEditor } from "../../tui/prompt-editor.js";
import { LAST_BYTES } from "../../tui/terminal-guard.js";
import { loadHttpClient } from "../../util/paced-fetch.js";
import type { StartQuestions } from "../start-questions.js";
import { afterFirstRequest, loadDrawingParts } from "./drawing-parts.js";
import { askGrant } from "./grant-question.js";
import type { InteractiveOptions } from "./interactive-options.js";
import { watchMissingHooks } from "./missing-hooks-question.js";
import { tell } from "./news.js";
import { TypingGuard } from "./panels/typing-guard.js";
import { createPromptTarget, sayAll } from "./prompt-target.js";
import type { ScreenHost, ScreenParts } from "./screen-parts.js";
import { SessionBinding } from "./session-binding.js";
import { createShell, type ShellParts } from "./shell.js";
import { themeCommands } from "./theme-commands.js";
import { askTrust } from "./trust-question.js";

/** What the start of a session may ask on this screen. The project's own theme has no say in how that looks. */
export function startQuestions(parts: ScreenParts, { cwd, home }: InteractiveOptions): StartQuestions {
	const { editor, overlays, dialogs } = parts;
	const look = { ...parts.look, theme: parts.themes.trusted };
	const isTyping = () => editor.getText() !== "";
	return {
		ui: dialogs,
		askTrust: (set) => askTrust(set, overlays, look, { isTyping: isTyping() }),
		askGrant: (request) =>
			askGrant(request, overlays, look, { places: { cwd, home }, guard: new TypingGuard(isTyping()) }),
		lastBytes: LAST_BYTES,
	};
}

/** Starts a session and shows it, until `ended`: asks what is to be asked first, then says what is to be said. */
export async function beginSession(
	session: AgentSession,
	parts: ScreenParts,
	options: InteractiveOptions,
	{ quit, ended }: Pick<ScreenHost, "quit"> & { ended: AbortSignal },
): Promise<void> {
	const { screen, editor, palette, images, input, dialogs, failed } = parts;
	session.attachUI(dialogs, createShell(shellParts(parts, options, quit)));
	const binding = new SessionBinding(screen, session, (level) => editor.setThinkingLevel(level), ended);
	// What is there to be drawn at once is drawn in colour; a new session does not wait for what it needs later.
	await Promise.all([session.start(), session.log.length > 1 ? loadDrawingParts() : undefined]);
	binding.begin();
	editor.addOlderPrompts(binding.promptHistory());
	palette.attach(session);
	// Somebody who types already is not to answer a question by it.
	if (session.model === null && editor.getText() === "") await session.prompt("/setup").catch(failed);
	await watchMissingHooks({ session, dialogs, quit, failed });
	void sayAll(session, options.prompts ?? [], failed);
	input.attach(createPromptTarget(session, images));
	void afterFirstRequest(session).then(loadDrawingParts).then(loadHttpClient);
	const news = await options.news?.();
	if (news) tell(news, screen.transcript);
}

function shellParts(parts: ScreenParts, options: InteractiveOptions, quit: () => void): ShellParts {
	const { terminal, keymap, themes, screen, editor, overlays, look, dialogs, editExternally, loadKeys } = parts;
	const { cwd, home, startDemo, terminalFacts = {} } = options;
	return {
		write: (data) => terminal.write(data),
		setEditorText: (text) => editor.setText(text),
		secret: (title) => dialogs.secret(title),
		quit,
		startDemo:
			startDemo &&
			(() => {
				startDemo();
				quit();
			}),
		hotkeys: () => keymap.list(),
		reloadKeys: loadKeys,
		themes: themeCommands(themes, { overlays, look }),
		page: (title, lines) => screen.transcript.page(title, lines),
		panels: {
			overlays,
			look,
			requestRender: () => screen.tui.requestRender(),
			createEditor: () => new PromptEditor(screen.tui, { theme: look.theme, keymap }),
			editExternally,
			places: { cwd, home },
			screen: () => ({ ...screen.facts, terminal: terminalFacts }),
		},
	};
}
