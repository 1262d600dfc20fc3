import type { IncomingHttpHeaders } from "node:http";
import type { Api, Model } from "@mariozechner/pi-ai";
import { builtInModels } from "../../src/models/built-in-models.js";
import { isObject, type JsonObject, objects, stringOr } from "./json.js";

/** The model that a request names, as the list of pi describes it. */
export type KnownModel = Pick<Model<Api>, "id" | "api" | "reasoning" | "thinkingLevelMap" | "compat">;

/** The providers whose models a loopback server plays, by API. */
const PROVIDERS: Partial<Record<Api, readonly string[]>> = {
	"anthropic-messages": ["anthropic", "openrouter"],
	"openai-responses": ["openai"],
	"openai-completions": ["openrouter", "deepseek"],
	"google-generative-ai": ["google"],
};

/** The model of the shipped list that a request to an API names; undefined for one that only a test knows. */
export function knownModel(api: Api, id: string): KnownModel | undefined {
	const { lists } = builtInModels();
	for (const provider of PROVIDERS[api] ?? []) {
		const found = lists.find(provider, id);
		if (found?.api === api) return found;
	}
	return undefined;
}

/**
 * Checks what a request asks of the model's thinking, and its sampling parameters, against the documentation of the provider.
 * @returns one sentence per broken rule
 */
export function judgeThinking(api: Api, body: JsonObject, headers: IncomingHttpHeaders, model: KnownModel): string[] {
	switch (api) {
		case "anthropic-messages":
			return judgeAnthropic(body, betasOf(headers["anthropic-beta"]), model);
		case "bedrock-converse-stream":
			return judgeBedrock(body, model);
		case "google-generative-ai":
		case "google-vertex":
			return judgeGoogle(body, model);
		case "mistral-conversations":
			return judgeMistral(body);
		case "openai-responses":
		case "azure-openai-responses":
		case "openai-codex-responses":
			return judgeResponses(body, model);
		case "openai-completions":
			return judgeCompletions(body, model);
		default:
			return [];
	}
}

const LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
const EFFORTS = ["low", "medium", "high", "xhigh", "max"];
const SAMPLING = ["temperature", "top_p", "top_k"];

/** The words for the levels that a model has; those of `off` are not among them. */
function efforts({ thinkingLevelMap: map }: KnownModel): string[] {
	return LEVELS.flatMap((level) => {
		const mapped = map?.[level];
		if (level === "off" || mapped === null) return [];
		if (mapped === undefined) return level === "xhigh" || level === "max" ? [] : [level];
		return [mapped];
	});
}

function judgeEffort(effort: unknown, model: KnownModel): string[] {
	return efforts(model).includes(stringOr(effort, "")) ? [] : [`${model.id} has no effort ${String(effort)}`];
}

function betasOf(header: string | string[] | undefined): string[] {
	return header === undefined ? [] : String(header).split(",");
}

function compatOf(model: KnownModel): Record<string, unknown> {
	return { ...model.compat };
}

