import type { JsonObject } from "../helpers/json.js";

/** Thinking levels, least first. */
export const LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type Level = (typeof LEVELS)[number];

/** What a level is called on the wire; null if the model does not have the level. */
type Values = readonly (string | number | null)[];

/** The fields of a request that depend on the family of its model. */
export interface FamilyFields {
	[field: string]: unknown;
	/** Values of the `anthropic-beta` header, or of `anthropic_beta` of Bedrock. */
	betas?: string[];
	/** Efforts of messages without content, which change the effort within a conversation. */
	effortMessages?: string[];
}

/** A family of models in a wire format. */
export interface Family {
	provider: string;
	id: string;
	/** The field that carries the level, as the documentation names it. */
	field: string;
	/** By level, in the order of `LEVELS`. */
	values: Values;
	/** The fields that are sent for a value. */
	fields(value: string | number): FamilyFields;
	/** Headers that are sent with each request. */
	headers?: Record<string, string>;
}

const SUMMARIZED = { display: "summarized" };
const INCLUDE = ["reasoning.encrypted_content"];
const INTERLEAVED = "interleaved-thinking-2025-05-14";
const MANAGED = ["mid-conversation-output-config-2026-07-01", "thinking-binding-controls-2026-08-01"];
const COPILOT = { "copilot-integration-id": "vscode-chat", "x-initiator": "user" };

/**
 * Adaptive thinking: the model decides how much to think, `output_config.effort` guides it. A budget is an error.
 * @see https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking
 * @see https://platform.claude.com/docs/en/build-with-claude/effort
 */
const adaptive =
	(betas: string[] = []) =>
	(value: string | number): FamilyFields => ({
		...(value === "disabled"
			? { thinking: { type: "disabled" } }
			: { thinking: { type: "adaptive", ...SUMMARIZED }, output_config: { effort: value } }),
		...(betas.length > 0 && { betas }),
	});

/**
 * Models whose effort may change within a conversation: the effort of the request is the same for all levels, which keeps the
 * prompt cache, and a last message without content sets that of the reply.
 */
const managed =
	(betas: string[] = []) =>
	(value: string | number): FamilyFields => ({
		thinking: { type: "adaptive", ...SUMMARIZED, block_binding: { prefix_mismatch_behavior: "drop_block" } },
		output_config: { effort: "high" },
		effortMessages: [String(value)],
		betas: [...MANAGED, ...betas],
	});

/**
 * Manual thinking: at least 1024 tokens, and fewer than `max_tokens`.
 * @see https://platform.claude.com/docs/en/build-with-claude/extended-thinking
 */
const budget =
	(betas: string[] = []) =>
	(value: string | number): FamilyFields =>
		value === "disabled"
			? { thinking: { type: "disabled" }, ...(betas.length > 0 && { betas }) }
			: { thinking: { type: "enabled", budget_tokens: value, ...SUMMARIZED }, betas: [...betas, INTERLEAVED] };

/** @see https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.html */
const onBedrock =
	(fields: (value: string | number) => FamilyFields) =>
	(value: string | number): FamilyFields => {
		if (value === "omitted") return {};
		const { betas, ...rest } = fields(value);
		return { additionalModelRequestFields: { ...rest, ...(betas && { anthropic_beta: betas }) } };
	};

/**
 * Replies are not stored, so that the reasoning has to come back encrypted.
 * @see https://platform.openai.com/docs/guides/reasoning
 */
const responses = (value: string | number): FamilyFields =>
	value === "none"
		? { store: false, reasoning: { effort: "none" } }
		: { store: false, reasoning: { effort: value, summary: "auto" }, include: INCLUDE };

const codex = (value: string | number): FamilyFields => ({ ...responses(value), include: INCLUDE });

/** @see https://openrouter.ai/docs/guides/best-practices/reasoning-tokens */
const openrouter = (value: string | number): FamilyFields => ({ store: false, reasoning: { effort: value } });

/** Never a level and a budget. @see https://ai.google.dev/gemini-api/docs/thinking */
const google = (value: string | number): FamilyFields => ({
	thinkingConfig: {
		...(value !== 0 && { includeThoughts: true }),
		...(typeof value === "number" ? { thinkingBudget: value } : { thinkingLevel: value }),
	},
});

const none = (): FamilyFields => ({});
const EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;
const BUDGETS = ["disabled", 1024, 2048, 8192, 16384, null, null] as const;

const anthropic = { provider: "anthropic", headers: { "anthropic-version": "2023-06-01" } };
const EFFORT = "`output_config.effort`";
const BUDGET = "`thinking.budget_tokens`";
const REASONING = "`reasoning.effort`";

