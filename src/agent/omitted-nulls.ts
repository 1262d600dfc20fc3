import { isRecord } from "../util/is-record.js";

/**
 * Arguments without properties that are null although their schema does not allow it: models write null for an omitted
 * property, and a converted null would be 0, false or the text "null".
 */
export function omitNulls(args: Record<string, unknown>, schema: unknown): Record<string, unknown> {
	const properties = isRecord(schema) && isRecord(schema.properties) ? schema.properties : {};
	const schemaOf = (name: string) => (Object.hasOwn(properties, name) ? properties[name] : undefined);
	const given = Object.entries(args).filter(([name, value]) => value !== null || allowsNull(schemaOf(name)));
	return Object.fromEntries(given.map(([name, value]) => [name, omitNested(value, schemaOf(name))]));
}

function omitNested(value: unknown, schema: unknown): unknown {
	if (!isRecord(schema)) return value;
	if (Array.isArray(value)) return value.map((item) => omitNested(item, schema.items));
	return isRecord(value) ? omitNulls(value, schema) : value;
}

/** True unless a schema certainly excludes null. */
function allowsNull(schema: unknown): boolean {
	if (!isRecord(schema)) return true;
	const { type, enum: values, anyOf, oneOf } = schema;
	if ("const" in schema) return schema.const === null;
	if (Array.isArray(values)) return values.includes(null);
	const branches = anyOf ?? oneOf;
	if (Array.isArray(branches)) return branches.some(allowsNull);
	if (Array.isArray(type)) return type.includes("null");
	return type === undefined || type === "null";
}
