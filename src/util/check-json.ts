import { errorText } from "../errors.js";
import { isRecord } from "./is-record.js";

/** A JSON Schema (2020-12) whose root is an object. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Checks a value as it is, without converting anything. @returns its errors, as `/items/0/price: must be number`; `/` is the value itself */
export type JsonCheck = (value: unknown) => string[];

/** Keywords whose values are schemas, lists of schemas, or schemas by name. */
const ONE =
	"items contains additionalProperties propertyNames if then else not unevaluatedItems unevaluatedProperties".split(
		" ",
	);
const LISTS = "prefixItems allOf anyOf oneOf".split(" ");
const MAPS = "$defs definitions properties patternProperties dependentSchemas".split(" ");
const TYPES = { enum: ["array", "boolean", "integer", "null", "number", "object", "string"] };

const SCHEMA = { $ref: "#" };
const TEXT = { type: "string" };
const TEXTS = { type: "array", items: TEXT, uniqueItems: true };
const FLAG = { type: "boolean" };
const NUMBER = { type: "number" };
const COUNT = { type: "integer", minimum: 0 };

/** The rules of draft 2020-12 for schemas, as one schema: its own are in several documents, which refer to each other. */
const META_SCHEMA = {
	type: ["object", "boolean"],
	properties: {
		...each("$id $schema $ref $anchor $dynamicRef $dynamicAnchor $comment title description format pattern", TEXT),
		...each("deprecated readOnly writeOnly uniqueItems", FLAG),
		...each("maximum exclusiveMaximum minimum exclusiveMinimum", NUMBER),
		...each("maxLength minLength maxItems minItems maxContains minContains maxProperties minProperties", COUNT),
		...each("enum examples", { type: "array" }),
		...each(ONE.join(" "), SCHEMA),
		...each(LISTS.join(" "), { type: "array", items: SCHEMA, minItems: 1 }),
		...each(MAPS.join(" "), { type: "object", additionalProperties: SCHEMA }),
		multipleOf: { type: "number", exclusiveMinimum: 0 },
		required: TEXTS,
		dependentRequired: { type: "object", additionalProperties: TEXTS },
		type: { anyOf: [TYPES, { type: "array", items: TYPES, minItems: 1, uniqueItems: true }] },
	},
};

function each(names: string, schema: object): Record<string, object> {
	return Object.fromEntries(names.split(" ").map((name) => [name, schema]));
}

/** Prepares a check against a valid schema. */
export async function createJsonCheck(schema: JsonSchema): Promise<JsonCheck> {
	// The library that checks the arguments of tool calls. It is loaded for the first schema.
	const { Compile } = await import("typebox/compile");
	const validator = Compile(schema);
	return (value) => (validator.Check(value) ? [] : describeErrors(validator.Errors(value)));
}

/** Why a value is no JSON Schema that can be used, as `/properties/price/type: …`; null if it is one. */
export async function describeSchemaProblem(schema: unknown): Promise<string | null> {
	if (!isRecord(schema)) return "/: must be an object";
	const errors = (await createJsonCheck(META_SCHEMA))(schema);
	// Of alternatives, the deepest says most.
	if (errors.length > 0) return errors.reduce((best, error) => (pathOf(error) > pathOf(best) ? error : best));
	const lost = subschemas(schema).flatMap(({ $ref }) =>
		typeof $ref === "string" && !refersTo($ref, schema) ? [$ref] : [],
	)[0];
	if (lost !== undefined) return `$ref ${JSON.stringify(lost)}: the schema contains no such part`;
	try {
		await createJsonCheck(schema);
		return null;
	} catch (error) {
		return `/: ${errorText(error)}`; // such as a pattern that is no regular expression
	}
}

/** A schema and all schemas in it. */
export function subschemas(schema: JsonSchema): JsonSchema[] {
	const within: unknown[] = [
		...ONE.map((name) => schema[name]),
		...LISTS.flatMap((name) => schema[name]),
		...MAPS.flatMap((name) => Object.values(isRecord(schema[name]) ? schema[name] : {})),
	];
	return [schema, ...within.filter(isRecord).flatMap(subschemas)];
}

/** Whether a reference leads to a part of the schema itself. */
function refersTo(reference: string, schema: JsonSchema): boolean {
	if (reference === "#") return true;
	if (!reference.startsWith("#/")) {
		const name = reference.slice(1);
		return reference.startsWith("#") && subschemas(schema).some(({ $anchor }) => $anchor === name);
	}
	let part: unknown = schema;
	for (const step of reference.slice(2).split("/")) {
		const key = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
		if (Array.isArray(part)) part = part[Number(key)];
		else part = isRecord(part) && Object.hasOwn(part, key) ? part[key] : undefined;
	}
	return isRecord(part) || typeof part === "boolean";
}

interface SchemaError {
	keyword: string;
	instancePath: string;
	message: string;
	params: object;
}

/** Values of an enumeration that an error names. */
const MAX_VALUES = 20;

function describeErrors(errors: readonly SchemaError[]): string[] {
	const lines = errors.flatMap(({ keyword, instancePath, message, params }) => {
		// Each property that is too much has an error of its own.
		if (keyword === "additionalProperties") return [];
		const allowed: unknown = Reflect.get(params, "allowedValues");
		if (keyword === "enum" && Array.isArray(allowed)) return [`${instancePath || "/"}: ${describeAllowed(allowed)}`];
		if (keyword === "const") {
			const constants = errors.filter((other) => other.keyword === keyword && other.instancePath === instancePath);
			const values = constants.map((other): unknown => Reflect.get(other.params, "allowedValue"));
			return [`${instancePath || "/"}: ${describeAllowed(values)}`];
		}
		if (keyword === "boolean") return [`${instancePath || "/"}: is not allowed`];
		if (keyword !== "required") return [`${instancePath || "/"}: ${message}`];
		const missing: unknown = Reflect.get(params, "requiredProperties");
		return (Array.isArray(missing) ? missing : []).map((name) => `${instancePath}/${name}: is missing`);
	});
	return lines.length > 0 ? [...new Set(lines)] : ["/: does not match the schema"];
}

/** Names the values that are allowed, each once. */
export function describeAllowed(values: readonly unknown[]): string {
	const names = [...new Set(values.map((value) => JSON.stringify(value)))];
	if (names.length === 1) return `must be ${names[0]}`;
	const more = names.length > MAX_VALUES ? `, and ${names.length - MAX_VALUES} more` : "";
	return `must be one of ${names.slice(0, MAX_VALUES).join(", ")}${more}`;
}

/** Length of the path of an error. */
function pathOf(error: string): number {
	return error.indexOf(": ");
}
