import { checkCustomEntry } from "../../hooks/custom-entry.js";
import { checkSystemItem, ownerOf } from "../../hooks/handles.js";
import type { HookHost } from "../../hooks/host-context.js";
import type { DialogOptions, HookEventContext, HookUI } from "../../hooks/types.js";
import type { AppMessage, SessionEntry } from "../../log/entry.js";
import { createReadOnlyHost, type ReadOnlyHostOptions } from "./read-only-host.js";

/** Characters of an effect that are shown. */
const MAX_EFFECT_CHARS = 160;

/** A session at a moment of its replay. What a long session makes large is made when a handler asks for it. */
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
