import type { Api, AssistantMessage, CacheRetention, Model, Usage } from "@mariozechner/pi-ai";
import { cacheBreakpoints } from "../context/cache-breakpoints.js";
import { findCacheLoss } from "../context/cache-loss.js";
import type { BuiltContext } from "../context/context-message.js";
import { ASSUMED_LIFETIME_MS, lifetimeOf } from "../context/facts.js";
import { sectionTokens, toolTokens } from "../context/preamble.js";
import { estimateTokens } from "../context/tokens.js";
import { calculateCost } from "../util/pi-ai.js";
import type { PlayedRequest, PlayObserver } from "./play.js";
import { type CacheRules, type CacheSurprise, PartIds, PromptCache, type RequestPart } from "./prompt-cache.js";
import type { SessionScale } from "./scale.js";
import type { StandInRequest } from "./shadow-session.js";

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

export interface MeterOptions {
	scale: SessionScale;
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
	/** What a recording cannot tell, with the number of times. */
	readonly unplayed = new Map<string, number>();
	readonly standIns: { count: number; cost: number } = { count: 0, cost: 0 };
	readonly #caches = new Map<string, PromptCache>();
	readonly #ids = new PartIds();
	#previous: BuiltContext | null = null;

	constructor(private readonly options: MeterOptions) {}

	onRequest({ reply, message, context }: PlayedRequest): number {
		const { retention, findModel, scale, surpriseAt } = this.options;
		const { provider, model: id } = message;
		const model = findModel(provider, id);
		const { parts, breakpoints } = this.#parts(context, scale.of(reply));
		const surpriseOf = (expected: number) => surpriseAt(reply, message, expected);
		const cache = this.#cache(message, model);
		const { read, written, uncached } = cache.send(parts, breakpoints, message.timestamp, surpriseOf);
		const isWriteFree = (model?.cost.cacheWrite ?? 0) === 0;
		const usage = usageOf({
			...{ read, output: message.usage.output, isLong: retention === "long" },
			...(isWriteFree ? { written: 0, uncached: uncached + written } : { written, uncached }),
		});
		const loss = this.#previous && findCacheLoss(this.#previous, context);
		this.#previous = context;
		const sent = Math.round(read + written + uncached);
		this.requests.push({
			...{ reply, sent, cached: Math.round(read) },
			resent: Math.round((loss?.resent ?? 0) * scale.of(reply).ratio),
			cost: model && calculateCost(model as Model<Api>, usage).total,
		});
		return sent;
	}

	onStandIn({ provider, model: id, input, cached, output }: StandInRequest): void {
		const model = this.options.findModel(provider, id);
		const usage = usageOf({ read: cached, written: 0, uncached: input, output, isLong: false });
		this.standIns.count++;
		this.standIns.cost += model ? calculateCost(model as Model<Api>, usage).total : 0;
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

	#parts(
		context: BuiltContext,
		{ ratio, unrecorded }: { ratio: number; unrecorded: number },
	): { parts: RequestPart[]; breakpoints: number[] } {
		const { messages, preamble } = context;
		const ids = this.#ids;
		const part = (id: number, estimate: number): RequestPart => ({ id, tokens: estimate * ratio });
		const tools = preamble.tools.map((tool) => part(ids.ofText(`tool ${JSON.stringify(tool)}`), toolTokens(tool)));
		const system = preamble.promptSections.map((section) =>
			part(ids.ofText(`section ${section.text}`), sectionTokens(section)),
		);
		if (unrecorded > 0) system.push(part(ids.ofText("unrecorded"), unrecorded));
		const said = messages.map(({ message }) => part(ids.ofMessage(message), estimateTokens(message)));
		const parts = [...tools, ...system, ...said];
		const start = tools.length + system.length;
		const marks = cacheBreakpoints(context);
		const breakpoints = [
			...(marks.tools ? [tools.length] : []),
			...(marks.systemPrompt || unrecorded > 0 ? [start] : []),
			...marks.messages.map((end) => start + end),
		];
		return { parts, breakpoints };
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
