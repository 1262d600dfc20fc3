import { dirname } from "node:path";
import type { Api, Model } from "@mariozechner/pi-ai";
import { readJsonFile } from "../config/json-file.js";
import { type Filled, fillDefaults, readBySchema, type Schema } from "../config/json-schema.js";
import { THINKING_LEVEL_NAMES } from "../config/settings-schema.js";
import { describeError } from "../errors.js";
import { findForeignWriter } from "../util/foreign-writers.js";
import type { ProviderAccess } from "./credentials.js";
import { isLoopback } from "./local-addresses.js";

type Compat = NonNullable<Model<Api>["compat"]>;

/** Wire formats that pi-ai supports. */
const MODEL_APIS = [
	"openai-completions",
	"openai-responses",
	"anthropic-messages",
	"google-generative-ai",
	"google-vertex",
	"mistral-conversations",
	"azure-openai-responses",
	"openai-codex-responses",
	"bedrock-converse-stream",
	"pi-messages",
] as const;

const TEXT = { type: "string", minLength: 1 } as const;
const HEADERS = { type: "object", additionalProperties: { type: "string" }, default: {} } as const;
const PRICE = { type: "number", minimum: 0, description: "USD per million tokens; 0: free; absent: unknown" } as const;
const COUNT = { type: "number", exclusiveMinimum: 0 } as const;
const BASE_URL = {
	type: "string",
	pattern: "^[hH][tT][tT][pP][sS]?://",
	format: "uri",
	"x-expected": "an http or https address",
} as const;
const API = { type: "string", enum: MODEL_APIS, description: "wire format of the server" } as const;
const COMPAT = {
	type: "object",
	additionalProperties: { type: ["boolean", "string", "object"] },
	description:
		"deviations of the server from its wire format, as pi-ai names them; `supportsJsonSchema`: whether it can hold answers to a schema",
} as const;
const LEVEL = { type: ["string", "null"] } as const;

/** Fields of a model that an override can change; all are optional. */
const FACTS = {
	name: TEXT,
	reasoning: { type: "boolean", description: "default false" },
	tools: { type: "boolean", description: "whether the model can call tools; default true" },
	thinkingLevelMap: {
		type: "object",
		properties: Object.fromEntries(THINKING_LEVEL_NAMES.map((name) => [name, LEVEL])) as {
			readonly [L in (typeof THINKING_LEVEL_NAMES)[number]]: typeof LEVEL;
		},
		additionalProperties: false,
		description: "thinking level, and what the server calls it; null: not supported",
	},
	input: {
		type: "array",
		items: { type: "string", enum: ["text", "image"] },
		minItems: 1,
		description: 'default ["text"]',
	},
	cost: {
		type: "object",
		properties: { input: PRICE, output: PRICE, cacheRead: PRICE, cacheWrite: PRICE },
		additionalProperties: false,
	},
	contextWindow: { ...COUNT, description: "tokens; default 128000" },
	maxTokens: { ...COUNT, description: "tokens of one reply; default 16384" },
	compat: COMPAT,
	headers: {
		...HEADERS,
		description: "sent with each request to this model, over those of the provider; values as in `apiKey`",
	},
} as const;

const OVERRIDE = { type: "object", properties: FACTS, additionalProperties: false } as const satisfies Schema;

const MODEL = {
	type: "object",
	properties: { id: TEXT, api: API, baseUrl: BASE_URL, ...FACTS },
	required: ["id"],
	additionalProperties: false,
	description: "fields that are absent are those of the built-in model with this id, if there is one",
} as const satisfies Schema;

const PROVIDER = {
	type: "object",
	properties: {
		baseUrl: BASE_URL,
		api: API,
		apiKey: { ...TEXT, description: "name of an environment variable, also as `$NAME`, `!command`, or the key itself" },
		headers: { ...HEADERS, description: "sent with each request; values as in `apiKey`" },
		authHeader: { type: "boolean", default: false, description: "also send the key as `Authorization: Bearer`" },
		compat: COMPAT,
		models: { type: "array", items: MODEL, description: "absent: changes how the built-in models are reached" },
		modelOverrides: {
			type: "object",
			additionalProperties: OVERRIDE,
			default: {},
			description: "changes to single models of the provider, by id: built-in ones and those of local servers",
		},
	},
	additionalProperties: false,
} as const satisfies Schema;

