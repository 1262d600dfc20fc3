import type { ContextRecord, RecordedRequest, RecordedSegment } from "./entry.js";
import { isRecord, readMessage } from "./read-message.js";

/** True for what can be the index of an entry, or a position. */
export function isIndex(value: unknown): value is number {
	return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/**
 * What stands beside a reply about the context that it was given; null when that is not usable. A shape that has a part
 * which nobody knows is left out: half a list is none.
 */
export function readContextRecord(value: unknown): ContextRecord | null {
	if (!isRecord(value)) return null;
	const { digest, messages, tokens, shape: given, ...rest } = value;
	if (typeof digest !== "string" || typeof messages !== "number" || typeof tokens !== "number") return null;
	const shape = Array.isArray(given) ? readRequest(given) : null;
	return { ...rest, digest, messages, tokens, ...(shape && { shape }) };
}

function readRequest(parts: readonly unknown[]): RecordedRequest | null {
	const shape: RecordedSegment[] = [];
	for (const value of parts) {
		const part = readSegment(value);
		if (part === null) return null;
		shape.push(part);
	}
	return shape;
}

function readSegment(value: unknown): RecordedSegment | null {
	if (Array.isArray(value)) {
		const [from, to]: unknown[] = value;
		return isIndex(from) && isIndex(to) ? [from, to] : null;
	}
	if (!isRecord(value)) return null;
	const { compaction, reply, part, entryIndex = null } = value;
	if (isIndex(compaction)) return { compaction };
	if (isIndex(reply) && isIndex(part)) return { reply, part };
	const message = readMessage(value.message, 0);
	return typeof message !== "string" && (entryIndex === null || isIndex(entryIndex)) ? { message, entryIndex } : null;
}
