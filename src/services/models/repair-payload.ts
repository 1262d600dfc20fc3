import type { Api, Model } from "@mariozechner/pi-ai";
import type { JsonObject } from "../../config/json-file.js";
import type { ThinkingLevel } from "../../log/entry.js";
import { isRecord } from "../../util/is-record.js";

/** What a request was made for. */
export interface RequestFacts {
	model: Pick<Model<Api>, "reasoning" | "thinkingLevelMap">;
	/** A level that the model supports. */
	level: ThinkingLevel;
}

/** Anthropic's minimum for a budget of thinking tokens. */
const MIN_BUDGET = 1024;

/**
 * Repairs a request as pi-ai sends it, where it breaks a rule of the API.
 * @returns the repaired request; undefined if nothing is to change
 */
export function repairPayload(payload: unknown, facts: RequestFacts): JsonObject | undefined {
	if (!isRecord(payload)) return undefined;
	if (Array.isArray(payload.input)) return repairResponses(payload, payload.input, facts);
	if (Array.isArray(payload.contents)) return repairGoogle(payload, payload.contents, facts);
	if (isRecord(payload.additionalModelRequestFields)) {
		return repairBedrock(payload, payload.additionalModelRequestFields, facts);
	}
	return repairBudget(payload, Number(payload.max_tokens), facts);
}

/** Without their encrypted content, the reasoning items of a reply cannot be sent back: replies are not stored. */
function repairResponses(payload: JsonObject, input: readonly unknown[], { model }: RequestFacts): JsonObject {
	const thinks = model.reasoning && payload.reasoning === undefined && payload.include === undefined;
	return { ...payload, input: uniqueIds(input), ...(thinks && { include: ["reasoning.encrypted_content"] }) };
}

/** Responses API: all texts of a reply by another model get the same item id, but ids must be unique. */
function uniqueIds(items: readonly unknown[]): unknown[] {
	const seen = new Map<string, number>();
	return items.map((item) => {
		if (!isRecord(item) || item.type !== "message" || typeof item.id !== "string") return item;
		const count = seen.get(item.id) ?? 0;
		seen.set(item.id, count + 1);
		return count === 0 ? item : { ...item, id: `${item.id}_${count}` };
	});
}

/**
 * Anthropic: a budget must be at least 1024 tokens and less than `max_tokens`, which is small if the context is nearly full.
 * Such a reply has no room for thinking.
 */
function repairBudget(fields: JsonObject, maxTokens: number, { model }: RequestFacts): JsonObject | undefined {
	const { thinking, ...rest } = fields;
	if (!isRecord(thinking) || thinking.type !== "enabled" || thinking.budget_tokens === undefined) return undefined;
	const budget = Number(thinking.budget_tokens);
	if (budget >= MIN_BUDGET && budget < maxTokens) return undefined;
	return model.thinkingLevelMap?.off === null ? rest : { ...rest, thinking: { type: "disabled" } };
}

/**
 * Bedrock: pi-ai knows by parts of their names which models think adaptively. A model that has a level which budgets do not
 * have is one of them, also under a name that pi-ai does not know.
 */
function repairBedrock(payload: JsonObject, fields: JsonObject, facts: RequestFacts): JsonObject | undefined {
	const { thinkingLevelMap: levels } = facts.model;
	const { thinking, anthropic_beta: _, ...rest } = fields;
	if (typeof levels?.max === "string" && isRecord(thinking) && thinking.type === "enabled") {
		const { budget_tokens: __, ...kept } = thinking;
		const effort = levels[facts.level] ?? (facts.level === "minimal" ? "low" : facts.level);
		const adaptive = { ...rest, thinking: { ...kept, type: "adaptive" }, output_config: { effort } };
		return { ...payload, additionalModelRequestFields: adaptive };
	}
	const { inferenceConfig } = payload;
	const maxTokens = isRecord(inferenceConfig) ? Number(inferenceConfig.maxTokens) : Number.NaN;
	const repaired = repairBudget(fields, maxTokens, facts);
	return repaired && { ...payload, additionalModelRequestFields: repaired };
}

function repairGoogle(payload: JsonObject, contents: readonly unknown[], facts: RequestFacts): JsonObject {
	const together = resultsTogether(contents);
	const config = withThinkingLevel(payload.config, facts);
	const thinking = isRecord(config) ? config.thinkingConfig : null;
	// Only models with levels check the signatures of calls.
	const isChecked = isRecord(thinking) && thinking.thinkingLevel !== undefined;
	return { ...payload, config, contents: isChecked ? withSignatures(together) : together };
}

/** pi-ai knows by parts of their names which models have levels instead of budgets; the list names the levels. */
function withThinkingLevel(config: unknown, { model, level }: RequestFacts): unknown {
	const thinkingLevel = model.thinkingLevelMap?.[level];
	if (!isRecord(config) || typeof thinkingLevel !== "string") return config;
	if (!isRecord(config.thinkingConfig) || config.thinkingConfig.thinkingBudget === undefined) return config;
	const { thinkingBudget: _, ...rest } = config.thinkingConfig;
	return { ...config, thinkingConfig: { ...rest, thinkingLevel: thinkingLevel.toUpperCase() } };
}

/** Gemini 2: an image from a tool separates the results of one turn, but one content must have all of them. */
function resultsTogether(contents: readonly unknown[]): unknown[] {
	const repaired: unknown[] = [];
	let results: unknown[] | null = null;
	for (const content of contents) {
		const parts = isRecord(content) && content.role === "user" ? content.parts : null;
		if (!Array.isArray(parts)) results = null;
		else if (parts.some(isResult)) {
			if (results) {
				results.push(...parts);
				continue;
			}
			results = [...parts];
			repaired.push({ ...(isRecord(content) && content), parts: results });
			continue;
		}
		repaired.push(content);
	}
	return repaired;
}

/**
 * Gemini 3 refuses a run in which the first call of a reply has no signature, as after a switch from another model during the
 * run. Google documents this value for such calls.
 * @see https://ai.google.dev/gemini-api/docs/thought-signatures
 */
const NO_SIGNATURE = "skip_thought_signature_validator";

function withSignatures(contents: readonly unknown[]): unknown[] {
	const prompt = contents.findLastIndex(
		(content) => isRecord(content) && content.role === "user" && !partsOf(content).some(isResult),
	);
	return contents.map((content, index) => {
		if (index <= prompt || !isRecord(content) || content.role !== "model") return content;
		const parts = partsOf(content);
		const first = parts.findIndex((part) => isRecord(part) && isRecord(part.functionCall));
		const call = parts[first];
		if (!isRecord(call) || call.thoughtSignature !== undefined) return content;
		return { ...content, parts: parts.with(first, { ...call, thoughtSignature: NO_SIGNATURE }) };
	});
}

function partsOf(content: JsonObject): readonly unknown[] {
	return Array.isArray(content.parts) ? content.parts : [];
}

function isResult(part: unknown): boolean {
	return isRecord(part) && isRecord(part.functionResponse);
}
