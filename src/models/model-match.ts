import type { Api, Model, ModelThinkingLevel } from "@mariozechner/pi-ai";
import { THINKING_LEVEL_NAMES } from "../config/settings-schema.js";

/** Default models by provider, for users who chose none: the first id that the registry contains is used. */
export const PREFERRED_MODELS: readonly { provider: string; ids: readonly string[] }[] = [
	{ provider: "anthropic", ids: ["claude-sonnet-4-6", "claude-opus-4-7", "claude-sonnet-4-5"] },
	{ provider: "openai", ids: ["gpt-5.5", "gpt-5.4"] },
	{ provider: "openai-codex", ids: ["gpt-5.5", "gpt-5.4"] },
	{ provider: "google", ids: ["gemini-3.1-pro-preview", "gemini-2.5-pro"] },
	{ provider: "github-copilot", ids: ["claude-sonnet-4.6", "gpt-5.5"] },
	{ provider: "openrouter", ids: ["anthropic/claude-sonnet-4.6", "openai/gpt-5.5"] },
	{ provider: "vercel-ai-gateway", ids: ["anthropic/claude-sonnet-4.6"] },
	{ provider: "opencode", ids: ["claude-sonnet-4-6", "gpt-5.5"] },
	{ provider: "xai", ids: ["grok-4.3", "grok-4"] },
	{ provider: "deepseek", ids: ["deepseek-v4-pro"] },
	{ provider: "zai", ids: ["glm-5.1"] },
	{ provider: "moonshotai", ids: ["kimi-k2.6"] },
	{ provider: "moonshotai-cn", ids: ["kimi-k2.6"] },
	{ provider: "kimi-coding", ids: ["kimi-for-coding"] },
	{ provider: "minimax", ids: ["MiniMax-M2.7"] },
	{ provider: "minimax-cn", ids: ["MiniMax-M2.7"] },
	{ provider: "mistral", ids: ["mistral-medium-3.5", "devstral-medium-latest"] },
	{ provider: "xiaomi", ids: ["mimo-v2.5-pro"] },
	{ provider: "opencode-go", ids: ["kimi-k2.6"] },
	{ provider: "cerebras", ids: ["zai-glm-4.7"] },
	{ provider: "groq", ids: ["openai/gpt-oss-120b"] },
	{ provider: "fireworks", ids: ["accounts/fireworks/models/kimi-k2p6"] },
	{ provider: "huggingface", ids: ["zai-org/GLM-5.1"] },
	{ provider: "azure-openai-responses", ids: ["gpt-5.5"] },
	{ provider: "google-vertex", ids: ["gemini-3.1-pro-preview"] },
	{ provider: "amazon-bedrock", ids: ["global.anthropic.claude-sonnet-4-6"] },
];

/** A model name as the user typed it, parsed. */
export interface ModelPattern {
	name: string;
	thinkingLevel?: ModelThinkingLevel;
}

const DATED = /-(?:\d{8}|\d{4}-\d{2}-\d{2})$/;

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

/** Models whose names contain every word of `name`, most likely first. */
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

/** Models whose `provider/id` or id matches a pattern with `*` and `?`. */
export function findGlob(models: readonly Model<Api>[], pattern: string): Model<Api>[] {
	const source = pattern
		.replace(/[.+^${}()|[\]\\]/g, "\\$&")
		.replace(/\*+/g, ".*")
		.replace(/\?/g, ".");
	const expression = new RegExp(`^${source}$`, "i");
	return models.filter((model) => expression.test(modelName(model)) || expression.test(model.id));
}

/** Sorts preferred models first, then by preferred provider, then undated ids before dated ones, newest first. */
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
