import type { Api, Model } from "@mariozechner/pi-ai";
import type { JsonObject } from "../../config/json-file.js";
import { answerForm } from "../../context/output-schema.js";
import { type JsonSchema, subschemas } from "../../util/check-json.js";
import { isRecord } from "../../util/is-record.js";

/** Name of the form of an answer for the provider. */
const NAME = "answer";

/** Wire formats that can ask for the form of an answer, and where their requests say so. */
const FORMATS: Partial<Record<Api, (body: JsonObject, schema: JsonSchema) => JsonObject>> = {
	"openai-completions": (body, schema) => ({
		...body,
		response_format: { type: "json_schema", json_schema: { name: NAME, schema, strict: isStrict(schema) } },
	}),
	"openai-responses": inText,
	"azure-openai-responses": inText,
	"openai-codex-responses": inText,
	"anthropic-messages": (body, schema) => ({
		...body,
		output_config: { ...fieldsOf(body.output_config), format: { type: "json_schema", schema } },
	}),
	"google-generative-ai": inConfig,
	"google-vertex": inConfig,
};

function inText(body: JsonObject, schema: JsonSchema): JsonObject {
	const format = { type: "json_schema", name: NAME, schema, strict: isStrict(schema) };
	return { ...body, text: { ...fieldsOf(body.text), format } };
}

function inConfig(body: JsonObject, schema: JsonSchema): JsonObject {
	const form = { responseMimeType: "application/json", responseJsonSchema: schema };
	return { ...body, config: { ...fieldsOf(body.config), ...form } };
}

function fieldsOf(value: unknown): JsonObject {
	return isRecord(value) ? value : {};
}

/** The body of a request that asks for an answer of a form. */
export function withOutputFormat(body: JsonObject, api: Api, schema: JsonSchema): JsonObject {
	return FORMATS[api]?.(body, answerForm(schema).schema) ?? body;
}

/**
 * Whether the provider of a model itself can hold its answers to a schema. `compat.supportsJsonSchema` of models.json says so.
 * Without it, two facts of pi-ai imply it: Anthropic has one feature for the form of answers and of calls, and every thinking
 * model of the Responses API whose calls can be held to a schema can answer in one.
 */
export function canFormat({ api, compat, reasoning }: Model<Api>, schema: JsonSchema): boolean {
	if (FORMATS[api] === undefined) return false;
	const facts: object = compat ?? {};
	const given: unknown = Reflect.get(facts, "supportsJsonSchema");
	const has = (name: string) => Reflect.get(facts, name) === true;
	if (api === "anthropic-messages")
		return isForAnthropic(answerForm(schema).schema) && (given ?? has("supportsStrictTools")) === true;
	if (given !== undefined) return given === true;
	return api === "openai-responses" && reasoning && has("supportsStrictMode");
}

const SHARED =
	"type properties required additionalProperties items enum const anyOf $ref $defs definitions description title";
/** What OpenAI accepts with `strict`. */
const STRICT = wordsOf(
	`${SHARED} $schema pattern format multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems`,
);
/** What Anthropic accepts. */
const ANTHROPIC = wordsOf(`${SHARED} $schema allOf default format minItems`);
/** Both know these formats of texts. */
const TEXT_FORMATS = wordsOf("date-time time date duration email hostname ipv4 ipv6 uuid");

function wordsOf(text: string): ReadonlySet<unknown> {
	return new Set(text.split(" "));
}

function isStrict(schema: JsonSchema): boolean {
	return subschemas(schema).every((part) => {
		const { properties, required } = part;
		const names = Object.keys(fieldsOf(properties));
		const isComplete = names.every((name) => Array.isArray(required) && required.includes(name));
		return usesOnly(part, STRICT) && isClosed(part) && isComplete;
	});
}

function isForAnthropic(schema: JsonSchema): boolean {
	const parts = subschemas(schema);
	return (
		parts.every((part) => {
			const { minItems = 0 } = part;
			return usesOnly(part, ANTHROPIC) && isClosed(part) && (minItems === 0 || minItems === 1);
		}) && !isRecursive(schema, parts)
	);
}

function usesOnly(part: JsonSchema, known: ReadonlySet<unknown>): boolean {
	const { format } = part;
	return (format === undefined || TEXT_FORMATS.has(format)) && Object.keys(part).every((name) => known.has(name));
}

/** True unless the part describes objects that may have other properties. */
function isClosed({ type, properties, additionalProperties }: JsonSchema): boolean {
	const isOfObjects = properties !== undefined || type === "object" || (Array.isArray(type) && type.includes("object"));
	return !isOfObjects || additionalProperties === false;
}

/** Whether a schema contains itself; true also for references that are not to a definition, which are not followed. */
function isRecursive(schema: JsonSchema, parts: readonly JsonSchema[]): boolean {
	const definitions: JsonObject = { ...fieldsOf(schema.definitions), ...fieldsOf(schema.$defs) };
	const namesIn = (list: readonly JsonSchema[]) =>
		list.flatMap(({ $ref }) =>
			typeof $ref === "string" ? [/^#\/(?:\$defs|definitions)\/([^/~%]+)$/.exec($ref)?.[1] ?? null] : [],
		);
	const reaches = (name: string | null, seen: readonly string[]): boolean => {
		if (name === null || seen.includes(name)) return true;
		return namesIn(subschemas(fieldsOf(definitions[name]))).some((next) => reaches(next, [...seen, name]));
	};
	return namesIn(parts).some((name) => reaches(name, []));
}
