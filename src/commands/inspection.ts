import type { Tool } from "@mariozechner/pi-ai";
import type { CacheLoss } from "../context/cache-loss.js";
import type { BuiltContext, TracedMessage } from "../context/context-message.js";
import type { EntrySource } from "../context/entry-message.js";
import type { HookShare, Ledger } from "../context/ledger.js";

/** What goes with every request before its messages. */
export interface RequestPreamble {
	systemPrompt: string;
	tools: readonly Tool[];
	/** Estimate. */
	tokens: number;
}

/** A request, laid open: the next one or one of the past, as it is or as it would be without some hooks. */
export interface ContextInspection {
	context: BuiltContext;
	ledger: Ledger;
	/** As it is now, also for a request of the past: sessions do not keep it. */
	preamble: RequestPreamble;
	/** Index of the last entry that counts; null for the next request. */
	at: number | null;
	/** What `at` is of each past request: the index of the entry before its reply. */
	requests: readonly number[];
	/** The entries that it was computed from. */
	entries: EntrySource;
	/** The request before; null when there was none. */
	previous: readonly TracedMessage[] | null;
	/** What this request loses of the provider's cache; null when it only adds to the one before. */
	loss: CacheLoss | null;
	/** Tokens that the model can take; 0 when that is not known. */
	contextWindow: number;
	/** Hooks that can change the context, those that were left out among them. */
	hooks: readonly { path: string; name: string }[];
	/** Paths of hooks whose answers differ for the same question. */
	unstable: readonly string[];
}

/** Tokens of a request with all that goes before its messages, and how many of them the provider's cache can hold. */
export function requestSize({ ledger, preamble, previous }: ContextInspection): { tokens: number; cached: number } {
	const cached = previous ? preamble.tokens + (ledger.prefix?.tokens ?? 0) : 0;
	return { tokens: preamble.tokens + ledger.tokens, cached };
}

/** Which request is looked at, and how. */
export interface InspectOptions {
	/** Paths of hooks to leave out. */
	without?: ReadonlySet<string>;
	/** Index of the last entry that counts; absent or null for the next request. */
	at?: number | null;
}

/** How the calls of one hook went in this session. */
export interface HookFigures {
	calls: number;
	/** Calls by event; commands as `/name`. */
	events: Readonly<Record<string, number>>;
	/** Median and 95th percentile of the last calls, ms; a dialog's time counts. null before the first call. */
	p50Ms: number | null;
	p95Ms: number | null;
	timeouts: number;
	/** Tool calls, requests and session changes that it stopped. */
	blocks: number;
	/** The last thing that went wrong. */
	lastError: string | null;
	/** It answered differently when it was asked the same again. */
	isUnstable: boolean;
}

/** A hook and how it does. */
export interface HookStatus {
	path: string;
	name: string;
	scope: string;
	events: readonly string[];
	/** Without the slash. */
	commands: readonly string[];
	entryTypes: readonly string[];
	/** False when the user turned it off for this session, or when it is not loaded. */
	isEnabled: boolean;
	/** Why it did not load the last time; null when it did. After a reload the version before may still run. */
	problem: string | null;
	figures: HookFigures;
	/** What it does to the context as last computed. */
	share: HookShare;
	/** What of it can never be called in this mode and session. */
	cannotFire: readonly { what: string; why: string }[];
	/** What other hooks claim too, a sentence each. */
	conflicts: readonly string[];
}

/** Looks into a session and changes nothing of what is written. */
export interface Inspector {
	/**
	 * Computes the next request, or one of the past with the hooks of now. Nothing is sent or saved.
	 * @throws PiError `bad_arguments` when there is no entry `at`
	 */
	inspectContext(options?: InspectOptions): Promise<ContextInspection>;
	/** The messages that the model was last given; null before the first request. */
	readonly lastRequest: readonly TracedMessage[] | null;
	/** Hooks in the order in which they run, then those that did not load. */
	hookStatuses(): HookStatus[];
	/** Turns handlers and commands of a hook off or on until the session ends, and computes the context anew. */
	setHookEnabled(path: string, isEnabled: boolean): Promise<void>;
}
