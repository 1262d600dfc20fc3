import { expect, test } from "vitest";
import { type RequestFacts, repairPayload } from "../../../src/services/models/repair-payload.js";

const facts = (change: Partial<RequestFacts["model"]> = {}, level: RequestFacts["level"] = "high"): RequestFacts => ({
	model: { reasoning: true, ...change },
	level,
});
const budget = (tokens: number) => ({ thinking: { type: "enabled", budget_tokens: tokens } });

test.each([
	["a legal budget", 4096, 2048, {}, undefined],
	["a budget below Anthropic's minimum", 2000, 976, {}, { type: "disabled" }],
	["a budget that leaves no room for the reply", 1024, 1024, {}, { type: "disabled" }],
	["such a budget of a model that always thinks", 1024, 1024, { thinkingLevelMap: { off: null } }, "omitted"],
])("%s", (_name, max_tokens, tokens, model, expected) => {
	const repaired = repairPayload({ max_tokens, ...budget(tokens) }, facts(model));
	if (expected === undefined) expect(repaired).toBeUndefined();
	else expect(repaired).toEqual({ max_tokens, ...(expected !== "omitted" && { thinking: expected }) });
});

test("a budget on Bedrock that leaves no room for the reply is omitted", () => {
	const inferenceConfig = { maxTokens: 1000 };
	const fields = { ...budget(1024), anthropic_beta: ["interleaved-thinking-2025-05-14"] };
	expect(repairPayload({ inferenceConfig, additionalModelRequestFields: fields }, facts())).toEqual({
		inferenceConfig,
		additionalModelRequestFields: { anthropic_beta: fields.anthropic_beta, thinking: { type: "disabled" } },
	});
});

test("a model on Bedrock that has a level above high thinks adaptively, whatever its name", () => {
	const fields = { ...budget(16_384), anthropic_beta: ["interleaved-thinking-2025-05-14"] };
	const model = { thinkingLevelMap: { xhigh: "xhigh", max: "max" } };
	const repair = (level: RequestFacts["level"]) =>
		repairPayload({ additionalModelRequestFields: fields }, facts(model, level))?.additionalModelRequestFields;
	const adaptive = (effort: string) => ({ thinking: { type: "adaptive" }, output_config: { effort } });
	expect([repair("max"), repair("high"), repair("minimal")]).toEqual([
		adaptive("max"),
		adaptive("high"),
		adaptive("low"),
	]);
});

test("a Google model whose levels the list names gets a level, whatever its name", () => {
	const config = { thinkingConfig: { includeThoughts: true, thinkingBudget: -1 } };
	const contents = [{ role: "user", parts: [{ text: "hi" }] }];
	expect(repairPayload({ contents, config }, facts({ thinkingLevelMap: { high: "high" } }))).toEqual({
		contents,
		config: { thinkingConfig: { includeThoughts: true, thinkingLevel: "HIGH" } },
	});
	expect(repairPayload({ contents, config }, facts())).toEqual({ contents, config });
});

test("the first call of each reply of the current run gets a signature that Gemini 3 accepts", () => {
	const call = (name: string, thoughtSignature?: string) => ({
		functionCall: { name, args: {} },
		...(thoughtSignature !== undefined && { thoughtSignature }),
	});
	const said = (text: string) => ({ role: "user", parts: [{ text }] });
	const result = (name: string) => ({ role: "user", parts: [{ functionResponse: { name } }] });
	const called = (...parts: object[]) => ({ role: "model", parts });
	const earlier = [said("a"), called(call("ls")), result("ls"), said("b")];
	const config = { thinkingConfig: { thinkingLevel: "HIGH" } };
	const contents = [
		...earlier,
		called(call("ls"), call("read")),
		result("ls"),
		called(call("ls", "c2ln")),
		result("ls"),
	];
	expect(repairPayload({ contents, config }, facts())?.contents).toEqual([
		...earlier,
		called(call("ls", "skip_thought_signature_validator"), call("read")),
		...contents.slice(5),
	]);
	const budgets = { thinkingConfig: { thinkingBudget: 128 } };
	expect(repairPayload({ contents, config: budgets }, facts())?.contents).toEqual(contents);
});

test("a reply to a request that names no effort comes with its encrypted reasoning", () => {
	expect(repairPayload({ input: [] }, facts())).toEqual({ input: [], include: ["reasoning.encrypted_content"] });
	expect(repairPayload({ input: [], reasoning: { effort: "none" } }, facts())).toEqual({
		input: [],
		reasoning: { effort: "none" },
	});
	expect(repairPayload({ input: [] }, facts({ reasoning: false }))).toEqual({ input: [] });
});