/** What each family of models gets, by the documentation of its provider. */
export const FAMILIES: readonly Family[] = [
	{
		...anthropic,
		id: "claude-opus-5-5",
		field: EFFORT,
		values: [null, null, ...EFFORTS],
		fields: managed(),
	},
	{
		...anthropic,
		id: "claude-fable-5-1",
		field: EFFORT,
		values: [null, "low", ...EFFORTS],
		fields: managed(),
	},
	{ ...anthropic, id: "claude-sonnet-5", field: EFFORT, values: ["disabled", "low", ...EFFORTS], fields: adaptive() },
	{
		...anthropic,
		id: "claude-opus-4-8",
		field: EFFORT,
		values: ["disabled", "low", ...EFFORTS],
		fields: adaptive(),
	},
	{
		...anthropic,
		id: "claude-opus-4-6",
		field: EFFORT,
		values: ["disabled", "low", "low", "medium", "high", null, "max"],
		fields: adaptive(),
	},
	{ ...anthropic, id: "claude-haiku-4-5", field: BUDGET, values: BUDGETS, fields: budget() },
	{
		provider: "openrouter",
		id: "anthropic/claude-opus-5.5",
		field: EFFORT,
		values: [null, null, ...EFFORTS],
		fields: managed(),
		headers: { "x-session-id": "session" },
	},
	{
		provider: "openrouter",
		id: "anthropic/claude-sonnet-5",
		field: EFFORT,
		values: ["disabled", null, ...EFFORTS],
		fields: adaptive(),
		headers: { "x-session-id": "session" },
	},
	{
		provider: "openrouter",
		id: "~anthropic/claude-opus-latest",
		field: REASONING,
		values: [null, null, ...EFFORTS],
		fields: openrouter,
		headers: { "x-session-id": "session" },
	},
	{
		provider: "github-copilot",
		id: "claude-opus-5.5",
		field: EFFORT,
		values: [null, null, ...EFFORTS],
		fields: adaptive(),
		headers: COPILOT,
	},
	{
		provider: "github-copilot",
		id: "claude-haiku-4.5",
		field: BUDGET,
		values: BUDGETS,
		fields: budget(["fine-grained-tool-streaming-2025-05-14"]),
		headers: COPILOT,
	},
	{
		provider: "github-copilot",
		id: "gpt-5.6-sol",
		field: REASONING,
		values: [null, "low", ...EFFORTS],
		fields: responses,
		headers: COPILOT,
	},
	{
		provider: "amazon-bedrock",
		id: "anthropic.claude-opus-5-5",
		field: EFFORT,
		values: ["omitted", "low", ...EFFORTS],
		fields: onBedrock(adaptive()),
	},
	{
		provider: "amazon-bedrock",
		id: "anthropic.claude-haiku-4-5-20251001-v1:0",
		field: BUDGET,
		values: ["omitted", 1024, 2048, 8192, 16384, null, null],
		fields: onBedrock(budget()),
	},
	{ provider: "openai", id: "gpt-6-sol", field: REASONING, values: ["none", null, ...EFFORTS], fields: responses },
	{
		provider: "openai",
		id: "gpt-4.1",
		field: "–",
		values: ["omitted", null, null, null, null, null, null],
		fields: () => ({ store: false }),
	},
	{
		provider: "openai",
		id: "gpt-5",
		field: REASONING,
		values: [null, "minimal", "low", "medium", "high", null, null],
		fields: responses,
	},
	{
		provider: "openai",
		id: "gpt-5.1",
		field: REASONING,
		values: ["none", null, "low", "medium", "high", null, null],
		fields: responses,
	},
	{ provider: "openai", id: "gpt-5.6-sol", field: REASONING, values: ["none", null, ...EFFORTS], fields: responses },
	{ provider: "openai", id: "gpt-6-astra", field: REASONING, values: [null, null, ...EFFORTS], fields: responses },
	{
		provider: "openai",
		id: "o3",
		field: REASONING,
		values: [null, null, "low", "medium", "high", null, null],
		fields: responses,
	},
	{
		provider: "azure-openai-responses",
		id: "gpt-6-sol",
		field: REASONING,
		values: ["none", null, ...EFFORTS],
		fields: responses,
	},
	{
		provider: "azure-openai-responses",
		id: "o3",
		field: REASONING,
		values: [null, null, "low", "medium", "high", null, null],
		fields: responses,
	},
	{ provider: "openai-codex", id: "gpt-6-sol", field: REASONING, values: ["none", "low", ...EFFORTS], fields: codex },
	{
		provider: "openai-codex",
		id: "gpt-5.3-codex-spark",
		field: REASONING,
		values: [null, "low", "low", "medium", "high", "xhigh", null],
		fields: codex,
	},
	{
		provider: "openrouter",
		id: "openai/gpt-6-sol",
		field: REASONING,
		values: ["none", null, ...EFFORTS],
		fields: openrouter,
		headers: { "x-session-id": "session" },
	},
	{
		provider: "openrouter",
		id: "google/gemini-3.8-flash",
		field: REASONING,
		values: [null, null, "low", "medium", "high", null, null],
		fields: openrouter,
	},
	{
		provider: "openrouter",
		id: "qwen/qwen3.8-27b",
		field: REASONING,
		values: ["none", null, "low", "medium", null, "xhigh", null],
		fields: openrouter,
	},
	{
		// https://api-docs.deepseek.com/guides/thinking_mode
		provider: "deepseek",
		id: "deepseek-v4-pro",
		field: "`reasoning_effort`",
		values: ["disabled", null, null, null, "high", null, "max"],
		fields: (value) =>
			value === "disabled"
				? { thinking: { type: "disabled" } }
				: { thinking: { type: "enabled" }, reasoning_effort: value },
	},
	{
		// https://platform.moonshot.ai/docs
		provider: "moonshotai",
		id: "kimi-k3",
		field: "`reasoning_effort`",
		values: [null, null, "low", null, "high", null, "max"],
		fields: (value) => ({ reasoning_effort: value }),
	},
	{
		// https://docs.z.ai/guides/capabilities/thinking-mode
		provider: "zai",
		id: "glm-5.3",
		field: "`reasoning_effort`",
		values: [null, null, "low", null, "high", null, "max"],
		fields: (value) => ({ thinking: { type: "enabled", clear_thinking: false }, reasoning_effort: value }),
	},
	{
		// https://www.alibabacloud.com/help/en/model-studio/deep-thinking
		provider: "qwen-token-plan",
		id: "qwen3.8-max",
		field: "`reasoning_effort`",
		values: [null, null, "low", "medium", null, "xhigh", null],
		fields: (value) => ({ enable_thinking: true, reasoning_effort: value }),
	},
	{
		provider: "google",
		id: "gemini-2.5-pro",
		field: "`thinkingBudget`",
		values: [null, 128, 2048, 8192, 32768, null, null],
		fields: google,
	},
	{
		provider: "google",
		id: "gemini-2.5-flash",
		field: "`thinkingBudget`",
		values: [0, 128, 2048, 8192, 24576, null, null],
		fields: google,
	},
	{
		provider: "google",
		id: "gemini-3.8-flash",
		field: "`thinkingLevel`",
		values: [null, null, "LOW", "MEDIUM", "HIGH", null, null],
		fields: google,
	},
	{
		provider: "google",
		id: "gemini-3.5-flash",
		field: "`thinkingLevel`",
		values: [null, "MINIMAL", "LOW", "MEDIUM", "HIGH", null, null],
		fields: google,
	},
	{
		provider: "google-vertex",
		id: "gemini-3.8-flash",
		field: "`thinkingLevel`",
		values: [null, null, "LOW", "MEDIUM", "HIGH", null, null],
		fields: google,
	},
	{
		provider: "google-vertex",
		id: "gemini-2.5-flash-lite",
		field: "`thinkingBudget`",
		values: [0, null, 2048, 8192, 24576, null, null],
		fields: google,
	},
	{
		// Only "high" and "none", which is the default. https://docs.mistral.ai/capabilities/reasoning
		provider: "mistral",
		id: "mistral-medium-latest",
		field: "`reasoning_effort`",
		values: ["omitted", "high", "high", "high", "high", null, null],
		fields: (value) => (value === "omitted" ? {} : { reasoning_effort: value }),
	},
	{
		provider: "mistral",
		id: "magistral-medium-latest",
		field: "`prompt_mode`",
		values: ["omitted", "reasoning", "reasoning", "reasoning", "reasoning", null, null],
		fields: (value) => (value === "omitted" ? none() : { prompt_mode: value }),
	},
];

