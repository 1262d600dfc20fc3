/** An object read from JSON. */
export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The objects of an array; an empty list for anything else. */
export function objects(value: unknown): JsonObject[] {
	return Array.isArray(value) ? value.filter(isObject) : [];
}

export function stringOr(value: unknown, fallback: string): string {
	return typeof value === "string" ? value : fallback;
}

/** @returns undefined for invalid JSON */
export function parseJson(text: string): unknown {
	try {
		const value: unknown = JSON.parse(text);
		return value;
	} catch {
		return undefined;
	}
}
