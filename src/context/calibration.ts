import type { AppMessage, ContextRecord, SessionEntry } from "../log/entry.js";
import { isMessageEntry } from "../log/entry.js";

/** A model by its provider and id. */
export interface ModelName {
	provider: string;
	id: string;
}

/** Counts of replies that are read back from a log, at most. */
const MAX_READ_BACK = 40;
const [MIN_RATIO, MAX_RATIO] = [0.7, 4];
/** A higher ratio that only a refusal names may be wrong: no request must be held back because of it. */
const MAX_SURE_RATIO = 2;
/** How much larger requests are believed to be after a refusal that does not tell their size. */
const GROWTH_AFTER_UNSIZED_REFUSAL = 1.4;
/** After this many such refusals in a row the window is believed to be smaller than declared. */
const MAX_GROWTHS = 4;
const REFUSED_SHARE = 0.9;

/**
 * What is known about the models of a session beyond the registry: how many of their own tokens an estimated token is, and
 * the windows that they enforce. Learned from their replies and refusals.
 */
export class Calibration {
	readonly #ratios = new Map<string, number>();
	readonly #windows = new Map<string, number>();
	/** Models whose ratio comes from a refusal and is a guess, or higher than that of ordinary texts. */
	readonly #guessed = new Set<string>();
	/** Refusals in a row that named no sizes. */
	readonly #unsized = new Map<string, number>();
	/** Models whose counts were looked for in the current log. */
	readonly #searched = new Set<string>();

	/** Tokens of the model for each estimated token; 1 when unknown. */
	ratio(model: ModelName | undefined): number {
		return (model && this.#ratios.get(keyOf(model))) ?? 1;
	}

	/** Whether the ratio comes from a refusal, so that a request that seems too large may still fit: the model knows. */
	isGuess(model: ModelName | undefined): boolean {
		return model !== undefined && this.#guessed.has(keyOf(model));
	}

	/** The context window of a model in tokens: the declared one, or a smaller one that it enforced; 0 when unknown. */
	window(model: (ModelName & { contextWindow: number }) | undefined): number {
		if (!model) return 0;
		const known = this.#windows.get(keyOf(model));
		if (known === undefined) return model.contextWindow;
		return model.contextWindow > 0 ? Math.min(known, model.contextWindow) : known;
	}

	/**
	 * Notes that a model accepted a request.
	 * @param counted the tokens that it counted; 0 when it did not tell
	 */
	noteAccepted(model: ModelName, estimated: number, counted: number): void {
		this.#unsized.delete(keyOf(model));
		this.#noteCount(model, estimated, counted);
	}

	/**
	 * Notes that a model refused a request as too long.
	 * @param estimated before calibration
	 */
	noteRefusal(model: ModelName, errorMessage: string, estimated: number): void {
		const { window, requested } = readOverflow(errorMessage);
		const key = keyOf(model);
		const expected = estimated * this.ratio(model);
		if (window !== null) this.#windows.set(key, window);
		if (requested !== null) {
			this.#noteCount(model, estimated, Math.max(requested, expected));
			if (this.ratio(model) > MAX_SURE_RATIO) this.#guessed.add(key);
			return;
		}
		const refusals = (this.#unsized.get(key) ?? 0) + 1;
		this.#unsized.set(key, refusals);
		if (refusals <= MAX_GROWTHS) {
			this.#noteCount(model, estimated, expected * GROWTH_AFTER_UNSIZED_REFUSAL);
			this.#guessed.add(key);
		} else this.#windows.set(key, Math.floor(expected * REFUSED_SHARE));
	}

	#noteCount(model: ModelName, estimated: number, counted: number): void {
		const ratio = ratioOf(estimated, counted);
		if (ratio === null) return;
		this.#ratios.set(keyOf(model), ratio);
		this.#guessed.delete(keyOf(model));
	}

	/** Call after the log was replaced. What was learned of the models stays. */
	forgetLog(): void {
		this.#searched.clear();
	}

	/** Reads the latest count of a model from a log, unless one is known. */
	readBack(model: ModelName, entries: { length: number; at(index: number): SessionEntry | undefined }): void {
		const key = keyOf(model);
		if (this.#ratios.has(key) || this.#searched.has(key)) return;
		this.#searched.add(key);
		for (let index = entries.length - 1; index >= Math.max(1, entries.length - MAX_READ_BACK); index--) {
			const entry = entries.at(index);
			if (!isMessageEntry(entry) || entry.message.role !== "assistant") continue;
			const { message, context } = entry;
			if (message.provider !== model.provider || message.model !== model.id) continue;
			if (!context?.estimate || countsOther(context)) continue;
			this.#noteCount(model, context.estimate, inputTokens(message));
			if (this.#ratios.has(key)) return;
		}
	}
}

/** Whether a provider counted something else than pi estimated: it changes the request itself, or has a compaction in its own form. */
export function countsOther({ provider, native }: Pick<ContextRecord, "provider" | "native">): boolean {
	return provider !== undefined || native !== undefined;
}

/** Tokens of the request that a reply answered, as the provider counted them; 0 when it did not. */
export function inputTokens({ usage }: Pick<Extract<AppMessage, { role: "assistant" }>, "usage">): number {
	return usage.input + usage.cacheRead + usage.cacheWrite;
}

/** What the refusal of a request says about sizes, in tokens; null for what it does not say. */
export interface Overflow {
	window: number | null;
	/** Size of the refused request, without the requested output if the provider names both. */
	requested: number | null;
}

/** Reads the sizes from the error messages of the providers that name them. */
export function readOverflow(errorMessage: string): Overflow {
	return { window: firstMatch(WINDOWS, errorMessage), requested: firstMatch(REQUESTED, errorMessage) };
}

const N = "([\\d][\\d,_]*)";
const WINDOWS = [
	`tokens? > ${N} maximum`, // Anthropic
	`maximum context length is ${N}`, // OpenAI, OpenRouter, vLLM
	`with ${N} maximum context length`, // Mistral
	`maximum number of tokens allowed \\(${N}\\)`, // Google
	`maximum prompt length is ${N}`, // xAI
	`exceeds the limit of ${N}`, // Copilot
	`model token limit: ${N}`, // Kimi
	`available context size \\(${N}`, // llama.cpp
	`context (?:length|window|size)\\D{0,30}?${N}`,
].map((pattern) => new RegExp(pattern, "i"));
const REQUESTED = [
	`prompt is too long: ${N}`,
	`\\(${N} (?:in|of) (?:the )?(?:messages|text input|input)`, // vLLM, OpenAI: input apart from the completion
	`messages resulted in ${N}`,
	`request(?:ed)? about ${N}`,
	`token count (?:of )?\\(?${N}`,
	`request contains ${N}`,
	`requested: ${N}`,
	`prompt contains ${N}`,
	`you requested ${N}`,
	`request \\(${N} tokens`, // llama.cpp
].map((pattern) => new RegExp(pattern, "i"));

function firstMatch(patterns: readonly RegExp[], text: string): number | null {
	for (const pattern of patterns) {
		const found = pattern.exec(text)?.[1];
		const value = found === undefined ? Number.NaN : Number(found.replace(/[,_]/g, ""));
		if (value > 0) return value;
	}
	return null;
}

function ratioOf(estimated: number, counted: number): number | null {
	if (!(estimated > 0) || !(counted > 0)) return null;
	return Math.min(MAX_RATIO, Math.max(MIN_RATIO, counted / estimated));
}

function keyOf({ provider, id }: ModelName): string {
	return `${provider}/${id}`;
}
