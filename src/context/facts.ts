import type { Api, CacheRetention, Model } from "@mariozechner/pi-ai";
import {
	type AppendFacts,
	type AppMessage,
	isMessageEntry,
	isModelChangeEntry,
	type MessageEntry,
	type RequestFacts,
	type SessionEntry,
} from "../log/entry.js";
import { Calibration, inputTokens, type ModelName } from "./calibration.js";
import type { ContextMessage } from "./context-message.js";
import { type EntrySource, entryTime } from "./entry-message.js";
import { estimateTokens } from "./tokens.js";

/** Time in ms for which a provider is assumed to remember a request if the model's facts do not say. */
export const ASSUMED_LIFETIME_MS = 300_000;

/** What a `context` handler may know besides the entries. Frozen; recorded with the reply if a handler reads it. */
export interface ContextFacts extends Omit<RequestFacts, "ratio" | "appends"> {
	/** What answers can `append` so that the request begins like the one before. */
	readonly appends: AppendFacts;
	/** Tokens of the model for messages: estimates, corrected by what the provider counted in this session. */
	estimate(messages: AppMessage | ContextMessage | readonly (AppMessage | ContextMessage)[]): number;
}

/** The facts of a request that is being computed, and whether a handler has read them. */
export class FactsOffer {
	#given: { used: RequestFacts; facts: ContextFacts } | null = null;

	constructor(private readonly read: () => RequestFacts) {}

	/** The facts as handlers receive them. */
	get facts(): ContextFacts {
		this.#given ??= give(this.read());
		return this.#given.facts;
	}

	/** The facts that a handler has read; null if none did. */
	get used(): RequestFacts | null {
		return this.#given?.used ?? null;
	}
}

function give(used: RequestFacts): { used: RequestFacts; facts: ContextFacts } {
	const { ratio, appends = appendsOf(undefined), ...facts } = used;
	const estimate: ContextFacts["estimate"] = (given) => {
		const messages = Array.isArray(given) ? given : [given];
		return Math.ceil(messages.reduce((sum, item) => sum + estimateTokens(messageOf(item)), 0) * ratio);
	};
	return { used, facts: Object.freeze({ ...facts, appends, estimate }) };
}

function messageOf(item: AppMessage | ContextMessage): AppMessage {
	return "message" in item ? item.message : item;
}

/** What the facts of a request are made of. */
export interface FactInputs {
	/** The model of the request. */
	model: Model<Api> | undefined;
	/** How long the provider is asked to keep what it caches. */
	retention: CacheRetention | undefined;
	flags: RequestFacts["flags"];
	/** What the session has learned of its models. */
	calibration: Pick<Calibration, "ratio" | "window">;
	/** The entries of the request. */
	entries: EntrySource;
	/** ms since the epoch. */
	time: number;
}

/** The facts of a request. */
export function requestFacts({ model, retention, flags, calibration, entries, time }: FactInputs): RequestFacts {
	const lifetimeMs = lifetimeOf(model, retention);
	const { input = 0, cacheRead = 0, cacheWrite = 0 } = model?.cost ?? {};
	// As pi-ai counts it: writing for an hour costs twice as much as input.
	const write = retention === "long" && cacheWrite > 0 ? 2 * input : cacheWrite;
	return Object.freeze({
		model: model ? Object.freeze({ provider: model.provider, id: model.id }) : null,
		contextWindow: calibration.window(model),
		ratio: calibration.ratio(model),
		flags: Object.freeze(flags),
		cache: Object.freeze({
			warmTokens:
				model && retention !== "none" ? warmTokens(model, entries, time - (lifetimeMs ?? ASSUMED_LIFETIME_MS)) : 0,
			lifetimeMs,
			readPrice: cacheRead,
			writePrice: write === 0 ? input : write,
		}),
		appends: appendsOf(model),
		time,
	});
}

/** The facts of a request without a model, at the time of the last entry. */
export function factsWithoutModel(entries: EntrySource): RequestFacts {
	const time = entryTime(entries.at(entries.length - 1));
	return requestFacts({
		model: undefined,
		retention: undefined,
		flags: {},
		calibration: new Calibration(),
		entries,
		time,
	});
}

