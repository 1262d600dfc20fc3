import type { JsonObject } from "../config/json-file.js";
import { isRecord } from "../util/is-record.js";

/**
 * Repairs a request as pi-ai sends it, where its conversion of a conversation breaks a rule of the API.
 * @returns the repaired request; undefined if nothing is to change
 */
export function repairPayload(payload: unknown): JsonObject | undefined {
	if (!isRecord(payload)) return undefined;
	if (Array.isArray(payload.input)) return { ...payload, input: uniqueIds(payload.input) };
	if (Array.isArray(payload.contents)) return { ...payload, contents: resultsTogether(payload.contents) };
	return undefined;
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

function isResult(part: unknown): boolean {
	return isRecord(part) && isRecord(part.functionResponse);
}