/** The schema of models.json, for `loadModelsFile` and schemas/models.json. */
export const MODELS_SCHEMA = {
	type: "object",
	properties: { providers: { type: "object", additionalProperties: PROVIDER, default: {} } },
	additionalProperties: false,
} as const satisfies Schema;

/** Fields of a model as models.json names them; the others are undefined. */
export interface ModelOverride extends Omit<Filled<typeof OVERRIDE>, "compat"> {
	compat: Compat | undefined;
}

/** A model of models.json. */
export interface CustomModel extends ModelOverride, Pick<Filled<typeof MODEL>, "id" | "api" | "baseUrl"> {}

/** A provider of models.json. */
export interface CustomProvider extends ProviderAccess {
	baseUrl?: string;
	api?: string;
	compat?: Compat;
	/** null: the entry has no models and changes how the built-in ones are reached. */
	models: CustomModel[] | null;
	/** Changes to models by id. */
	overrides: ReadonlyMap<string, ModelOverride>;
}

/** The content of models.json and its problems, one line each. */
export interface ModelsFile {
	path: string;
	providers: CustomProvider[];
	warnings: string[];
}

/** Reads the user's own providers. Never throws: invalid parts are omitted and reported in `warnings`. */
export function loadModelsFile(path: string): ModelsFile {
	const warnings: string[] = [];
	const writer = findForeignWriter(path, dirname(path), { allowsOwnGroup: true });
	// It can contain commands, and addresses that receive keys.
	if (writer) return { path, providers: [], warnings: [`${path} is not used: ${writer.problem} · ${writer.hint}`] };
	try {
		const file = readJsonFile(path);
		const read = readBySchema(MODELS_SCHEMA, file?.value ?? {}, ({ keys, kind, message }) => {
			warnings.push(`${file?.locate(keys, kind === "unknown" ? "key" : "value")}: ${message}`);
		});
		const { providers } = fillDefaults(MODELS_SCHEMA, read);
		return { path, providers: Object.entries(providers).map(createProvider), warnings };
	} catch (error) {
		return { path, providers: [], warnings: [...warnings, describeError(error)] };
	}
}

/** True for a wire format that pi-ai supports. */
export function isModelApi(name: string): boolean {
	return MODEL_APIS.some((api) => api === name);
}

/** Reads a provider in the form of models.json. `problems`: one sentence for each invalid field. */
export function readProvider(name: string, value: unknown): { provider: CustomProvider | null; problems: string[] } {
	const problems: string[] = [];
	const read = readBySchema(PROVIDER, value, ({ message }) => problems.push(message.replace("; ignored", "").trim()));
	if (problems.length > 0) return { provider: null, problems };
	return { provider: createProvider([name, fillDefaults(PROVIDER, read)]), problems };
}

function createProvider([name, provider]: [string, Filled<typeof PROVIDER>]): CustomProvider {
	const { baseUrl, apiKey, models, modelOverrides } = provider;
	const overrides = new Map(
		Object.entries(modelOverrides).map(([id, fields]) => [id, { ...fields, compat: compatOf(fields) }]),
	);
	const headers = [...overrides, ...(models ?? []).map((model) => [model.id, model] as const)];
	return {
		...provider,
		name,
		compat: compatOf(provider),
		modelHeaders: mergeHeaders(headers.map(([id, model]) => [id, model.headers])),
		keyless: apiKey === undefined && baseUrl !== undefined && isLoopback(baseUrl),
		models: models?.map((model) => ({ ...model, compat: compatOf(model) })) ?? null,
		overrides,
	};
}

/** A model can have headers as a model of its own and as an override. */
function mergeHeaders(groups: readonly [id: string, Record<string, string>][]): ProviderAccess["modelHeaders"] {
	const merged = new Map<string, Record<string, string>>();
	for (const [id, headers] of groups) merged.set(id, { ...merged.get(id), ...headers });
	return Object.fromEntries(merged);
}

/** Flags for pi-ai, which ignores those that it does not know. */
function compatOf({ compat }: { compat: Filled<typeof COMPAT> | undefined }): Compat | undefined {
	return compat as Compat | undefined;
}
