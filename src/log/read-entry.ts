import { isRecord } from "../util/is-record.js";
import {
	type ApprovalEntry,
	type ChangesReviewedEntry,
	type CompactionEntry,
	type ContextFreezeEntry,
	type ContextRecord,
	type ContextUndoEntry,
	type CustomEntry,
	type FilesRestoredEntry,
	type HookToolCallEntry,
	type ImageOmissionEntry,
	isIndex,
	type MessageEntry,
	type ModelChangeEntry,
	type NativeCompaction,
	type OmittedImage,
	type OpaqueEntry,
	type OutputSchemaEntry,
	type RecordedRequest,
	type RecordedSegment,
	type RequestUsageEntry,
	type SessionEntry,
	type SessionHeader,
	type SessionInfoEntry,
	type ShortenedOutput,
	type SystemItemEntry,
	THINKING_LEVELS,
	type ThinkingLevelChangeEntry,
	type ToolHostEntry,
} from "./entry.js";
import { readFileChanges } from "./file-changes.js";
import { isTornHeader, LF, parseLine } from "./line-patterns.js";
import type { OpenFile } from "./open-file.js";
import { completeUsage, readAddedInstructions, readMessage } from "./read-message.js";
import { readPreamble } from "./read-preamble.js";

const EPOCH = new Date(0).toISOString();
const OTHER_VERSION = "it has session format version";
const FIRST_READ_BYTES = 4096;
/** Maximum length of a first line; a header has a few hundred bytes. */
const MAX_HEADER_BYTES = 1024 * 1024;

/** Placeholder entry for a line that cannot be used. */
export function opaqueEntry(reason: string): OpaqueEntry {
	return Object.freeze({ type: "opaque", reason });
}

/** The header on the first line of a file, or the reason why the file is not a session. Reads at most 1 MiB. */
export function readSessionHeader(file: Pick<OpenFile, "readSome">): SessionHeader | string {
	for (let size = FIRST_READ_BYTES; ; size = MAX_HEADER_BYTES) {
		const buffer = Buffer.allocUnsafe(size);
		const head = buffer.subarray(0, file.readSome(buffer, 0));
		const end = head.indexOf(LF);
		if (end >= 0 || head.length < size || size === MAX_HEADER_BYTES) {
			const value = parseLine(head.toString("utf8", 0, end < 0 ? head.length : end));
			return value === undefined ? "its first line is not JSON" : readHeader(value);
		}
	}
}

/** True if `readSessionHeader` returned that the file has another version of the format. */
export function isOtherVersion(reason: string): boolean {
	return reason.startsWith(OTHER_VERSION);
}

/** True for a file that holds only the beginning of a header, as a full disk or a crash can leave it. */
export function holdsTornHeader(file: Pick<OpenFile, "readSome">): boolean {
	const buffer = Buffer.allocUnsafe(MAX_HEADER_BYTES);
	return isTornHeader(buffer.toString("utf8", 0, file.readSome(buffer, 0)));
}

/** Validates the parsed first line of a file. @returns the header, or the reason why it is not one */
function readHeader(value: unknown): SessionHeader | string {
	if (!isRecord(value) || value.type !== "session") return "its first line is not a session header";
	const { id, cwd, version = 1 } = value;
	if (typeof id !== "string" || id === "" || typeof cwd !== "string") return "its header has no id or no cwd";
	if (version !== 1) return `${OTHER_VERSION} ${String(JSON.stringify(version)).slice(0, 20)}, not 1`;
	const { branch, branchedFrom, importedFrom, ...rest } = value;
	return {
		...rest,
		type: "session",
		version: 1,
		id,
		timestamp: typeof value.timestamp === "string" ? value.timestamp : EPOCH,
		cwd,
		...(typeof branch === "string" && { branch }),
		...(typeof branchedFrom === "string" && { branchedFrom }),
		...(isOrigin(importedFrom) && { importedFrom }),
	};
}

function isOrigin(value: unknown): value is NonNullable<SessionHeader["importedFrom"]> {
	return isRecord(value) && typeof value.program === "string" && typeof value.id === "string";
}

