import type { Api, AssistantMessage, CacheRetention, Model, Usage } from "@mariozechner/pi-ai";
import { cacheBreakpoints } from "../context/cache-breakpoints.js";
import { findCacheLoss } from "../context/cache-loss.js";
import { inputTokens } from "../context/calibration.js";
import type { BuiltContext, TracedMessage } from "../context/context-message.js";
import { ASSUMED_LIFETIME_MS, lifetimeOf } from "../context/facts.js";
import { sectionTokens, toolTokens } from "../context/preamble.js";
import { sharedLength } from "../context/shared-length.js";
import { estimateTokens } from "../context/tokens.js";
import { calculateCost } from "../util/pi-ai.js";
import type { PlayedRequest, PlayObserver } from "./play.js";
import { type CacheRules, type CacheSurprise, PartIds, PromptCache } from "./prompt-cache.js";
import type { SessionScale } from "./session-scale.js";
import type { PlayProblem, SideRequest } from "./shadow-session.js";

/** A request with its predicted tokens and cost. */
export interface MeteredRequest {
	/** Index of its reply in the recording. */
	reply: number;
	/** Predicted tokens. */
	sent: number;
	cached: number;
	/** Tokens that the previous request had, and that are sent again without the cache. */
	resent: number;
	/** USD; null if the prices are unknown. */
	cost: number | null;
}

/** A kind of failures or dropped answers of a hook. */
export interface StrategyProblem {
	/** File name of the hook. */
	hook: string;
	/** The last one, as a sentence. */
	reason: string;
	count: number;
}

/** What the meter needs of a request. */
export type MeteredInput = Omit<PlayedRequest, "entries"> & Partial<Pick<PlayedRequest, "entries">>;

export interface MeterOptions {
	scale: SessionScale;
	/** Called before a request is counted. */
	onRequest(request: MeteredInput): void;
	/** False for a request that counts in another session. Default: all count. */
	isCounted?(reply: number): boolean;
	retention: CacheRetention | undefined;
	/** The model of a request, with its prices; null if it is unknown. */
	findModel(provider: string, id: string): MeteredModel | null;
	/** What the cache did at a request that its rules do not say. @param read tokens that it has by its rules */
	surpriseAt(reply: number, message: AssistantMessage, read: number): CacheSurprise;
	/** Whether the provider of a reply caches what is sent, as far as the recording tells. */
	caches(message: AssistantMessage): boolean;
}

/** What a model costs and how its provider caches. */
export type MeteredModel = Pick<Model<Api>, "cost" | "api" | "promptCache">;

/** Least tokens of a start that providers keep. */
const MIN_CACHED_TOKENS = 1024;
/** Blocks before a breakpoint at which Anthropic looks for what it has. */
const LOOKBACK = 20;

/** Predicts the tokens and the cost of the requests of one strategy in one session. */
export class RequestMeter implements PlayObserver {
	readonly requests: MeteredRequest[] = [];
	/** Requests that count in another session. */
	skipped = 0;
	/** Whether what is sent now counts; null before the first request. */
	#isCounted: boolean | null = null;
	/** What went wrong in hooks, each kind once. */
	readonly problems = new Map<string, StrategyProblem>();
	/** What a recording cannot tell, with the number of times. */
	readonly unplayed = new Map<string, number>();
	/** Requests for hooks and compactions, by who answered them, and what they cost. */
	readonly sideRequests = { asked: 0, standIns: 0, cost: 0 };
	readonly #caches = new Map<string, PromptCache>();
	readonly #parts = new RequestParts();
	#previous: BuiltContext | null = null;

	constructor(private readonly options: MeterOptions) {}

	onRequest(request: MeteredInput): number {
		const { reply, message, context } = request;
		// The provider refused it, or it never arrived.
		if (message.stopReason === "error" && inputTokens(message) === 0) return 0;
		this.options.onRequest(request);
		const { retention, findModel, scale, surpriseAt } = this.options;
		const { provider, model: id } = message;
		const model = findModel(provider, id);
		const { ratio, unrecorded } = scale.of(reply);
		const { breakpoints } = this.#parts.update(context, unrecorded);
		const { ids, sums } = this.#parts;
		const { read, written, uncached } = this.#cache(message, model).send(
			{ ids, sums, ratio, breakpoints, time: message.timestamp },
			(expected) => surpriseAt(reply, message, expected),
		);
		const isWriteFree = (model?.cost.cacheWrite ?? 0) === 0;
		const usage = usageOf({
			...{ read, output: message.usage.output, isLong: retention === "long" },
			...(isWriteFree ? { written: 0, uncached: uncached + written } : { written, uncached }),
		});
		const loss = this.#previous && findCacheLoss(this.#previous, context);
		this.#previous = context;
		const sent = Math.round(read + written + uncached);
		this.#isCounted = this.options.isCounted?.(reply) ?? true;
		if (!this.#isCounted) {
			this.skipped++;
			return sent;
		}
		this.requests.push({
			...{ reply, sent, cached: Math.round(read) },
			resent: Math.round((loss?.resent ?? 0) * ratio),
			cost: model && calculateCost(model as Model<Api>, usage).total,
		});
		return sent;
	}

	onSideRequest({ provider, model: id, isAsked, input, cached, output }: SideRequest): void {
		if (this.#isCounted === false) return;
		const model = this.options.findModel(provider, id);
		const usage = usageOf({ read: cached, written: 0, uncached: input, output, isLong: false });
		this.sideRequests[isAsked ? "asked" : "standIns"]++;
		this.sideRequests.cost += model ? calculateCost(model as Model<Api>, usage).total : 0;
	}

	onProblem({ hook, kind, reason }: PlayProblem): void {
		const key = `${hook} ${kind}`;
		this.problems.set(key, { hook, reason, count: (this.problems.get(key)?.count ?? 0) + 1 });
	}

	onUnplayed(what: string): void {
		this.unplayed.set(what, (this.unplayed.get(what) ?? 0) + 1);
	}

	#cache(message: AssistantMessage, model: MeteredModel | null): PromptCache {
		const key = `${message.provider}/${message.model}`;
		const cache = this.#caches.get(key) ?? new PromptCache(this.#rules(message, model));
		this.#caches.set(key, cache);
		return cache;
	}

	#rules(message: AssistantMessage, model: MeteredModel | null): CacheRules {
		const { retention } = this.options;
		const isMarked = BREAKPOINT_APIS.has(model?.api ?? message.api);
		const isOff = (isMarked && retention === "none") || !this.options.caches(message);
		return {
			kind: isOff ? "none" : isMarked ? "breakpoints" : "automatic",
			lifetimeMs: lifetimeOf(model ?? undefined, retention) ?? ASSUMED_LIFETIME_MS,
			minTokens: MIN_CACHED_TOKENS,
			lookback: LOOKBACK,
		};
	}
}

