import type { Api, Model } from "@mariozechner/pi-ai";

/** Properties of a model as tables and pickers show them, each in a few characters. */
export interface ModelFacts {
	/** Context window in tokens: `200k`, `1M`. */
	context: string;
	/** US dollars per million input and output tokens: `3 / 15`; `free` if both are 0. */
	price: string;
	thinks: boolean;
	seesImages: boolean;
}

export function modelFacts({ contextWindow, cost, reasoning, input }: Model<Api>): ModelFacts {
	return {
		context: windowSize(contextWindow),
		price: cost.input === 0 && cost.output === 0 ? "free" : `${dollars(cost.input)} / ${dollars(cost.output)}`,
		thinks: reasoning,
		seesImages: input.includes("image"),
	};
}

/** 200000 → 200k, 1048576 → 1M. */
function windowSize(tokens: number): string {
	if (tokens >= 1_000_000) return `${Math.round(tokens / 100_000) / 10}M`;
	return tokens >= 1000 ? `${Math.round(tokens / 1000)}k` : String(tokens);
}

function dollars(amount: number): string {
	return String(Number(amount.toFixed(3)));
}
