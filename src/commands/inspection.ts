import type { CacheLoss } from "../context/cache-loss.js";
import type { BuiltContext } from "../context/context-message.js";
import type { EntrySource } from "../context/entry-message.js";
import type { HookShare, Ledger, SentRequest } from "../context/ledger.js";
import type { NativeSummary } from "../context/native-compaction.js";
import type { SourcePosition } from "../errors.js";
import type { HookGroup } from "../hooks/bundled-hook.js";
import type { RegisteredNames } from "../hooks/registered-names.js";
import { formatCost, formatTokens } from "../util/format-amounts.js";
import type { ShadowFigures } from "./shadow-figures.js";

/** Analysis of the next request or a past one, optionally without some hooks. */
export interface ContextInspection {
	context: BuiltContext;
	ledger: Ledger;
	/** True for a request of an older session, which does not record its system prompt and tools: they are today's. */
	isPreambleCurrent: boolean;
	/** Index of the last included entry; null for the next request. */
	at: number | null;
	/** The value of `at` for each past request: the index of the entry before its reply. */
	requests: readonly number[];
	/** The entries that the context was computed from. */
	entries: EntrySource;
	/** The previous request; null for the first one. */
	previous: SentRequest | null;
	/** Loss of the provider's cache; null when the request only appends to the previous one. */
	loss: CacheLoss | null;
	/**
	 * What the provider reported of this request, or for the next request of the last one: its tokens, and how many came from
	 * the cache. null without a reply, and for a provider that reports no cached tokens in the session.
	 */
	reported: { tokens: number; cached: number } | null;
	/** The compaction that the provider gets in its own form; null for none. */
	native: NativeSummary | null;
	/** Tokens that the model accepts; 0 if unknown. */
	contextWindow: number;
	/** Hooks that can change the context, including the excluded ones. */
	hooks: readonly { path: string; name: string }[];
	/** Paths of hooks that return different results for the same input. */
	unstable: readonly string[];
}

/**
 * The share of a request that its provider can have cached, and the share that it reported: `expected 98 %, reported 95 %
 * cached`. Rounded down: 100 % is the full request. null if neither is known.
 */
export function cacheShares(inspection: ContextInspection): string | null {
	const { reported, at, ledger } = inspection;
	const { tokens, prefix } = ledger;
	const cached = prefix?.tokens ?? 0;
	const percent = (part: number, total: number) => `${Math.floor((100 * part) / total)} %`;
	const shares = [
		...(cached > 0 ? [`expected ${percent(cached, tokens)}`] : []),
		...(reported ? [`${at === null ? "last " : ""}reported ${percent(reported.cached, reported.tokens)}`] : []),
	];
	return shares.length > 0 ? `${shares.join(", ")} cached` : null;
}

/** What the requests of a session have sent so far. */
export interface ContextTotals {
	/** Number of requests whose usage is known. */
	requests: number;
	/** Tokens, as the providers counted them. */
	sent: number;
	cached: number;
	/** Estimated tokens that were sent again although the provider had them. */
	resent: number;
	/** USD; null if unknown. */
	cost: number | null;
}

/**
 * One line: `so far 1.2M tokens sent, 91 % cached, 44k sent again, $4.32, hooks saved $0.73`.
 * @param saved see `Inspector.hooksSaved`
 */
export function describeTotals({ sent, cached, resent, cost }: ContextTotals, saved: number | null): string {
	return [
		`so far ${formatTokens(sent)} tokens sent`,
		`${Math.floor((100 * cached) / sent)} % cached`,
		...(resent > 0 ? [`${formatTokens(resent)} sent again`] : []),
		...(cost === null ? [] : [formatCost(cost)]),
		...(saved === null ? [] : [`hooks ${saved < 0 ? "cost" : "saved"} ${formatCost(Math.abs(saved))}`]),
	].join(", ");
}

/** Which request to inspect. */
export interface InspectOptions {
	/** Paths of hooks to exclude. */
	without?: ReadonlySet<string>;
	/** Index of the last included entry; absent or null for the next request. */
	at?: number | null;
}

/** Statistics of the calls of one hook in this session. */
export interface HookFigures {
	calls: number;
	/** Calls by event; commands as `/name`. */
	events: Readonly<Record<string, number>>;
	/** Median and 95th percentile of the last calls in ms, without the time that a dialog was open. null before the first call. */
	p50Ms: number | null;
	p95Ms: number | null;
	timeouts: number;
	/** Number of tool calls, requests and session changes that it blocked. */
	blocks: number;

