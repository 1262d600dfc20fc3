import type { JsonObject } from "../../config/json-file.js";
import { isRecord } from "../../util/is-record.js";
import type { RequestAuth } from "../credentials.js";
import { writesNoText } from "../id-words.js";
import {
	known,
	type ListedFacts,
	type ListedModels,
	readCost,
	readCount,
	readDay,
	readId,
	readInput,
	readName,
	readPrice,
} from "./listed-model.js";

/** The models of one page of a list. */
export type ListPage = Pick<ListedModels, "models" | "ids" | "dropped">;

/** How the servers of a wire format list their models. */
export interface ListFormat {
	/** Follows the base URL of the models. */
	path: string;
	headers(auth: RequestAuth): Record<string, string>;
	read(answer: JsonObject): ListPage;
	/** The query of the next page; null for the last. */
	next(answer: JsonObject): string | null;
}

const bearer = ({ apiKey, headers }: RequestAuth) => ({ authorization: `Bearer ${apiKey}`, ...headers });

/** Formats with a list `data`: they differ in the address only, and servers add fields of their own. */
const OPENAI: ListFormat = {
	path: "/models",
	headers: bearer,
	read: ({ data }) => readEntries(data, readEntry),
	next: () => null,
};

/** How to ask for the models of a wire format. The first that a provider has is used. */
export const LIST_FORMATS: ReadonlyMap<string, ListFormat> = new Map([
	["openai-completions", OPENAI],
	["openai-responses", OPENAI],
	["mistral-conversations", { ...OPENAI, path: "/v1/models" }],
	[
		"anthropic-messages",
		{
			path: "/v1/models?limit=1000",
			headers: ({ apiKey, headers }) => ({
				"anthropic-version": "2023-06-01",
				// The token of a login.
				...(apiKey.includes("sk-ant-oat")
					? { authorization: `Bearer ${apiKey}`, "anthropic-beta": "oauth-2025-04-20" }
					: { "x-api-key": apiKey }),
				...headers,
			}),
			read: ({ data }) => readEntries(data, readEntry),
			next: ({ has_more, last_id }) => (has_more === true ? query("after_id", last_id) : null),
		},
	],
	[
		"google-generative-ai",
		{
			path: "/models?pageSize=1000",
			headers: ({ apiKey, headers }) => ({ "x-goog-api-key": apiKey, ...headers }),
			read: ({ models }) => readEntries(models, readGoogle),
			next: ({ nextPageToken }) => query("pageToken", nextPageToken),
		},
	],
]);

/** Why providers are not asked, by wire format. */
export const NOT_ASKED: Readonly<Record<string, string>> = {
	"amazon-bedrock": "its list needs the tools of AWS",
	"azure-openai-responses": "its models are the deployments of your account",
	"google-vertex": "its list needs a project and a region",
	"github-copilot": "its list belongs to the client of an editor",
	"openai-codex": "its plan has no list",
};

function query(name: string, value: unknown): string | null {
	const isUsable = typeof value === "string" && value !== "" && value.length <= 1000;
	return isUsable ? `&${name}=${encodeURIComponent(value)}` : null;
}

/** `isSilent`: the model writes no text. */
type ReadEntry = (entry: JsonObject) => { id: string; facts: ListedFacts; isSilent: boolean } | null;

function readEntries(list: unknown, read: ReadEntry): ListPage {
	if (!Array.isArray(list)) throw new Error("the answer contains no list of models");
	const found = list.map((entry) => (isRecord(entry) ? read(entry) : null));
	const usable = found.filter((model) => model !== null);
	return {
		models: usable.flatMap(({ id, facts, isSilent }) => (isSilent ? [] : [{ id, facts }])),
		ids: usable.map(({ id }) => id),
		dropped: found.length - usable.length,
	};
}

/** An entry of Anthropic, OpenAI, OpenRouter, Mistral, Groq, Together, Vercel and others. */
const readEntry: ReadEntry = (entry) => {
	const id = readId(entry.id);
	if (id === undefined) return null;
	const architecture = isRecord(entry.architecture) ? entry.architecture : {};
	const provider = isRecord(entry.top_provider) ? entry.top_provider : {};
	const output = architecture.output_modalities;
	const isSilent = Array.isArray(output) ? !output.includes("text") : writesNoText(id);
	const parameters: unknown[] | null = Array.isArray(entry.supported_parameters) ? entry.supported_parameters : null;
	const facts = known({
		name: readName(entry.display_name) ?? readName(entry.name),
		contextWindow: firstCount(
			entry.max_input_tokens,
			entry.context_length,
			entry.context_window,
			entry.max_context_length,
			entry.max_model_len,
		),
		maxTokens: firstCount(
			provider.max_completion_tokens,
			entry.max_tokens,
			entry.max_completion_tokens,
			entry.max_output_tokens,
		),
		reasoning: parameters?.includes("reasoning"),
		tools: parameters?.includes("tools"),
		input: readInput(architecture.input_modalities),
		cost: readPricing(entry.pricing),
		released: readDay(entry.created_at) ?? readDay(entry.created),
	});
	return { id, facts, isSilent };
};

/** Prices per token, as text: those of OpenRouter and Vercel. */
function readPricing(pricing: unknown): ListedFacts["cost"] {
	if (!isRecord(pricing)) return undefined;
	const price = (...names: string[]) => {
		const text = names.map((name) => pricing[name]).find((value) => value !== undefined);
		const isNumber = typeof text === "string" && /^\d+(?:\.\d+)?(?:e-?\d+)?$/i.test(text);
		return isNumber ? readPrice(Number(text), 1_000_000) : undefined;
	};
	return readCost({
		input: price("prompt", "input"),
		output: price("completion", "output"),
		cacheRead: price("input_cache_read"),
		cacheWrite: price("input_cache_write"),
	});
}

const readGoogle: ReadEntry = (entry) => {
	const id = typeof entry.name === "string" ? readId(entry.name.replace(/^models\//, "")) : undefined;
	if (id === undefined) return null;
	const methods = entry.supportedGenerationMethods;
	const isSilent = writesNoText(id) || (Array.isArray(methods) && !methods.includes("generateContent"));
	const facts = known({
		name: readName(entry.displayName),
		contextWindow: readCount(entry.inputTokenLimit),
		maxTokens: readCount(entry.outputTokenLimit),
		reasoning: typeof entry.thinking === "boolean" ? entry.thinking : undefined,
	});
	return { id, facts, isSilent };
};

function firstCount(...values: unknown[]): number | undefined {
	return values.map(readCount).find((count) => count !== undefined);
}