/** What the client can send to a model in the middle of a conversation, as its facts say. */
function appendsOf(model: Model<Api> | undefined): AppendFacts {
	const facts: object = model?.compat ?? {};
	const has = (name: string) => Reflect.get(facts, name) === true;
	const instructions = has("supportsMidConvoSystemMessages");
	// Each wire format has its own way to add tools. That of Anthropic begins with a tool that nobody knows: see `model-client.ts`.
	const ways = ["supportsMidConvoToolAdditions", "supportsAdditionalTools", "supportsToolSearch"];
	return Object.freeze({ instructions, tools: instructions && ways.some(has) });
}

/** Time in ms for which the provider of a model remembers a request; null if the model's facts do not say. */
export function lifetimeOf(
	model: Pick<Model<Api>, "promptCache"> | undefined,
	retention: CacheRetention | undefined,
): number | null {
	if (retention === "none") return null;
	const seconds = model?.promptCache?.[retention ?? "short"];
	return seconds === undefined ? null : seconds * 1000;
}

/** Tokens of the last request to a model, if it was sent at or after a time. */
function warmTokens({ provider, id }: ModelName, entries: EntrySource, since: number): number {
	for (let index = entries.length - 1; index > 0; index--) {
		const reply = replyIn(entries.at(index));
		const tokens = reply ? inputTokens(reply.message) : 0;
		if (!reply || tokens === 0) continue;
		const { message } = reply;
		return message.provider === provider && message.model === id && message.timestamp >= since ? tokens : 0;
	}
	return 0;
}

type ReplyEntry = MessageEntry & { message: Extract<AppMessage, { role: "assistant" }> };

function replyIn(entry: SessionEntry | undefined): ReplyEntry | null {
	return isMessageEntry(entry) && entry.message.role === "assistant" ? (entry as ReplyEntry) : null;
}

/** What a past request is computed with where the session does not record it. */
export interface PastFactInputs extends Pick<FactInputs, "retention"> {
	/** A model of the current lists. */
	findModel(provider: string, id: string): Model<Api> | null;
	/** Flags given now: they replace those of the session. */
	given: RequestFacts["flags"];
	/** Flags of hooks where nothing else gives them. */
	defaults: RequestFacts["flags"];
	/** The time of a request that was not sent, ms since the epoch. */
	now: number;
}

/**
 * The facts of the request that the entry at index `end` answered, as its record has them; otherwise derived from the entries
 * before it. An `end` without a reply stands for the request that would be sent there.
 */
export function factsAt(all: EntrySource, end: number, past: PastFactInputs): RequestFacts {
	const reply = replyIn(all.at(end));
	const recorded = reply?.context?.facts;
	if (recorded)
		return {
			...recorded,
			flags: { ...past.defaults, ...recorded.flags, ...past.given },
		};
	const entries: EntrySource = { length: end, at: (index) => (index < end ? all.at(index) : undefined) };
	const name = reply ? { provider: reply.message.provider, id: reply.message.model } : lastModel(entries);
	const model = (name && past.findModel(name.provider, name.id)) ?? undefined;
	const calibration = new Calibration();
	if (name) calibration.readBack(name, entries);
	const facts = requestFacts({
		...{ model, retention: past.retention, calibration, entries },
		flags: { ...past.defaults, ...past.given },
		time: reply?.message.timestamp ?? past.now,
	});
	// A model that no list has anymore still has its name.
	return model || !name ? facts : Object.freeze({ ...facts, model: Object.freeze({ ...name }) });
}

/** What the request at index `end` is sent to, as in `factsAt`; null if its model is unknown. */
export function targetAt(
	all: EntrySource,
	end: number,
	findModel: PastFactInputs["findModel"],
): Pick<Model<Api>, "api" | "provider"> | null {
	const reply = replyIn(all.at(end));
	if (reply) return reply.message;
	const name = lastModel({ length: end, at: (index) => all.at(index) });
	return name && findModel(name.provider, name.id);
}

/** The model that a session uses at its end; null if its entries do not say. */
function lastModel(entries: EntrySource): ModelName | null {
	for (let index = entries.length - 1; index > 0; index--) {
		const entry = entries.at(index);
		const reply = replyIn(entry);
		if (reply) return { provider: reply.message.provider, id: reply.message.model };
		if (isModelChangeEntry(entry)) return { provider: entry.provider, id: entry.modelId };
	}
	return null;
}