/** https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking, …/effort, …/extended-thinking */
function judgeAnthropic(body: JsonObject, betas: readonly string[], model: KnownModel): string[] {
	const issues: string[] = [];
	const { forceAdaptiveThinking, supportsTemperature, ...compat } = compatOf(model);
	const isAdaptive = forceAdaptiveThinking === true;
	const { thinking, output_config: config } = body;
	if (isObject(thinking)) issues.push(...judgeClaudeThinking(thinking, Number(body.max_tokens), isAdaptive, model));
	if (isObject(config) && ("effort" in config || config.format === undefined))
		issues.push(...judgeClaudeEffort(config.effort, isAdaptive, model));
	const thinks = isObject(thinking) && thinking.type !== "disabled";
	for (const name of SAMPLING) {
		if (body[name] === undefined) continue;
		if (supportsTemperature === false) issues.push(`${model.id} does not accept ${name}`);
		else if (thinks) issues.push(`${name} is not allowed with thinking`);
	}
	if (body.betas !== undefined) issues.push("betas are a header, not a field");
	if (isObject(thinking) && thinking.block_binding !== undefined && !betas.includes(BINDING)) {
		issues.push(`block_binding needs the beta ${BINDING}`);
	}
	for (const [index, message] of objects(body.messages).entries()) {
		if (message.role !== "system") continue;
		const isEffort = message.output_config !== undefined;
		if (isEffort && compat.supportsMidConvoEffort !== true) {
			issues.push(`message ${index} changes the effort, which ${model.id} does not accept`);
		}
		if (isEffort && !betas.includes(EFFORT_CHANGES)) issues.push(`message ${index} needs the beta ${EFFORT_CHANGES}`);
		if (isEffort && isObject(message.output_config)) {
			issues.push(...judgeClaudeEffort(message.output_config.effort, true, model));
		}
		const isText = typeof message.content === "string" || objects(message.content).length > 0;
		if (isText && compat.supportsMidConvoSystemMessages !== true) {
			issues.push(`message ${index} is a system message, which ${model.id} does not accept`);
		}
	}
	return issues;
}

const BINDING = "thinking-binding-controls-2026-08-01";
const EFFORT_CHANGES = "mid-conversation-output-config-2026-07-01";

function judgeClaudeThinking(
	thinking: JsonObject,
	maxTokens: number,
	isAdaptive: boolean,
	model: KnownModel,
): string[] {
	switch (thinking.type) {
		case "adaptive":
			if (thinking.budget_tokens !== undefined) return ["adaptive thinking has no budget_tokens"];
			return isAdaptive ? [] : [`${model.id} does not think adaptively`];
		case "enabled": {
			if (isAdaptive) return [`${model.id} thinks adaptively and accepts no budget_tokens`];
			const budget = thinking.budget_tokens;
			const isLegal = typeof budget === "number" && budget >= 1024 && budget < maxTokens;
			return isLegal ? [] : ["budget_tokens is not between 1024 and max_tokens"];
		}
		case "disabled":
			return model.thinkingLevelMap?.off === null ? [`${model.id} always thinks`] : [];
		default:
			return [`thinking has the type ${String(thinking.type)}`];
	}
}

function judgeClaudeEffort(effort: unknown, isAdaptive: boolean, model: KnownModel): string[] {
	if (!isAdaptive) return [`${model.id} accepts no effort`];
	if (!EFFORTS.includes(stringOr(effort, ""))) return [`the effort is ${String(effort)}`];
	// "low" also stands for minimal thinking.
	return effort === "low" ? [] : judgeEffort(effort, model);
}

/** Claude gets the fields of Anthropic; a model with a level above "high" thinks adaptively. */
function judgeBedrock(body: JsonObject, model: KnownModel): string[] {
	const fields = body.additionalModelRequestFields;
	if (!isObject(fields)) return [];
	const isAdaptive = typeof model.thinkingLevelMap?.max === "string";
	const { inferenceConfig: config } = body;
	const { thinking, output_config: output } = fields;
	const issues = [];
	if (isObject(thinking)) {
		const maxTokens = isObject(config) ? Number(config.maxTokens) : Number.NaN;
		issues.push(...judgeClaudeThinking(thinking, maxTokens, isAdaptive, model));
		if (isObject(config) && config.temperature !== undefined) issues.push("temperature is not allowed with thinking");
	}
	if (isObject(output)) issues.push(...judgeClaudeEffort(output.effort, isAdaptive, model));
	return issues;
}

/** Budgets of the models without levels: least, most, and whether 0 turns thinking off. https://ai.google.dev/gemini-api/docs/thinking */
const BUDGETS: Readonly<Record<string, readonly [least: number, most: number, canStop: boolean]>> = {
	"gemini-2.5-pro": [128, 32_768, false],
	"gemini-2.5-flash": [1, 24_576, true],
	"gemini-2.5-flash-lite": [512, 24_576, true],
};