/**
 * Validates a parsed line. A line of a core type with invalid fields becomes an opaque entry; pi does not check lines of
 * other types, which belong to hooks.
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
			const { context: given, files, ...rest } = value;
			const context = readContextRecord(given);
			return {
				...rest,
				type: "message",
				timestamp: typeof value.timestamp === "string" ? timestamp : isoOf(message.timestamp),
				message,
				...(context && { context }),
				...withFiles(files),
			} satisfies MessageEntry;
		}
		case "compaction": {
			const { summary, firstKeptEntryIndex, keptEntries, shortened, details, native, ...rest } = value;
			if (typeof summary !== "string" || typeof firstKeptEntryIndex !== "number") break;
			const tokensBefore = typeof value.tokensBefore === "number" ? value.tokensBefore : 0;
			return {
				...rest,
				type: "compaction",
				timestamp,
				summary,
				firstKeptEntryIndex,
				tokensBefore,
				...(Array.isArray(keptEntries) && { keptEntries: keptEntries.filter(isIndex) }),
				...(Array.isArray(shortened) && { shortened: shortened.filter(isShortened) }),
				...(isRecord(details) && { details }),
				...(isNativeCompaction(native) && { native }),
			} satisfies CompactionEntry;
		}
		case "context_undo":
		case "context_freeze": {
			const { type, entryIndex } = value;
			if (!isIndex(entryIndex)) break;
			return { ...value, type, timestamp, entryIndex } satisfies ContextUndoEntry | ContextFreezeEntry;
		}
		case "image_omission": {
			const { images, provider, modelId, reason } = value;
			if (!Array.isArray(images) || !images.every(isOmittedImage)) break;
			if (typeof provider !== "string" || typeof modelId !== "string" || typeof reason !== "string") break;
			return {
				...value,
				type: "image_omission",
				timestamp,
				images,
				provider,
				modelId,
				reason,
			} satisfies ImageOmissionEntry;
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
		case "tool_host": {
			const { on, name } = value;
			if ((typeof on !== "string" && on !== null) || typeof name !== "string") break;
			return { ...value, type: "tool_host", timestamp, on, name } satisfies ToolHostEntry;
		}
		case "request_usage": {
			const { purpose, provider, modelId, subscription, ...rest } = value;
			if (typeof purpose !== "string" || typeof provider !== "string" || typeof modelId !== "string") break;
			return {
				...rest,
				type: "request_usage",
				timestamp,
				purpose,
				provider,
				modelId,
				usage: completeUsage(value.usage),
				...(subscription === true && { subscription }),
			} satisfies RequestUsageEntry;
		}
		case "hook_tool_call": {
			const { hook, toolCallId, toolName, input, parent, isError, files, ...rest } = value;
			if (typeof hook !== "string" || typeof toolCallId !== "string" || typeof toolName !== "string") break;
			const result = readMessage({ ...value, role: "toolResult", isError: isError === true }, 0);
			if (typeof result === "string" || result.role !== "toolResult" || !isRecord(input)) break;
			return {
				...rest,
				type: "hook_tool_call",
				timestamp,
				hook,
				toolCallId,
				...(typeof parent === "string" && { parent }),
				toolName,
				input,
				content: result.content,
				isError: isError === true,
				...withFiles(files),
			} satisfies HookToolCallEntry;
		}
		case "approval": {
			const { toolCallId, question, by, allowed, choice, rule, message, ...rest } = value;
			if (typeof toolCallId !== "string" || typeof question !== "string" || typeof by !== "string") break;
			if (typeof allowed !== "boolean") break;
			return {
				...rest,
				...{ type: "approval", timestamp, toolCallId, question, by, allowed },
				...(typeof choice === "string" && { choice }),
				...(typeof rule === "string" && { rule }),
				...(typeof message === "string" && { message }),
			} satisfies ApprovalEntry;
		}
		case "files_restored": {
			const { from, to, files, left } = value;
			if (!isIndex(from) || !isIndex(to) || !Array.isArray(left)) break;
			return {
				...value,
				type: "files_restored",
				timestamp,
				from,
				to,
				files: readFileChanges(files),
				left: left.filter((path) => typeof path === "string"),
			} satisfies FilesRestoredEntry;
		}
		case "changes_reviewed": {
			const { from, kept, reverted } = value;
			if (!isIndex(from)) break;
			return {
				...value,
				type: "changes_reviewed",
				timestamp,
				from,
				kept: readFileChanges(kept),
				reverted: readFileChanges(reverted),
			} satisfies ChangesReviewedEntry;
		}
		case "output_schema": {
			const { schema, tool, ...rest } = value;
			if (schema !== null && !isRecord(schema)) break;
			const named = typeof tool === "string" ? { tool } : {};
			return { ...rest, type: "output_schema", timestamp, schema, ...named } satisfies OutputSchemaEntry;
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
			return opaqueEntry(typeof value.reason === "string" ? value.reason : "opaque line without a reason");
		default:
			return value;
	}
	return opaqueEntry(`the ${value.type} entry has missing or invalid fields`);
}

function withFiles(value: unknown) {
	const files = readFileChanges(value);
	return files.length > 0 ? { files } : {};
}

/** True for an object with a string `type` and a valid timestamp, if any. Every line must be one. */
export function isTyped(value: Record<string, unknown>): value is CustomEntry {
	const { type, timestamp } = value;
	const isTime = timestamp === undefined || typeof timestamp === "string" || typeof timestamp === "number";
	return typeof type === "string" && isTime;
}

