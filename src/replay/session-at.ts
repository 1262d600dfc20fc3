import { buildContext } from "../context/build-context.js";
import type { BuiltContext } from "../context/context-message.js";
import { coreContext } from "../context/core-context.js";
import { entryMessage } from "../context/entry-message.js";
import { factsAt, type PastFactInputs } from "../context/facts.js";
import { type CorePreamble, NO_PREAMBLE } from "../context/preamble.js";
import { coreAt } from "../context/recorded-preamble.js";
import { estimateAll, estimateText } from "../context/tokens.js";
import { type FlagValues, flagValues, listFlags } from "../hooks/flags.js";
import { HookRegistry, type LoadedHook } from "../hooks/hook-registry.js";
import { HookRunner } from "../hooks/runner.js";
import type { HookEventContext } from "../hooks/types.js";
import type { HandlerWatch } from "../hooks/watchdog.js";
import type { AppMessage, RequestFacts, SessionEntry } from "../log/entry.js";
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
	length: number;
}

/** What the members of a context object are computed from. */
interface ViewSource {
	log: { readonly entries: readonly SessionEntry[] };
	last(): LastContext | null;
	/** System prompt and tools before hooks. */
	core(): CorePreamble;
	facts(): RequestFacts;
	findModel: HookEventContext["findModel"];
}

/** What handlers read during a replay, as in the session itself. Computed when a handler reads it. */
export function handlerView(source: ViewSource): Omit<ReplaySessionOptions, "cwd" | "sessionFile" | "length"> {
	const { log, last, core, facts, findModel } = source;
	const messages = (): readonly AppMessage[] => {
		const { built, length = log.entries.length } = last() ?? {};
		const before = built?.messages ?? coreContext(log.entries).messages;
		const added = log.entries.slice(length).flatMap((entry) => entryMessage(entry) ?? []);
		return Object.freeze([...before.map(({ message }) => message), ...added]);
	};
	const systemPrompt = () => last()?.built.preamble.promptSections ?? core().sections;
	return {
		entries: () => log.entries,
		messages,
		systemPrompt,
		flags: () => facts().flags,
		model: () => {
			const { model } = facts();
			return model && findModel(model.provider, model.id);
		},
		usage: () => {
			const { contextWindow, ratio } = facts();
			const text = systemPrompt().map((section) => section.text);
			const tokens = Math.ceil((estimateText(text.join("\n\n")) + estimateAll(messages())) * ratio);
			return { tokens, contextWindow, percent: contextWindow > 0 ? (100 * tokens) / contextWindow : null };
		},
	};
}

/** What handlers of a hook read at a point of a session. */
export function sessionAt(
	end: number,
	last: LastContext | null,
	{ flags: declared }: Pick<LoadedHook, "flags">,
	options: ReplayOptions,
): Omit<ReplaySessionOptions, "cwd" | "sessionFile"> {
	const entries = once(() => Object.freeze(options.entries.slice(0, end)));
	const view = handlerView({
		log: {
			get entries() {
				return entries();
			},
		},
		last: () => last,
		core: () => coreOf(end, options),
		facts: once(() => factsOf(end, declared, options)),
		findModel: options.findModel,
	});
	return { length: end, ...view };
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
