import { isObject, type JsonObject } from "./json.js";
import type { LoopbackApi } from "./loopback-provider.js";

/**
 * Judges how a request asks for the form of the answer.
 * https://platform.openai.com/docs/guides/structured-outputs, https://platform.claude.com/docs/en/build-with-claude/structured-outputs,
 * https://ai.google.dev/gemini-api/docs/structured-output
 */
export function judgeFormat(api: LoopbackApi, body: JsonObject): string[] {
	switch (api) {
		case "openai-completions":
			return judgeOpenai(
				body.response_format,
				isObject(body.response_format) ? body.response_format.json_schema : null,
			);
		case "openai-responses": {
			const format = isObject(body.text) ? body.text.format : undefined;
			return judgeOpenai(format, format);
		}
		case "anthropic-messages": {
			const format = isObject(body.output_config) ? body.output_config.format : undefined;
			if (format === undefined) return [];
			if (!isObject(format) || format.type !== "json_schema" || Object.keys(format).length !== 2)
				return ["output_config.format is malformed"];
			return judgeSchema(format.schema, false);
		}
		case "google-generative-ai": {
			const { responseJsonSchema: schema, responseMimeType: type } = isObject(body.generationConfig)
				? body.generationConfig
				: {};
			if (schema === undefined && type === undefined) return [];
			return type === "application/json" && isObject(schema) ? [] : ["a schema needs the type application/json"];
		}
	}
}

function judgeOpenai(format: unknown, named: unknown): string[] {
	if (format === undefined) return [];
	if (!isObject(format) || format.type !== "json_schema" || !isObject(named)) return ["the format is malformed"];
	if (typeof named.name !== "string" || !/^[\w-]{1,64}$/.test(named.name)) return ["the format has no legal name"];
	if (!isObject(named.schema) || named.schema.type !== "object") return ["the root of a schema must be an object"];
	return named.strict === true ? judgeSchema(named.schema, true) : [];
}

/** @param isComplete whether every property must be required */
function judgeSchema(schema: unknown, isComplete: boolean): string[] {
	if (!isObject(schema)) return ["there is no schema"];
	const { type, properties, required, additionalProperties, items } = schema;
	const issues: string[] = [];
	if (type === "object" && additionalProperties !== false) issues.push("additionalProperties must be false");
	if ("minLength" in schema || "oneOf" in schema) issues.push("the schema has a keyword that is not supported");
	const list = isObject(properties) ? Object.entries(properties) : [];
	const missing = list.find(([name]) => !(Array.isArray(required) && required.includes(name)));
	if (isComplete && missing) issues.push(`${missing[0]} must be required`);
	const inner = [...list.map(([, value]) => value), ...(items === undefined ? [] : [items])];
	return [...issues, ...inner.flatMap((part) => judgeSchema(part, isComplete))];
}
