import { errorText } from "../errors.js";
import { describeAllowed } from "../util/check-json.js";
import { isRecord } from "../util/is-record.js";

/** Rules of the validator's library that repeat what the line already says. */
const MISSING = /^( {2}- )(.+): must have required properties (.+)$/;
/** Its words for a value other than the constants of a schema. It has a line for each constant. */
const NO_CONSTANT = /^( {2}- )(.+): must be equal to (?:constant|one of the allowed values)$/;
/** What follows the lines of all alternatives. */
const NO_ALTERNATIVE = /^ {2}- (.+): must match a schema in (?:anyOf|oneOf)$/;

/**
 * The text of an error of `ArgumentValidator` for the model: missing arguments are named as missing, and where only some values
 * are allowed, these are named.
 * @param parameters the schema of the tool
 */
export function describeInvalidArguments(error: unknown, parameters: unknown): string {
	const text = error instanceof Error ? error.message : errorText(error);
	const end = text.indexOf("\n\n");
	const lines = (end < 0 ? text : text.slice(0, end)).split("\n");
	const described = new Set<string>();
	for (const line of lines) {
		const [, only] = NO_ALTERNATIVE.exec(line) ?? [];
		if (only !== undefined && schemasAt(parameters, only).every(isConstant)) continue;
		described.add(describeLine(line, parameters));
	}
	return [...described].join("\n") + (end < 0 ? "" : text.slice(end));
}

function describeLine(line: string, parameters: unknown): string {
	const [, start = "", path = "", names] = MISSING.exec(line) ?? [];
	if (names !== undefined) {
		const parent = path.slice(0, path.lastIndexOf(".") + 1);
		const missing = names.split(", ").map((name) => `${parent}${name}`);
		return `${start}${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} missing`;
	}
	const [, mark = "", at] = NO_CONSTANT.exec(line) ?? [];
	if (at === undefined) return line;
	const allowed = schemasAt(parameters, at).flatMap(constantsOf);
	return allowed.length > 0 ? `${mark}${at}: ${describeAllowed(allowed)}` : line;
}

/** The schemas, alternatives included, of the argument with a path such as `edits.0.kind`; none if it cannot be found. */
function schemasAt(parameters: unknown, path: string): Record<string, unknown>[] {
	let schemas = branches(parameters);
	for (const step of path.split(".")) {
		schemas = schemas.flatMap((schema) => branches(member(schema, step)));
	}
	return schemas;
}

function member({ properties, items, additionalProperties }: Record<string, unknown>, step: string): unknown {
	if (isRecord(properties) && Object.hasOwn(properties, step)) return properties[step];
	return /^\d+$/.test(step) && items !== undefined ? items : additionalProperties;
}

/** The alternatives of a schema; the schema itself if it has none. */
function branches(schema: unknown): Record<string, unknown>[] {
	if (!isRecord(schema)) return [];
	const { anyOf, oneOf } = schema;
	const alternatives = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : null;
	return alternatives ? alternatives.flatMap(branches) : [schema];
}

function isConstant(schema: Record<string, unknown>): boolean {
	return constantsOf(schema).length > 0;
}

function constantsOf(schema: Record<string, unknown>): unknown[] {
	if ("const" in schema) return [schema.const];
	return Array.isArray(schema.enum) ? schema.enum : [];
}