/** The value that is sent for a level: that of the next higher one that the model has, else of the next lower one. */
export function valueFor({ values }: Family, level: Level): string | number {
	const at = LEVELS.indexOf(level);
	const value =
		values.slice(at).find((found) => found !== null) ?? values.slice(0, at).findLast((found) => found !== null);
	if (value === undefined || value === null) throw new Error("A family without a level");
	return value;
}

const FIELDS = [
	...[
		"thinking",
		"output_config",
		"reasoning",
		"reasoning_effort",
		"include",
		"store",
		"prompt_mode",
		"enable_thinking",
	],
	...["temperature", "top_p", "top_k", "additionalModelRequestFields", "chat_template_kwargs", "thinking_budget"],
];

/** The fields of a request that depend on the family of its model. */
export function familyFields(body: JsonObject, beta: string | string[] | undefined): FamilyFields {
	const { generationConfig, inferenceConfig, messages } = body;
	const found = Object.fromEntries(
		FIELDS.flatMap((field) => (body[field] === undefined ? [] : [[field, body[field]]])),
	);
	const sampling = Object.entries({ ...asObject(generationConfig), ...asObject(inferenceConfig) }).filter(
		([name]) => !["maxOutputTokens", "maxTokens"].includes(name),
	);
	const efforts = (Array.isArray(messages) ? messages : []).flatMap((message) => {
		const { role, content, output_config } = asObject(message);
		const isEffort = role === "system" && Array.isArray(content) && content.length === 0;
		return isEffort ? [String(asObject(output_config).effort)] : [];
	});
	return {
		...found,
		...Object.fromEntries(sampling),
		...(efforts.length > 0 && { effortMessages: efforts }),
		...(beta && { betas: String(beta).split(",") }),
	};
}

function asObject(value: unknown): Record<string, unknown> {
	return typeof value === "object" && value !== null ? { ...value } : {};
}
