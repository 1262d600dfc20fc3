import type { Api, Model } from "@mariozechner/pi-ai";
import { callsTools } from "./model-facts.js";
import { modelName } from "./model-match.js";

/** A model and the facts about it that a search can name. */
export interface SearchedModel {
	model: Model<Api>;
	/** False when the price of the model is unknown. */
	isPriced: boolean;
	isLocal: boolean;
}

/** A search for models, parsed. */
export interface ModelSearch {
	/** The words that are not conditions: parts of names. */
	text: string;
	/** Whether a model meets all conditions. */
	accepts(candidate: SearchedModel): boolean;
}

/** The conditions of a search, for hints. */
export const SEARCH_WORDS = "vision, thinking, tools, local, free, <$1, 200k";

type Condition = (candidate: SearchedModel) => boolean;

const CONDITIONS: Readonly<Record<string, Condition>> = {
	vision: ({ model }) => model.input.includes("image"),
	thinking: ({ model }) => model.reasoning,
	tools: ({ model }) => callsTools(model),
	local: ({ isLocal }) => isLocal,
	free: ({ model: { cost }, isPriced }) => isPriced && cost.input === 0 && cost.output === 0,
};

/**
 * Parses a search: `vision`, `thinking`, `tools`, `local` and `free` find models by their properties, `<$1` those below this
 * price per million input tokens, `200k` and `1M` those with at least this context window. Models whose name contains such
 * a word are found too. All other words are parts of names.
 */
export function readModelSearch(search: string): ModelSearch {
	const words = search.toLowerCase().split(/\s+/).filter(Boolean);
	const conditions = words.flatMap((word) => {
		const condition = readCondition(word);
		return condition ? [{ word, condition }] : [];
	});
	return {
		text: words.filter((word) => !conditions.some((known) => known.word === word)).join(" "),
		accepts(candidate) {
			const name = `${modelName(candidate.model)} ${candidate.model.name}`.toLowerCase();
			return conditions.every(({ word, condition }) => condition(candidate) || name.includes(word));
		},
	};
}

function readCondition(word: string): Condition | undefined {
	if (Object.hasOwn(CONDITIONS, word)) return CONDITIONS[word];
	const price = /^<\$?(\d*\.?\d*)$/.exec(word)?.[1];
	if (price !== undefined) {
		// While the number is being typed, every model matches.
		const limit = Number.parseFloat(price);
		return ({ model, isPriced }) =>
			Number.isNaN(limit) || (isPriced && model.cost.input >= 0 && model.cost.input < limit);
	}
	const [, size, unit] = /^(\d+(?:\.\d+)?)([km])$/.exec(word) ?? [];
	if (size === undefined) return undefined;
	// Rounded like the sizes on the screen.
	const step = unit === "m" ? 100_000 : 1000;
	const wanted = Number(size) * (unit === "m" ? 1_000_000 : 1000);
	return ({ model }) => Math.round(model.contextWindow / step) * step >= wanted;
}
