import { PiError } from "../../errors.js";
import { checkCustomEntry } from "../../hooks/custom-entry.js";
import { checkSystemItem, ownerOf } from "../../hooks/handles.js";
import { type HookHost, NO_UI } from "../../hooks/host-context.js";
import type { DialogOptions, HookEventContext, HookUI } from "../../hooks/types.js";
import type { AppMessage, SessionEntry } from "../../log/entry.js";

/** Characters of an effect that are shown. */
const MAX_EFFECT_CHARS = 160;

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
		openDialog: () => () => {},
		setEditorText: () => {},
	};
}

/** A session at a point of its replay. What a long session makes large is made when a handler asks for it. */
export interface ReplayHostOptions extends Pick<ReadOnlyHostOptions, "cwd" | "sessionFile"> {
	/** Number of entries. */
	length: number;
	entries(): readonly SessionEntry[];
	/** The context before the hook. */
	core(): readonly AppMessage[];
}

/**
 * A session as hooks see it while it is replayed: everything can be read; what would have an effect is taken down and
 * not done, and every dialog is cancelled.
 * @param onEffect hears what the hook would have done, a line each
 */
export function createReplayHost(options: ReplayHostOptions, onEffect: (line: string) => void): HookHost {
	const ask = async <T>(kind: string, title: string, cancelled: T): Promise<T> => {
		onEffect(`asks (${kind}): ${title} · cancelled`);
		return cancelled;
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
				onEffect(`would tell the model (${kind}): ${shorten(text)}`);
			},
		},
		rebuildContext: async () => onEffect("would compute the context again"),
	};
}

/** The context object of a handler, but programs are taken down and not run: they exit with 127 and print nothing. */
export function withoutPrograms(ctx: HookEventContext, onEffect: (line: string) => void): HookEventContext {
	const exec: HookEventContext["exec"] = async (command, args) => {
		onEffect(`would run ${shorten([command, ...args].join(" "))}`);
		return { stdout: "", stderr: "not run: the session is only replayed", code: 127, killed: false };
	};
	const members: PropertyDescriptorMap = { ...Object.getOwnPropertyDescriptors(ctx), exec: { value: exec } };
	// The members of `ctx`, all of them, with one of the same type in place of another.
	return Object.freeze(Object.create(Object.prototype, members)) as HookEventContext;
}

function shorten(text: string): string {
	const line = text.replace(/\s+/g, " ");
	return line.length > MAX_EFFECT_CHARS ? `${line.slice(0, MAX_EFFECT_CHARS)}…` : line;
}
