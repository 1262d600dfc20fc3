import type { Api, Model } from "@mariozechner/pi-ai";

/** What is known of a model before it is used, each in a few characters. */
export interface ModelFacts {
	/** Tokens that it can take: `200k`, `1M`. */
	context: string;
	/** US dollars for a million tokens in and out: `3 / 15`; `free` for neither. */
	price: string;
	thinks: boolean;
	seesImages: boolean;
}

/** The facts of a model as tables and pickers show them. */
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
