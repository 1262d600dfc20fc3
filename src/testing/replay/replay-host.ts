import { PiError } from "../../errors.js";
import { NO_UI } from "../../hooks/bound-ui.js";
import { checkCustomEntry } from "../../hooks/custom-entry.js";
import { checkSystemItem, ownerOf } from "../../hooks/handles.js";
import type { HookHost } from "../../hooks/host-context.js";
import type { DialogOptions, HookEventContext, HookUI } from "../../hooks/types.js";
import type { AppMessage, SessionEntry } from "../../log/entry.js";

/** Effects are truncated to this many characters. */
const MAX_EFFECT_CHARS = 160;

export interface ReadOnlyHostOptions {
	cwd: string;
	sessionFile: string | null;
	entries: readonly SessionEntry[];
	/** The context before all hooks; called only if a hook reads it. */
	messages(): readonly AppMessage[];
}

/** A read-only session for hooks: effects are rejected or ignored, and dialogs are canceled. */
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
			throw new PiError("entry_refused", `saveEntry of ${path}: the session is read-only`);
		},
		rebuildContext: async () => {},
		setModel: async () => {},
		setThinkingLevel: () => {},
		openDialog: () => () => {},
		setEditorText: () => {},
	};
}

/** A session at a point of its replay. Entries and context are computed only if a handler reads them. */
export interface ReplayHostOptions extends Pick<ReadOnlyHostOptions, "cwd" | "sessionFile"> {
	/** Number of entries. */
	length: number;
	entries(): readonly SessionEntry[];
	/** The context before the hook. */
	core(): readonly AppMessage[];
}

/**
 * A session for hooks during a replay: effects are recorded instead of carried out, and every dialog is canceled.
 * @param onEffect receives one line for each effect
 */
export function createReplayHost(options: ReplayHostOptions, onEffect: (line: string) => void): HookHost {
	const ask = async <T>(kind: string, title: string, canceled: T): Promise<T> => {
		onEffect(`asks (${kind}): ${title} · canceled`);
		return canceled;
	};
	const ui: HookUI = {
		select: (title: string) => ask("select", title, null),
		confirm: (title: string, message: string, _?: DialogOptions) => ask("confirm", `${title} ${message}`, false),
		input: (title: string) => ask("input", title, null),
		notify: (message) => onEffect(`shows: ${message}`),
	};
	return {
		...createReadOnlyHost({ cwd: options.cwd, sessionFile: options.sessionFile, entries: [], messages: () => [] }),
		get entries() {
			return options.entries();
		},
		get messages() {
			return options.core();
		},
		ui,
		saveEntries(hook, entries) {
			const checked = entries.map((entry) => checkCustomEntry(hook, entry));
			for (const { timestamp: _, ...entry } of checked) onEffect(`would save ${shorten(JSON.stringify(entry))}`);
			return checked.map((_, position) => options.length + position);
		},
		systemItems: {
			append(handle, item) {
				const { kind, text } = checkSystemItem(ownerOf(handle), item);
				onEffect(`would add a system item (${kind}): ${shorten(text)}`);
			},
		},
		rebuildContext: async () => onEffect("would rebuild the context"),
		setModel: async ({ provider, id }) => onEffect(`would switch to the model ${provider}/${id}`),
		setThinkingLevel: (level) => onEffect(`would set the thinking level to ${level}`),
		setEditorText: (text) => onEffect(`would put into the editor: ${shorten(text)}`),
	};
}

/** A copy of a context object whose `exec` records the command instead of running it, and returns exit code 127. */
export function withoutPrograms<C extends HookEventContext>(ctx: C, onEffect: (line: string) => void): C {
	const exec: HookEventContext["exec"] = async (command, args) => {
		onEffect(`would run ${shorten([command, ...args].join(" "))}`);
		return { stdout: "", stderr: "not run: this is a replay", code: 127, killed: false };
	};
	const members: PropertyDescriptorMap = { ...Object.getOwnPropertyDescriptors(ctx), exec: { value: exec } };
	// The copy has all members of `ctx`, so its type is the same.
	return Object.freeze(Object.create(Object.prototype, members)) as C;
}

function shorten(text: string): string {
	const line = text.replace(/\s+/g, " ");
	return line.length > MAX_EFFECT_CHARS ? `${line.slice(0, MAX_EFFECT_CHARS)}…` : line;
}
