import type { Api, Model } from "@mariozechner/pi-ai";
import { describe, expect, test } from "vitest";
import { canFormat, withOutputFormat } from "../../../src/services/models/output-format.js";

const CLOSED = {
	type: "object",
	properties: { city: { type: "string" } },
	required: ["city"],
	additionalProperties: false,
};
const OPEN = { type: "object", properties: { city: { type: "string" } } };

const ASKED: [Api, object][] = [
	[
		"openai-completions",
		{ response_format: { type: "json_schema", json_schema: { name: "answer", schema: CLOSED, strict: true } } },
	],
	[
		"openai-responses",
		{ text: { verbosity: "low", format: { type: "json_schema", name: "answer", schema: CLOSED, strict: true } } },
	],
	["anthropic-messages", { output_config: { effort: "high", format: { type: "json_schema", schema: CLOSED } } }],
	[
		"google-generative-ai",
		{ config: { temperature: 0, responseMimeType: "application/json", responseJsonSchema: CLOSED } },
	],
	["mistral-conversations", {}],
];

describe("the form of an answer in a request", () => {
	test.each(ASKED)("%s keeps the other fields", (api, added) => {
		const body = { text: { verbosity: "low" }, output_config: { effort: "high" }, config: { temperature: 0 } };
		expect(withOutputFormat(body, api, CLOSED)).toEqual({ ...body, ...added });
	});

	test.each([
		[CLOSED, true],
		[OPEN, false],
		[{ ...CLOSED, required: [] }, false],
		[{ ...CLOSED, properties: { city: { ...CLOSED } } }, true],
		[{ ...CLOSED, properties: { city: { type: "object" } } }, false],
		[{ ...CLOSED, properties: { city: { type: "string", minLength: 2 } } }, false],
		[{ ...CLOSED, properties: { city: { type: "string", format: "uri" } } }, false],
		[{ ...CLOSED, oneOf: [{}] }, false],
	] as [object, boolean][])("%j is sent with strict: %s", (schema, strict) => {
		const body = withOutputFormat({}, "openai-completions", { ...schema });
		expect(body).toMatchObject({ response_format: { json_schema: { strict } } });
	});

	test("another root is wrapped in an object, and references lead to where they led", () => {
		const schema = {
			$schema: "https://json-schema.org/draft/2020-12/schema",
			type: "array",
			items: { anyOf: [{ $ref: "#/$defs/name" }, { $ref: "#" }, { $ref: "#/items" }] },
			$defs: { name: { type: "string" } },
		};
		expect(withOutputFormat({}, "anthropic-messages", schema).output_config).toEqual({
			format: {
				type: "json_schema",
				schema: {
					type: "object",
					properties: {
						answer: {
							type: "array",
							items: {
								anyOf: [
									{ $ref: "#/$defs/name" },
									{ $ref: "#/properties/answer" },
									{ $ref: "#/properties/answer/items" },
								],
							},
						},
					},
					required: ["answer"],
					additionalProperties: false,
					$defs: { name: { type: "string" } },
				},
			},
		});
	});
});

describe("whether a model is asked for the form", () => {
	const model = (api: Api, compat?: object, reasoning = true) => ({ api, compat, reasoning }) as Model<Api>;
	test.each([
		[model("openai-completions"), false],
		[model("openai-completions", { supportsStrictMode: true }), false],
		[model("openai-completions", { supportsJsonSchema: true }), true],
		[model("openai-responses", { supportsStrictMode: true }), true],
		[model("openai-responses", { supportsStrictMode: true }, false), false],
		[model("openai-responses", { supportsStrictMode: true, supportsJsonSchema: false }), false],
		[model("openai-responses", {}), false],
		[model("anthropic-messages", { supportsStrictTools: true }), true],
		[model("anthropic-messages", { supportsStrictTools: true, supportsJsonSchema: false }), false],
		[model("anthropic-messages", { supportsJsonSchema: true }), true],
		[model("anthropic-messages"), false],
		[model("google-generative-ai"), false],
		[model("google-generative-ai", { supportsJsonSchema: true }), true],
		[model("mistral-conversations", { supportsJsonSchema: true }), false],
		[model("bedrock-converse-stream", { supportsJsonSchema: true }), false],
	])("its facts say: %j → %s", (facts, expected) => {
		expect(canFormat(facts, CLOSED)).toBe(expected);
	});

	test.each([
		[OPEN],
		[{ ...CLOSED, properties: { city: { type: "string", minLength: 1 } } }],
		[{ ...CLOSED, properties: { city: { type: "array", minItems: 2 } } }],
		[{ ...CLOSED, properties: { city: { $ref: "#" } } }],
		[
			{
				...CLOSED,
				$defs: { a: { type: "array", items: { $ref: "#/$defs/a" } } },
				properties: { city: { $ref: "#/$defs/a" } },
			},
		],
	])("Anthropic does not accept %j, so the model calls the tool", (schema) => {
		expect(canFormat(model("anthropic-messages", { supportsStrictTools: true }), schema)).toBe(false);
	});

	test("Anthropic accepts definitions that do not contain themselves", () => {
		const schema = { ...CLOSED, $defs: { a: { type: "string" } }, properties: { city: { $ref: "#/$defs/a" } } };
		expect(canFormat(model("anthropic-messages", { supportsStrictTools: true }), schema)).toBe(true);
	});
});