	lastError: string | null;
	/** Where the last error happened; null if unknown. */
	lastPlace: SourcePosition | null;
	/** Stack trace of the last error; only with `--verbose`. */
	lastStack: string | null;
	/** True when it returned different results for the same input. */
	isUnstable: boolean;
	/** 95th percentile of the times that its components, tool calls and entries took to draw, in ms; null if all were shorter than a frame. */
	slowDrawMs: number | null;
}

/** A tool of a hook. */
export interface HookToolStatus {
	name: string;
	/** True if the model gets it instead of the built-in tool of this name. */
	replacesBuiltin: boolean;
}

/** The tools of a hook as a list: `read (replaces the built-in tool), shout`. */
export function describeTools(tools: readonly HookToolStatus[]): string {
	return tools
		.map(({ name, replacesBuiltin }) => (replacesBuiltin ? `${name} (replaces the built-in tool)` : name))
		.join(", ");
}

/** A hook with its registrations and statistics. */
export interface HookStatus extends Omit<RegisteredNames, "tools"> {
	path: string;
	name: string;
	scope: string;
	tools: readonly HookToolStatus[];
	/** Set for bundled hooks, which the user turns on and off in the settings. */
	bundled: {
		group: HookGroup;
		description: string;
		/** False when it is off: its events and entry types are unknown then. */
		isLoaded: boolean;
		/** Path of the user's hook that has one of its commands, so that it does not run. */
		replacedBy: string | null;
	} | null;
	/** False when the user disabled it, for this session or as a bundled hook, or when it is not loaded. */
	isEnabled: boolean;
	/** True for a hook that is off and of which `playShadows` computes what it would have sent. */
	isShadow: boolean;
	/** Why its last load failed; null when it loaded. After a failed reload, the previous version may still run. */
	problem: string | null;
	figures: HookFigures;
	/** Its effect on the last computed context. */
	share: HookShare;
	/** Handlers and commands that can never be called in this mode and session. */
	cannotFire: readonly { what: string; why: string }[];
	/** Conflicts with other hooks, one sentence each. */
	conflicts: readonly string[];
}

/** Inspects a session without changing its log. */
export interface Inspector {
	/**
	 * Computes the next request, or a past one with the current hooks. Nothing is sent or saved.
	 * @throws PiError `bad_arguments` when entry `at` does not exist
	 */
	inspectContext(options?: InspectOptions): Promise<ContextInspection>;
	/** What the requests of the session have sent; null before the first reply whose usage is known. */
	contextTotals(): ContextTotals | null;
	/**
	 * USD that the hooks saved in this session by what they changed; negative: that they cost. Takes about a millisecond for
	 * each request. @returns null if they changed no request, or if the cost is unknown
	 */
	hooksSaved(): Promise<number | null>;
	/** The last request; null before the first one. */
	readonly lastRequest: SentRequest | null;
	/** Hooks in running order, then those that failed to load, then the bundled ones that are off. */
	hookStatuses(): HookStatus[];
	/**
	 * Plays the log with each hook in the shadow added to those that are on. Nothing is sent or saved, and no model is asked.
	 * Computed again only if the log or the hooks that are on have changed.
	 * @param onProgress receives the share of the work that is done, 0 to 1
	 * @returns the figures by the path of the hook; null if `signal` stopped it
	 */
	playShadows(options: {
		signal: AbortSignal;
		onProgress(share: number): void;
	}): Promise<ReadonlyMap<string, ShadowFigures> | null>;
	/**
	 * Puts a hook that is off into the shadow or takes it out, in the user's settings.
	 * @throws PiError `config_write_failed`
	 */
	setHookShadow(path: string, isShadow: boolean): Promise<void>;
	/**
	 * Enables or disables a hook, and recomputes the context: a bundled hook, and one that is known only from the shadow, in the
	 * user's settings, others until the session ends. A hook that is enabled leaves the shadow.
	 * @throws PiError `config_write_failed` or `hook_load_failed` for a hook that it loads
	 */
	setHookEnabled(path: string, isEnabled: boolean): Promise<void>;
}
