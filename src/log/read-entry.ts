import { isIndex, readContextRecord } from "./context-record.js";
import {
	type CompactionEntry,
	type ContextFreezeEntry,
	type ContextUndoEntry,
	type CustomEntry,
	type MessageEntry,
	type ModelChangeEntry,
	type OpaqueEntry,
	type SessionEntry,
	type SessionHeader,
	type SessionInfoEntry,
	type SystemItemEntry,
	THINKING_LEVELS,
	type ThinkingLevelChangeEntry,
} from "./entry.js";
import { isRecord, readMessage } from "./read-message.js";

const EPOCH = new Date(0).toISOString();

/** An entry in place of a line that cannot be used. */
export function opaqueEntry(reason: string): OpaqueEntry {
	return Object.freeze({ type: "opaque", reason });
}

/** The header that a parsed first line holds, or the reason why it is none. */
export function readHeader(value: unknown): SessionHeader | string {
	if (!isRecord(value) || value.type !== "session") return "its first line is not a session header";
	const { id, cwd, version = 1 } = value;
	if (typeof id !== "string" || id === "" || typeof cwd !== "string") return "its header has no id or no cwd";
	if (version !== 1) return `it has session format version ${String(JSON.stringify(version)).slice(0, 20)}, not 1`;
	const { branchedFrom, ...rest } = value;
	return {
		...rest,
		type: "session",
		version: 1,
		id,
		timestamp: typeof value.timestamp === "string" ? value.timestamp : EPOCH,
		cwd,
		...(typeof branchedFrom === "string" && { branchedFrom }),
	};
}

/**
 * The entry that a parsed line holds. Lines of the core's types must have the fields of their type, else they are
 * opaque; lines of other types are their hook's business.
 */
export function readEntry(value: CustomEntry): SessionEntry {
	const timestamp = typeof value.timestamp === "string" ? value.timestamp : EPOCH;
	switch (value.type) {
		case "session": {
			const header = readHeader(value);
			return typeof header === "string" ? opaqueEntry(header) : header;
		}
		case "message": {
			const message = readMessage(value.message, Date.parse(timestamp) || 0);
			if (typeof message === "string") return opaqueEntry(message);
			const { context: given, ...rest } = value;
			const context = readContextRecord(given);
			return {
				...rest,
				type: "message",
				timestamp: typeof value.timestamp === "string" ? timestamp : isoOf(message.timestamp),
				message,
				...(context && { context }),
			} satisfies MessageEntry;
		}
		case "compaction": {
			const { summary, firstKeptEntryIndex } = value;
			if (typeof summary !== "string" || typeof firstKeptEntryIndex !== "number") break;
			const tokensBefore = typeof value.tokensBefore === "number" ? value.tokensBefore : 0;
			return {
				...value,
				type: "compaction",
				timestamp,
				summary,
				firstKeptEntryIndex,
				tokensBefore,
			} satisfies CompactionEntry;
		}
		case "context_undo": {
			const { entryIndex } = value;
			if (!isIndex(entryIndex)) break;
			return { ...value, type: "context_undo", timestamp, entryIndex } satisfies ContextUndoEntry;
		}
		case "context_freeze": {
			const { entryIndex } = value;
			if (!isIndex(entryIndex)) break;
			return { ...value, type: "context_freeze", timestamp, entryIndex } satisfies ContextFreezeEntry;
		}
		case "model_change": {
			const { provider, modelId } = value;
			if (typeof provider !== "string" || typeof modelId !== "string") break;
			return { ...value, type: "model_change", timestamp, provider, modelId } satisfies ModelChangeEntry;
		}
		case "thinking_level_change": {
			const thinkingLevel = THINKING_LEVELS.find((level) => level === value.thinkingLevel);
			if (thinkingLevel === undefined) break;
			return { ...value, type: "thinking_level_change", timestamp, thinkingLevel } satisfies ThinkingLevelChangeEntry;
		}
		case "system_item": {
			const { source, item } = value;
			if (typeof source !== "string" || !isSystemItem(item)) break;
			return { ...value, type: "system_item", timestamp, source, item } satisfies SystemItemEntry;
		}
		case "session_info":
			if (typeof value.name !== "string") break;
			return { ...value, type: "session_info", timestamp, name: value.name } satisfies SessionInfoEntry;
		case "opaque":
			return opaqueEntry(typeof value.reason === "string" ? value.reason : "the line says that it is opaque");
		default:
			return value;
	}
	return opaqueEntry(`the fields of a ${value.type} entry are missing or odd`);
}

/** True for an object with a string as type and, if any, a usable timestamp: what every line must be. */
export function isTyped(value: Record<string, unknown>): value is CustomEntry {
	const { type, timestamp } = value;
	const isTime = timestamp === undefined || typeof timestamp === "string" || typeof timestamp === "number";
	return typeof type === "string" && isTime;
}

function isSystemItem(value: unknown): value is SystemItemEntry["item"] {
	return (
		isRecord(value) &&
		(value.kind === "task_reminder" || value.kind === "notification") &&
		typeof value.text === "string"
	);
}

function isoOf(milliseconds: number): string {
	const date = new Date(milliseconds);
	return Number.isNaN(date.getTime()) ? EPOCH : date.toISOString();
}
