import type { Api, Model, ModelThinkingLevel } from "@mariozechner/pi-ai";
import { THINKING_LEVEL_NAMES } from "../config/settings-schema.js";
import { fitsVersions, lastSegment, plainId } from "./id-words.js";

/** A model name as the user typed it, parsed. */
export interface ModelPattern {
	name: string;
	thinkingLevel?: ModelThinkingLevel;
}

/** The full name of a model: `provider/id`. */
export function modelName(model: Pick<Model<Api>, "provider" | "id">): string {
	return `${model.provider}/${model.id}`;
}

/** The interpretations of a name with a colon, the literal one first: ids may contain colons, and levels follow one. */
export function readPatterns(spec: string): ModelPattern[] {
	const name = spec.trim();
	const colon = name.lastIndexOf(":");
	const level = THINKING_LEVEL_NAMES.find((candidate) => candidate === name.slice(colon + 1));
	return colon > 0 && level ? [{ name }, { name: name.slice(0, colon), thinkingLevel: level }] : [{ name }];
}

/** Models with exactly this `provider/id`. Case matters only if it distinguishes two models. */
export function findByName(models: readonly Model<Api>[], name: string): Model<Api>[] {
	return findEqual(models, name, modelName);
}

/** Models with exactly this id. Case matters only if it distinguishes two models. */
export function findById(models: readonly Model<Api>[], id: string): Model<Api>[] {
	return findEqual(models, id, (model) => model.id);
}

function findEqual(models: readonly Model<Api>[], name: string, of: (model: Model<Api>) => string): Model<Api>[] {
	const wanted = name.toLowerCase();
	const found = models.filter((model) => of(model).toLowerCase() === wanted);
	const sameCase = found.filter((model) => of(model) === name);
	return sameCase.length > 0 ? sameCase : found;
}

/** Models with this `provider/id`; a version such as 5.5 may be written 5-5. */
export function findByNameAlike(models: readonly Model<Api>[], name: string): Model<Api>[] {
	const wanted = plainId(name);
	return models.filter((model) => plainId(modelName(model)) === wanted);
}

/** Models with this id, with or without a maker before it; a version such as 5.5 may be written 5-5. */
export function findByIdAlike(models: readonly Model<Api>[], id: string): Model<Api>[] {
	const wanted = plainId(id);
	return models.filter((model) => {
		const known = plainId(model.id);
		return known === wanted || lastSegment(known) === wanted;
	});
}

/** Models whose names contain every word of `name`, numbers as complete parts of a version. */
export function findFuzzy(models: readonly Model<Api>[], name: string): Model<Api>[] {
	const words = name.toLowerCase().split(/\s+/).filter(Boolean);
	// A separator alone is a part of every name.
	if (!words.some((word) => /[\p{L}\p{N}]/u.test(word))) return [];
	return models.filter((model) => {
		const text = `${modelName(model)} ${model.name}`.toLowerCase();
		return words.every((word) => text.includes(word)) && fitsVersions(name, [model.id, model.name]);
	});
}

/** Models whose `provider/id` or id matches a pattern with `*` and `?`. */
export function findGlob(models: readonly Model<Api>[], pattern: string): Model<Api>[] {
	const source = pattern
		.replace(/[.+^${}()|[\]\\]/g, "\\$&")
		.replace(/\*+/g, ".*")
		.replace(/\?/g, ".");
	const expression = new RegExp(`^${source}$`, "i");
	return models.filter((model) => expression.test(modelName(model)) || expression.test(model.id));
}
