import type { XStatic } from "typebox/schema";
import { isRecord } from "../util/is-record.js";
import { nearest } from "../util/nearest.js";
import type { JsonKeys } from "./json-error.js";

/**
 * The subset of JSON Schema that pi's own files use; keywords with `x-` are pi's. Schemas are plain objects that TypeBox
 * only types (`Filled`): its constructors would add 87 kB and 8 ms to the first paint.
 */
export interface Schema {
	readonly type?: string | readonly string[];
	readonly description?: string;
	readonly default?: unknown;
	readonly enum?: readonly string[];
	readonly minimum?: number;
	readonly exclusiveMinimum?: number;
	readonly maximum?: number;
	readonly minLength?: number;
	/** UTF-16 units. */
	readonly maxLength?: number;
	readonly pattern?: string;
	readonly format?: "uri";
	readonly items?: Schema;
	readonly minItems?: number;
	readonly properties?: { readonly [name: string]: Schema };
	readonly required?: readonly string[];
	readonly additionalProperties?: Schema | false;
	/** Describes the values in messages: "an http or https address". */
	readonly "x-expected"?: string;
	/** A project may also set it: the value cannot run code, redirect traffic or hold keys. */
	readonly "x-project"?: true;
	/** A list whose items in all places are used, instead of those in one. */
	readonly "x-joined"?: true;
	/** A running session applies a new value at once. */
	readonly "x-live"?: true;
	/** Title of the group of settings that begins here, in the order of the schema. */
	readonly "x-group"?: string;
	/** Omitted in `/settings`. */
	readonly "x-unlisted"?: true;
}

type Required<S> = S extends { readonly required: readonly (infer K)[] } ? K : never;

/** The type of a value that matches a schema, defaults filled in. */
export type Filled<S> = S extends { readonly type: readonly ["string", "object"] }
	? string | FilledObject<S>
	: FilledObject<S>;

type FilledObject<S> = S extends { readonly properties: infer P }
	? {
			readonly [K in keyof P]: P[K] extends { readonly default: unknown }
				? Filled<P[K]>
				: K extends Required<S>
					? Filled<P[K]>
					: Filled<P[K]> | undefined;
		}
	: S extends { readonly additionalProperties: infer A extends Schema }
		? { readonly [name: string]: Filled<A> }
		: S extends { readonly items: infer I }
			? readonly Filled<I>[]
			: XStatic<S>;

/** Something in a file that its schema does not allow. */
export interface SchemaProblem {
	keys: JsonKeys;
	/** `unknown`: a key that the schema does not define. */
	kind: "value" | "unknown";
	/** A sentence without the location. */
	message: string;
}

/**
 * Copies the parts of a value that a schema allows. Invalid members and items are reported and omitted, as are objects
 * without a required member. `$schema`, the location of the schema for editors, is allowed at the top level.
 * @returns a copy; undefined if the value itself is invalid
 */
export function readBySchema(
	schema: Schema,
	value: unknown,
	onProblem: (problem: SchemaProblem) => void,
	keys: JsonKeys = [],
): unknown {
	const reject = (message: string) => void onProblem({ keys, kind: "value", message: `${pathText(keys)} ${message}` });
	if (!isValid(schema, value)) return reject(`must be ${expected(schema)}; ignored`);
	if (Array.isArray(value) && schema.items) {
		const { items, minItems = 0 } = schema;
		const read = value.map((item, index) => readBySchema(items, item, onProblem, [...keys, index]));
		const accepted = read.filter((item) => item !== undefined);
		return accepted.length < minItems ? undefined : accepted;
	}
	if (!isRecord(value)) return value;
	const { properties = {}, additionalProperties, required = [] } = schema;
	const members = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
		if (member === undefined) return []; // not in JSON, but in settings of a program
		const at = [...keys, name];
		const inner = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
		if (inner) return [[name, readBySchema(inner, member, onProblem, at)]];
		if (inner === undefined && !schema.properties) return [[name, member]];
		if (name === "$schema" && keys.length === 0) return [];
		const [near] = nearest(name, Object.keys(properties), 1);
		const hint = near === undefined ? "" : ` · did you mean ${near}?`;
		onProblem({ keys: at, kind: "unknown", message: `${pathText(at)} is unknown; ignored${hint}` });
		return [];
	});
	const read = Object.fromEntries(members.filter(([, member]) => member !== undefined));
	const missing = required.find((name) => !Object.hasOwn(read, name));
	if (missing === undefined) return read;
	return reject(`needs a valid ${missing}; ignored`);
}

