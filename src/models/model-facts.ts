import type { Api, Model } from "@mariozechner/pi-ai";
import { modelName } from "./model-match.js";

/** A model as pi-ai describes it, plus facts that pi-ai has no fields for. */
export type KnownModel = Model<Api> & {
	/** False: the model cannot call tools, so requests must not contain any. */
	tools?: boolean;
	/** The day on which the model came out: `2026-09-22`. */
	released?: string;
	/** The provider does not list the model anymore. */
	retired?: true;
	/** The id of the model whose facts these are, because pi's list lacks the model. */
	relative?: string;
	/** No list has the model: the user named it, and the provider has not confirmed it. */
	assumed?: true;
};

/** Whether a model can call tools; models of unknown ability can. */
export function callsTools(model: Model<Api>): boolean {
	return !("tools" in model) || model.tools !== false;
}

/** What users must know about a model before they rely on it, as one line; null if there is nothing. */
export function describeLimits(model: Model<Api> | null): string | null {
	if (model === null || callsTools(model)) return null;
	return `${modelName(model)} cannot call tools · pi sends requests without them, so it cannot read or change files`;
}

/** Says where the facts of a model come from that pi's lists lack, as one line; null for a model of the lists. */
export function describeAssumed(model: KnownModel | null): string | null {
	if (!model?.assumed) return null;
	const { id, provider, relative } = model;
	return `${id} is not in pi's list of ${provider} models · using the facts of ${relative} · pi models update reads the current list`;
}

const UNKNOWN = { price: "–", priceText: "price unknown" };

/** Properties of a model as tables and pickers show them, each in a few characters. */
export interface ModelFacts {
	/** Context window in tokens: `200k`, `1M`. */
	context: string;
	/** Per million input and output tokens: `$3 / $15`; `free` if both are 0, `–` if unknown. */
	price: string;
	/** The price as a phrase: `$3 in, $15 out per M tokens`, `free`, `price unknown`. */
	priceText: string;
	thinks: boolean;
	seesImages: boolean;
	callsTools: boolean;
}

/** @param isPriced false if the price is unknown, whatever the model says */
export function modelFacts(model: Model<Api>, isPriced: boolean): ModelFacts {
	const { contextWindow, cost, reasoning, input } = model;
	return {
		context: windowSize(contextWindow),
		...(isPriced ? priceOf(cost) : UNKNOWN),
		thinks: reasoning,
		seesImages: input.includes("image"),
		callsTools: callsTools(model),
	};
}

/** A model as JSON output contains it: without addresses and flags of requests. */
export function modelRecord(model: KnownModel, isPriced: boolean) {
	const { provider, id, name, contextWindow, maxTokens, cost, reasoning, input } = model;
	return {
		provider,
		id,
		name,
		contextWindow,
		maxTokens,
		cost: isPriced && cost.input >= 0 ? cost : null,
		thinking: reasoning,
		tools: callsTools(model),
		input,
		released: model.released ?? null,
		retired: model.retired === true,
		relative: model.relative ?? null,
	};
}

/** pi-ai stores negative prices for routers, whose price depends on the model that they choose. */
function priceOf({ input, output }: Model<Api>["cost"]): Pick<ModelFacts, "price" | "priceText"> {
	if (input < 0 || output < 0) return UNKNOWN;
	if (input === 0 && output === 0) return { price: "free", priceText: "free" };
	const [sent, received] = [dollars(input), dollars(output)];
	return { price: `${sent} / ${received}`, priceText: `${sent} in, ${received} out per M tokens` };
}

/** 200000 → 200k, 1048576 → 1M. */
function windowSize(tokens: number): string {
	if (tokens >= 1_000_000) return `${Math.round(tokens / 100_000) / 10}M`;
	return tokens >= 1000 ? `${Math.round(tokens / 1000)}k` : String(tokens);
}

function dollars(amount: number): string {
	return `$${Number(amount.toFixed(3))}`;
}