/** The parts of the last request; the next one changes only those that differ. */
class RequestParts {
	readonly ids: number[] = [];
	/** Estimated tokens before each part, and of all. */
	readonly sums: number[] = [0];
	readonly #numbers = new PartIds();
	#messages: readonly TracedMessage[] = [];
	#head: readonly number[] = [];

	/** @param unrecorded see `RequestScale` */
	update(context: BuiltContext, unrecorded: number): { breakpoints: number[] } {
		const { messages, preamble } = context;
		const numbers = this.#numbers;
		const tools = preamble.tools.map((tool) => ({
			id: numbers.ofText(`tool ${JSON.stringify(tool)}`),
			tokens: toolTokens(tool),
		}));
		const system = preamble.promptSections.map((section) => ({
			id: numbers.ofText(`section ${section.text}`),
			tokens: sectionTokens(section),
		}));
		if (unrecorded > 0) system.push({ id: numbers.ofText("unrecorded"), tokens: unrecorded });
		const head = [...tools, ...system];
		const ids = head.map(({ id }) => id);
		const isSame = ids.length === this.#head.length && ids.every((id, at) => id === this.#head[at]);
		let shared = 0;
		if (isSame) shared = sharedLength(this.#messages, messages);
		else {
			this.#cut(0);
			for (const { id, tokens } of head) this.#add(id, tokens);
		}
		this.#cut(head.length + shared);
		for (let at = shared; at < messages.length; at++) {
			const message = messages[at]?.message;
			if (message) this.#add(numbers.ofMessage(message), estimateTokens(message));
		}
		this.#messages = messages;
		this.#head = ids;
		const marks = cacheBreakpoints(context);
		return {
			breakpoints: [
				...(marks.tools ? [tools.length] : []),
				...(marks.systemPrompt || unrecorded > 0 ? [head.length] : []),
				...marks.messages.map((end) => head.length + end),
			],
		};
	}

	#add(id: number, tokens: number): void {
		this.ids.push(id);
		this.sums.push((this.sums.at(-1) ?? 0) + tokens);
	}

	#cut(length: number): void {
		this.ids.length = length;
		this.sums.length = length + 1;
	}
}

/** Wire formats in which pi marks what is to be cached. */
const BREAKPOINT_APIS: ReadonlySet<string> = new Set(["anthropic-messages", "bedrock-converse-stream"]);

function usageOf({
	read,
	written,
	uncached,
	output,
	isLong,
}: {
	read: number;
	written: number;
	uncached: number;
	output: number;
	isLong: boolean;
}): Usage {
	return {
		...{ input: uncached, output, cacheRead: read, cacheWrite: written },
		...(isLong && { cacheWrite1h: written }),
		totalTokens: read + written + uncached + output,
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
	};
}

/** Share of a request by which the cache may differ from its rules, and tokens: providers count in blocks. */
const [TOLERANCE, MIN_DIFFERENCE] = [0.1, 1024];

/** How the usage of a reply differs from what the rules of the cache say. */
function surpriseOf({ usage }: AssistantMessage, read: number): CacheSurprise {
	const counted = inputTokens({ usage });
	const difference = usage.cacheRead - read;
	if (counted === 0 || Math.abs(difference) < Math.max(MIN_DIFFERENCE, TOLERANCE * counted)) return {};
	return difference > 0 ? { keptLonger: true } : { atMost: usage.cacheRead * (1 + TOLERANCE) };
}

/** Notes what the caches of a recording did and no entry tells, for all strategies. */
export function surprises(): Record<"note" | "of", MeterOptions["surpriseAt"]> {
	const found = new Map<number, CacheSurprise>();
	return {
		note(reply, message, read) {
			const surprise = surpriseOf(message, read);
			found.set(reply, surprise);
			return surprise;
		},
		of: (reply) => found.get(reply) ?? {},
	};
}