/** Adds defaults to a value that `readBySchema` returned. The result is frozen at every depth. */
export function fillDefaults<const S extends Schema>(schema: S, value: unknown): Filled<S>;
export function fillDefaults({ properties, additionalProperties, items }: Schema, value: unknown): unknown {
	if (Array.isArray(value)) return Object.freeze(value.map((item) => (items ? fillDefaults(items, item) : item)));
	if (!isRecord(value)) return value;
	const members = Object.entries(additionalProperties ? value : { ...properties, ...value });
	return Object.freeze(
		Object.fromEntries(
			members.map(([name]) => {
				const inner = properties?.[name] ?? additionalProperties;
				const member = Object.hasOwn(value, name) ? value[name] : inner ? inner.default : undefined;
				return [name, inner ? fillDefaults(inner, member) : member];
			}),
		),
	);
}

/** Describes the values of a schema in messages: "true or false", "a whole number from 0 to 100". */
export function expected(schema: Schema): string {
	const { type, minimum = 0, maximum, minLength, items, properties, additionalProperties } = schema;
	if (schema["x-expected"]) return schema["x-expected"];
	if (schema.enum) return `one of ${schema.enum.join(", ")}`;
	if (items) return `a list of ${plural(items)}`;
	if (type === "object")
		return properties || !additionalProperties ? "an object" : `an object of ${plural(additionalProperties)}`;
	if (type === "integer") return `a whole number from ${minimum} to ${maximum}`;
	if (type === "number")
		return schema.exclusiveMinimum === 0 ? "a number greater than 0" : `a number of at least ${minimum}`;
	if (type === "boolean") return "true or false";
	if (type === "string") return minLength ? "a non-empty string" : "a string";
	return [type].flat().join(" or ");
}

function plural(schema: Schema): string {
	if (schema.items) return `lists of ${plural(schema.items)}`;
	return schema.type === "string" ? "strings" : `${schema.type}s`;
}

/** All values of a schema, if they are few. */
export function choices(schema: Schema): readonly unknown[] | undefined {
	return schema.type === "boolean" ? [true, false] : schema.enum;
}

/** Whether a user can type a value of the schema on one line. */
export function isTypable({ type }: Schema): boolean {
	return type !== "object" && type !== "array";
}

/** Parses a value that a user typed; undefined if it is invalid. */
export function parseTyped(schema: Schema, typed: string): unknown {
	const word = typed.trim();
	const booleans: Record<string, boolean> = { true: true, on: true, false: false, off: false };
	const isNumber = schema.type === "integer" ? /^\d+$/ : /^(?:\d+|\d*\.\d+)$/;
	const takesNumber = schema.type === "integer" || schema.type === "number";
	const value = schema.type === "boolean" ? booleans[word] : takesNumber && isNumber.test(word) ? Number(word) : word;
	return isTypable(schema) && isValid(schema, value) ? value : undefined;
}

/** Formats keys as a path: `models[2].id`. */
function pathText(keys: JsonKeys): string {
	return keys.map((key, at) => (typeof key === "number" ? `[${key}]` : `${at > 0 ? "." : ""}${key}`)).join("");
}

/** Checks the value itself, not its members and items. */
function isValid(schema: Schema, value: unknown): boolean {
	const { minimum = -Infinity, exclusiveMinimum = -Infinity, maximum = Infinity, minLength = 0, pattern = "" } = schema;
	// Before anything else reads a long text.
	if (typeof value === "string" && value.length > (schema.maxLength ?? Infinity)) return false;
	if (![schema.type ?? []].flat().includes(typeName(value, schema.type))) return false;
	if (typeof value === "number") return value >= minimum && value > exclusiveMinimum && value <= maximum;
	if (typeof value !== "string") return true;
	if (schema.format === "uri" && !URL.canParse(value)) return false;
	return value.length >= minLength && new RegExp(pattern).test(value) && (schema.enum?.includes(value) ?? true);
}

function typeName(value: unknown, wanted: Schema["type"]): string {
	if (value === null) return "null";
	if (Array.isArray(value)) return "array";
	return wanted === "integer" && Number.isInteger(value) ? "integer" : typeof value;
}

/** A schema for editors, as a document of its own. */
export function editorSchema(title: string, schema: { readonly properties?: object }): object {
	const $schema = { type: "string", description: "Location of this schema, for editors" };
	return {
		$schema: "https://json-schema.org/draft/2020-12/schema",
		title,
		...schema,
		properties: { $schema, ...schema.properties },
	};
}