function isSystemItem(value: unknown): value is SystemItemEntry["item"] {
	if (!isRecord(value) || typeof value.text !== "string") return false;
	if (value.kind === "context_file") return value.changed === undefined || value.changed === true;
	return value.kind === "task_reminder" || value.kind === "notification";
}

function isoOf(milliseconds: number): string {
	const date = new Date(milliseconds);
	return Number.isNaN(date.getTime()) ? EPOCH : date.toISOString();
}

function isShortened(value: unknown): value is ShortenedOutput {
	return isRecord(value) && isIndex(value.entryIndex) && isIndex(value.characters);
}

function isOmittedImage(value: unknown): value is OmittedImage {
	if (!isRecord(value) || typeof value.digest !== "string") return false;
	return value.entryIndex === null || isIndex(value.entryIndex);
}

/** @returns null for an invalid record; a record without `shape` if a segment of it is of an unknown kind */
function readContextRecord(value: unknown): ContextRecord | null {
	if (!isRecord(value)) return null;
	const {
		digest,
		messages,
		tokens,
		subscription,
		shape: given,
		system,
		tools,
		preamble: start,
		provider,
		native,
		...rest
	} = value;
	if (typeof digest !== "string" || typeof messages !== "number" || typeof tokens !== "number") return null;
	const shape = Array.isArray(given) ? readRequest(given) : null;
	const preamble = readPreamble(start);
	return {
		...rest,
		digest,
		messages,
		tokens,
		...(subscription === true && { subscription }),
		...(shape && { shape }),
		...(typeof system === "string" && { system }),
		...(typeof tools === "string" && { tools }),
		...(preamble && { preamble }),
		...(isRecord(provider) &&
			Object.values(provider).every(isRecord) && { provider: provider as ContextRecord["provider"] }),
		...(isIndex(native) && { native }),
	};
}

function readRequest(values: readonly unknown[]): RecordedRequest | null {
	const segments: RecordedSegment[] = [];
	for (const value of values) {
		const segment = readSegment(value);
		if (segment === null) return null;
		segments.push(segment);
	}
	return segments;
}

function readSegment(value: unknown): RecordedSegment | null {
	if (Array.isArray(value)) {
		const [from, to]: unknown[] = value;
		return isIndex(from) && isIndex(to) ? [from, to] : null;
	}
	if (!isRecord(value)) return null;
	const { compaction, entry, reply, part, entryIndex = null } = value;
	if (isIndex(compaction)) return isIndex(entry) ? { compaction, entry } : { compaction };
	if (isIndex(reply) && isIndex(part)) return { reply, part };
	const message = readAddedInstructions(value.message) ?? readMessage(value.message, 0);
	return typeof message !== "string" && (entryIndex === null || isIndex(entryIndex)) ? { message, entryIndex } : null;
}

/** Of the items of a native compaction, as JSON. UTF-16 units. */
const MAX_NATIVE = 2_000_000;

/** Whether a value of a hook or a file is one. */
export function isNativeCompaction(value: unknown): value is NativeCompaction {
	if (!isRecord(value) || typeof value.api !== "string" || typeof value.provider !== "string") return false;
	const { items } = value;
	if (!Array.isArray(items) || items.length === 0 || !items.every(isRecord)) return false;
	return JSON.stringify(items).length <= MAX_NATIVE;
}
