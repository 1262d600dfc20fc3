import type { Api, Model, ModelThinkingLevel } from "@mariozechner/pi-ai";
import { PREFERRED_MODELS } from "./preferred-models.js";
import { THINKING_LEVEL_NAMES } from "./settings-schema.js";

/** What the user wrote for a model, taken apart. */
export interface ModelPattern {
	name: string;
	thinkingLevel?: ModelThinkingLevel;
}

const DATED = /-(?:\d{8}|\d{4}-\d{2}-\d{2})$/;

/** How a model is named everywhere: provider, slash, id. */
export function modelName(model: Pick<Model<Api>, "provider" | "id">): string {
	return `${model.provider}/${model.id}`;
}

/** The ways to read a name with a colon, most literal first: ids may contain colons, and levels follow one. */
export function readPatterns(spec: string): ModelPattern[] {
	const name = spec.trim();
	const colon = name.lastIndexOf(":");
	const level = THINKING_LEVEL_NAMES.find((candidate) => candidate === name.slice(colon + 1));
	return colon > 0 && level ? [{ name }, { name: name.slice(0, colon), thinkingLevel: level }] : [{ name }];
}

/** Models whose name is exactly this: `provider/id`, or the id alone. Case counts only if it tells two apart. */
export function findExact(models: readonly Model<Api>[], name: string): Model<Api>[] {
	const wanted = name.toLowerCase();
	const full = models.filter((model) => modelName(model).toLowerCase() === wanted);
	const found = full.length > 0 ? full : models.filter((model) => model.id.toLowerCase() === wanted);
	const sameCase = found.filter((model) => model.id === name || modelName(model) === name);
	return sameCase.length > 0 ? sameCase : found;
}

/** Models whose names contain every word of `name`, most likely meant first. */
export function findFuzzy(models: readonly Model<Api>[], name: string): Model<Api>[] {
	const words = name.toLowerCase().split(/\s+/).filter(Boolean);
	if (words.length === 0) return [];
	return models
		.filter((model) => {
			const text = `${modelName(model)} ${model.name}`.toLowerCase();
			return words.every((word) => text.includes(word));
		})
		.sort(byLikelihood);
}

/** Models that a pattern with `*` and `?` matches, by `provider/id` or id. */
export function findGlob(models: readonly Model<Api>[], pattern: string): Model<Api>[] {
	const source = pattern
		.replace(/[.+^${}()|[\]\\]/g, "\\$&")
		.replace(/\*+/g, ".*")
		.replace(/\?/g, ".");
	const expression = new RegExp(`^${source}$`, "i");
	return models.filter((model) => expression.test(modelName(model)) || expression.test(model.id));
}

/** Preferred models first, then by provider in the same order, names without a date before dated ones, newest first. */
export function byLikelihood(a: Model<Api>, b: Model<Api>): number {
	return (
		Number(!isPreferred(a)) - Number(!isPreferred(b)) ||
		providerRank(a) - providerRank(b) ||
		Number(DATED.test(a.id)) - Number(DATED.test(b.id)) ||
		b.id.localeCompare(a.id, "en", { numeric: true })
	);
}

function isPreferred(model: Model<Api>): boolean {
	return PREFERRED_MODELS.some(({ provider, ids }) => provider === model.provider && ids.includes(model.id));
}

function providerRank(model: Model<Api>): number {
	const rank = PREFERRED_MODELS.findIndex(({ provider }) => provider === model.provider);
	return rank === -1 ? PREFERRED_MODELS.length : rank;
}
