import type { Api, Model, ThinkingLevelMap } from "@mariozechner/pi-ai";

/** Providers that serve models of another one under the same ids, and whose lists omit some of their thinking levels. */
const SAME_MODELS: Readonly<Record<string, string>> = {
	"azure-openai-responses": "openai",
	"openai-codex": "openai",
};

/**
 * Thinking levels that the lists of pi-ai have wrong, by full provider and id.
 * @see https://ai.google.dev/gemini-api/docs/thinking Gemini 2.5 Pro cannot stop thinking; Flash-Lite thinks with at least 512 tokens
 */
const LEVELS: Readonly<Record<string, Readonly<Record<string, ThinkingLevelMap>>>> = {
	google: { "gemini-2.5-pro": { off: null } },
	"google-vertex": { "gemini-2.5-pro": { off: null }, "gemini-2.5-flash-lite": { minimal: null } },
};

/**
 * Corrects the thinking levels of a provider's list.
 * @param listOf the list of another provider
 */
export function correctList(
	provider: string,
	models: readonly Model<Api>[],
	listOf: (provider: string) => readonly Model<Api>[],
): readonly Model<Api>[] {
	const other = Object.hasOwn(SAME_MODELS, provider) ? SAME_MODELS[provider] : undefined;
	const corrections = Object.hasOwn(LEVELS, provider) ? LEVELS[provider] : undefined;
	if (other === undefined && corrections === undefined) return models;
	const known = new Map(other === undefined ? [] : listOf(other).map((model) => [model.id, model.thinkingLevelMap]));
	return models.map((model) => {
		const levels = { ...known.get(model.id), ...model.thinkingLevelMap, ...corrections?.[model.id] };
		return Object.keys(levels).length === 0 ? model : { ...model, thinkingLevelMap: levels };
	});
}