function judgeGoogle(body: JsonObject, model: KnownModel): string[] {
	const { generationConfig: config } = body;
	const thinking = isObject(config) ? config.thinkingConfig : undefined;
	if (!isObject(thinking)) return [];
	const { thinkingLevel: level, thinkingBudget: budget } = thinking;
	if (level !== undefined && budget !== undefined) return ["the request sets a thinking level and a budget"];
	if (!model.reasoning) return [`${model.id} does not think`];
	const levels = model.thinkingLevelMap?.high;
	if (level !== undefined) {
		if (typeof levels !== "string") return [`${model.id} has budgets, not levels`];
		const known = efforts(model).map((word) => word.toUpperCase());
		const issues = known.includes(stringOr(level, "")) ? [] : [`${model.id} has no level ${String(level)}`];
		return [...issues, ...judgeCallSignatures(objects(body.contents))];
	}
	if (typeof levels === "string") return [`${model.id} has levels, not budgets`];
	if (budget === -1 || budget === undefined) return [];
	const [least, most, canStop] = BUDGETS[model.id] ?? [0, 24_576, true];
	const isLegal = budget === 0 ? canStop : Number(budget) >= least && Number(budget) <= most;
	return isLegal ? [] : [`${model.id} does not accept the budget ${String(budget)}`];
}

/** In the current run, the first call of each reply needs a signature. https://ai.google.dev/gemini-api/docs/thought-signatures */
function judgeCallSignatures(contents: readonly JsonObject[]): string[] {
	const isPrompt = ({ role, parts }: JsonObject) =>
		role === "user" && !objects(parts).some((part) => part.functionResponse);
	return contents.flatMap((content, index) => {
		if (index < contents.findLastIndex(isPrompt)) return [];
		const call = objects(content.parts).find((part) => part.functionCall !== undefined);
		return !call || call.thoughtSignature ? [] : [`content ${index} has a call without a thought signature`];
	});
}

/** https://docs.mistral.ai/capabilities/reasoning */
function judgeMistral(body: JsonObject): string[] {
	const { reasoning_effort: effort, prompt_mode: mode } = body;
	if (effort !== undefined && mode !== undefined) return ["the request sets an effort and a prompt mode"];
	if (effort !== undefined && effort !== "high" && effort !== "none") return [`the effort is ${String(effort)}`];
	return mode === undefined || mode === "reasoning" ? [] : [`the prompt mode is ${String(mode)}`];
}

/** https://platform.openai.com/docs/guides/reasoning */
function judgeResponses(body: JsonObject, model: KnownModel): string[] {
	const { reasoning, include } = body;
	const issues: string[] = [];
	if (!model.reasoning) return reasoning === undefined ? [] : [`${model.id} does not reason`];
	for (const name of SAMPLING) if (body[name] !== undefined) issues.push(`${model.id} does not accept ${name}`);
	const effort = isObject(reasoning) ? reasoning.effort : undefined;
	const canStop = model.thinkingLevelMap?.off !== null;
	const stops = effort !== undefined && effort === (model.thinkingLevelMap?.off ?? "none");
	if (stops && !canStop) issues.push(`${model.id} always reasons`);
	if (effort !== undefined && !stops) issues.push(...judgeEffort(effort, model));
	const isEncrypted = Array.isArray(include) && include.includes("reasoning.encrypted_content");
	if (!stops && !isEncrypted)
		issues.push("the reasoning of the reply would be lost: it is neither stored nor encrypted");
	return issues;
}

function judgeCompletions(body: JsonObject, model: KnownModel): string[] {
	const { reasoning, reasoning_effort: effort } = body;
	const nested = isObject(reasoning) ? reasoning.effort : undefined;
	if (effort !== undefined && nested !== undefined) return ["the request sets two efforts"];
	const sent = effort ?? nested;
	if (sent === undefined) return [];
	if (!model.reasoning) return [`${model.id} does not reason`];
	const { off } = model.thinkingLevelMap ?? {};
	if (sent === (off ?? "none")) return off === null ? [`${model.id} always reasons`] : [];
	return judgeEffort(sent, model);
}
