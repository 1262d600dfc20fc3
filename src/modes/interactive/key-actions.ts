import type { AgentSession } from "../../session/agent-session.js";
import { lendTerminal, suspend } from "../../tui/terminal-guard.js";
import type { KeyActions } from "./app-keys.js";
import { editExternally } from "./external-editor.js";
import type { Screen } from "./screen.js";

/** What the keys need besides screen and session. */
export interface KeyActionParts {
	screen: Screen;
	/** null until the session is there: keys that need it then do nothing. */
	session(): AgentSession | null;
	/** As in `$EDITOR`; null when the user has set none. */
	editorCommand: string | null;
	quit(): void;
	searchHistory(): void;
	pasteImage(): void;
	failed(error: unknown): void;
}

/** What the app's keys do to a screen and its session. */
export function createKeyActions({
	screen,
	session,
	editorCommand,
	quit,
	searchHistory,
	pasteImage,
	failed,
}: KeyActionParts): KeyActions {
	const command = (name: string) => void session()?.prompt(name).catch(failed);
	return {
		get isRunning() {
			return screen.isBusy;
		},
		abort: async () => (await session()?.abort()) ?? [],
		takeQueue: () => session()?.takeQueue() ?? [],
		branch: () => command("/branch"),
		chooseModel: () => command("/model"),
		cycleModel: (step) => {
			session()
				?.cycleModel(step)
				.then((model) => {
					if (model === null) screen.hint("there is no other model · /model shows all");
				})
				.catch(failed);
		},
		cycleThinkingLevel: () => {
			const current = session();
			if (current?.model && !current.model.reasoning) screen.hint(`${current.model.name} does not think`);
			else current?.cycleThinkingLevel();
		},
		toggleTools: () => screen.transcript.toggleExpanded(),
		toggleThinking: () => screen.transcript.toggleThinking(),
		editExternally: async (text) => {
			if (editorCommand === null) {
				screen.hint("no editor is set · set $VISUAL or $EDITOR");
				return null;
			}
			return lendTerminal(screen.tui, () => editExternally(text, editorCommand));
		},
		suspend: () => void suspend(screen.tui).catch(failed),
		hint: (text) => screen.hint(text),
		quit,
		searchHistory,
		pasteImage,
		failed,
	};
}
