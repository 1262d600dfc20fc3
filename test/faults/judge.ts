import { existsSync, readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import type { RpcEvent } from "../../src/modes/rpc/protocol.js";
import { isObject, type JsonObject, parseJson } from "../helpers/json.js";

/** An entry whose event left the program. */
export interface Acknowledged {
	entryIndex: number;
	/** The entry, or its message. */
	content: JsonObject;
}

/** The entries that these events acknowledge. */
export function acknowledgedBy(events: readonly RpcEvent[]): Acknowledged[] {
	return events.flatMap((event): Acknowledged[] => {
		if (event.type === "message_end") return [{ entryIndex: event.entryIndex, content: { ...event.message } }];
		if (event.type === "entry_appended") return [{ entryIndex: event.entryIndex, content: { ...event.entry } }];
		return [];
	});
}

/** The bytes of a file; none if it does not exist. */
export function bytesOf(path: string): Buffer {
	return existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
}

/** The acknowledged entries that a session file does not hold at their index. */
export function lostEntries(file: string, acknowledged: readonly Acknowledged[]): Acknowledged[] {
	const lines = bytesOf(file)
		.toString()
		.split("\n")
		.filter((line) => line.trim() !== "");
	return acknowledged.filter(({ entryIndex, content }) => {
		const entry = parseJson(lines[entryIndex] ?? "");
		return !isObject(entry) || !(isDeepStrictEqual(entry, content) || isDeepStrictEqual(entry.message, content));
	});
}

/** Fails if a file was changed other than at its end. */
export function expectAppended(before: Buffer, file: string): void {
	const now = bytesOf(file);
	expect(now.length).toBeGreaterThanOrEqual(before.length);
	expect(now.subarray(0, before.length).equals(before), `${file} was changed before its end`).toBe(true);
}

/** Fails if a text holds the stack of an error. */
export function expectNoStack(text: string): void {
	expect(text).not.toMatch(/^\s+at .*:\d+:\d+\)?$/m);
}
