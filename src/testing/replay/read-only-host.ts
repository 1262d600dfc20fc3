import { PiError } from "../../errors.js";
import { type HookHost, NO_UI } from "../../hooks/host-context.js";
import type { AppMessage, SessionEntry } from "../../log/entry.js";

/** What hooks see of a session that is only looked at. */
export interface ReadOnlyHostOptions {
	cwd: string;
	sessionFile: string | null;
	entries: readonly SessionEntry[];
	/** The context before any hook; asked for when a hook looks at it. */
	messages(): readonly AppMessage[];
}

/** A session as hooks see it while it is looked at: everything can be read, nothing changed, nobody asked. */
export function createReadOnlyHost({ cwd, sessionFile, entries, messages }: ReadOnlyHostOptions): HookHost {
	return {
		cwd,
		sessionFile,
		entries,
		get messages() {
			return messages();
		},
		model: null,
		thinkingLevel: "off",
		ui: NO_UI,
		hasUI: false,
		generation: 0,
		findModel: () => null,
		availableModels: async () => [],
		resolveApiKey: async () => undefined,
		requestAuth: async () => undefined,
		saveEntries: ({ path }) => {
			throw new PiError("entry_refused", `saveEntry of ${path}: the session is only looked at`);
		},
		rebuildContext: async () => {},
		setModel: async () => {},
		setThinkingLevel: () => {},
		setEditorText: () => {},
	};
}
