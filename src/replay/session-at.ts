import { buildContext } from "../context/build-context.js";
import type { BuiltContext } from "../context/context-message.js";
import { coreContext } from "../context/core.js";
import { entryMessage } from "../context/entry-message.js";
import { factsAt, type PastFactInputs } from "../context/facts.js";
import { type CorePreamble, NO_PREAMBLE } from "../context/preamble.js";
import { coreAt } from "../context/recorded-preamble.js";
import { estimateAll, estimateText } from "../context/tokens.js";
import { type FlagValues, flagValues, listFlags } from "../hooks/flags.js";
import { HookRegistry, type LoadedHook } from "../hooks/registry.js";
import { HookRunner } from "../hooks/runner.js";
import type { HandlerWatch } from "../hooks/watchdog.js";
import type { RequestFacts, SessionEntry } from "../log/entry.js";
import { sectionsForTools } from "../resources/system-prompt.js";
import { createReplaySession, type ReplaySessionOptions } from "./replay-session.js";

export interface ReplayOptions {
	hook: LoadedHook;
	/** Frozen. */
	entries: readonly SessionEntry[];
	cwd: string;
	sessionFile: string | null;
	/** Values of flags that replace those that the session recorded. */
	flags: FlagValues;
	/** Finds a model of the session. */
	findModel: PastFactInputs["findModel"];
	/** See `PastFactInputs`. */
	retention: PastFactInputs["retention"];
	hookTimeoutMs: number;
	/** Detects handlers that block the event loop. */
	watch?: HandlerWatch;
}

const NEVER = new AbortController().signal;

/** The context that handlers saw last. */
export interface LastContext {
	built: BuiltContext;
	/** Number of entries from which it was computed. */
	end: number;
}

/** What handlers of a hook read at a point of a session, as in the session itself. Computed when a handler reads it. */
export function sessionAt(
	end: number,
	last: LastContext | null,
	{ flags: declared }: Pick<LoadedHook, "flags">,
	options: ReplayOptions,
): Pick<ReplaySessionOptions, "length" | "entries" | "messages" | "flags" | "systemPrompt" | "model" | "usage"> {
	const entries = once(() => Object.freeze(options.entries.slice(0, end)));
	const facts = once(() => factsOf(end, declared, options));
	const systemPrompt = once(() => last?.built.preamble.promptSections ?? coreOf(end, options).sections);
	const messages = once(() => {
		const before = last?.built.messages ?? coreContext(entries()).messages;
		const added = last ? options.entries.slice(last.end, end).flatMap((entry) => entryMessage(entry) ?? []) : [];
		return Object.freeze([...before.map(({ message }) => message), ...added]);
	});
	return {
		length: end,
		entries,
		messages,
		flags: () => facts().flags,
		systemPrompt,
		model: () => {
			const { model } = facts();
			return model && options.findModel(model.provider, model.id);
		},
		usage() {
			const { contextWindow, ratio } = facts();
			const preamble = estimateText(
				systemPrompt()
					.map(({ text }) => text)
					.join("\n\n"),
			);
			const tokens = Math.ceil((estimateAll(messages()) + preamble) * ratio);
			return { tokens, contextWindow, percent: contextWindow > 0 ? (100 * tokens) / contextWindow : null };
		},
	};
}

function coreOf(end: number, { entries }: Pick<ReplayOptions, "entries">): CorePreamble {
	return coreAt(entries, end, sectionsForTools) ?? NO_PREAMBLE;
}

function factsOf(end: number, declared: LoadedHook["flags"], options: ReplayOptions): RequestFacts {
	const { entries, flags: given, findModel, retention } = options;
	const defaults = flagValues(listFlags([{ path: "", flags: declared }]).flags, {});
	return factsAt(entries, end, { given, defaults, findModel, retention, now: Date.now() });
}

/** The context of the first `end` entries after one hook. */
export function buildAt(
	end: number,
	hook: LoadedHook,
	options: ReplayOptions,
	runner?: HookRunner,
): Promise<BuiltContext> {
	const { hookTimeoutMs, cwd, sessionFile } = options;
	const entries = Object.freeze(options.entries.slice(0, end));
	const host = createReplaySession({ cwd, sessionFile, ...sessionAt(end, null, hook, options) }, () => {});
	const calls =
		runner ??
		new HookRunner({
			registry: new HookRegistry([hook], new Set()),
			host,
			hookTimeoutMs: () => hookTimeoutMs,
			onError: () => {},
		});
	return buildContext(
		entries,
		calls.contextStages(() => entries, NEVER),
		{
			preamble: coreOf(end, options),
			facts: () => factsOf(end, hook.flags, options),
		},
	);
}

/** A function that calls `make` at most once. */
function once<T>(make: () => T): () => T {
	let made: { value: T } | null = null;
	return () => {
		made ??= { value: make() };
		return made.value;
	};
}
