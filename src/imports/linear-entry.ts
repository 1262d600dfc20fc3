import { decodeLine, encodeEntry } from "../log/codec.js";
import { type CustomEntry, isOpaqueEntry, RESERVED_ENTRY_TYPES, type SessionEntry } from "../log/entry.js";
import { isRecord } from "../util/is-record.js";
import type { TreeEntry } from "./tree-file.js";

/** Type of an entry that keeps another one which pi cannot use. */
const KEPT = "imported";

/** Types of the tree format that are custom entries here, with the same meaning. */
const KNOWN_CUSTOM: ReadonlySet<string> = new Set(["custom", "label"]);

/** An entry of the linear format, made from one of the tree format. */
export interface LinearEntry {
	entry: SessionEntry;
	/** Type of an entry that is kept only as a custom entry, with the role of a message; null for all others. */
	unknown: string | null;
}

/**
 * Turns an entry of the tree format into one entry of the linear format. Whatever has no counterpart becomes a custom
 * entry, which no context contains.
 * @param indexOf index here of the entry with an id; undefined if the session does not contain it
 * @param ownIndex index that the new entry gets
 */
export function toLinearEntry(
	source: TreeEntry,
	indexOf: (id: unknown) => number | undefined,
	ownIndex: number,
): LinearEntry {
	const { id: _, parentId, ...rest } = source;
	const timestamp = typeof source.timestamp === "string" ? source.timestamp : new Date(0).toISOString();
	const entry = convert({ ...rest, timestamp }, indexOf, ownIndex);
	if (entry && canBeSaved(entry)) {
		return {
			entry,
			unknown: RESERVED_ENTRY_TYPES.has(entry.type) || KNOWN_CUSTOM.has(source.type) ? null : source.type,
		};
	}
	const kept = { type: KEPT, timestamp, entry: source };
	return {
		entry: canBeSaved(kept) ? kept : { type: KEPT, timestamp, json: textOf(source) },
		unknown: describe(source),
	};
}

/** False for an entry with missing or invalid fields, or that is nested too deeply. */
function canBeSaved(entry: SessionEntry): boolean {
	try {
		return !isOpaqueEntry(decodeLine(encodeEntry(entry)));
	} catch {
		return false;
	}
}

/** The entry as JSON; empty if it is nested too deeply even for that. */
function textOf(source: TreeEntry): string {
	try {
		return JSON.stringify(source);
	} catch {
		return "";
	}
}

/** @returns undefined if the entry has no counterpart */
function convert(
	source: CustomEntry & { timestamp: string },
	indexOf: (id: unknown) => number | undefined,
	ownIndex: number,
): CustomEntry | undefined {
	const { timestamp } = source;
	switch (source.type) {
		case "message":
			return convertMessage(source);
		case "compaction": {
			const { firstKeptEntryId, ...rest } = source;
			// Without the entry, nothing before the compaction was kept.
			return { ...rest, firstKeptEntryIndex: indexOf(firstKeptEntryId) ?? ownIndex };
		}
		case "branch_summary":
			return notice(timestamp, "branch_summary", `Summary of a branch that was left:\n\n${source.summary}`);
		case "custom_message":
			return customMessage(timestamp, source);
		case "session_info":
			return { ...source, name: source.name ?? "" };
		case "label": {
			const { targetId, ...rest } = source;
			return { ...rest, entryIndex: indexOf(targetId) ?? null };
		}
		case "model_change":
		case "thinking_level_change":
			return source;
		default:
			return RESERVED_ENTRY_TYPES.has(source.type) ? undefined : source;
	}
}

function convertMessage(source: CustomEntry & { timestamp: string }): CustomEntry | undefined {
	const { timestamp, message } = source;
	if (!isRecord(message)) return undefined;
	switch (message.role) {
		case "custom":
		case "hookMessage": // its name in version 2
			return customMessage(timestamp, message);
		case "branchSummary":
		case "compactionSummary":
			return notice(timestamp, "summary", String(message.summary ?? ""));
		default:
			return source;
	}
}

/** A message that an extension added for the model: a system item, or a user message if it contains images. */
function customMessage(timestamp: string, { customType, content }: Record<string, unknown>): CustomEntry | undefined {
	const blocks = Array.isArray(content) ? content.filter(isRecord) : [];
	if (blocks.some(({ type }) => type === "image")) {
		const message = { role: "user", content, timestamp: Date.parse(timestamp) || 0 };
		return { type: "message", timestamp, message };
	}
	const text = typeof content === "string" ? content : blocks.map((block) => block.text).join("\n");
	return notice(timestamp, typeof customType === "string" ? customType : "extension", text);
}

function notice(timestamp: string, source: string, text: string): CustomEntry {
	return { type: "system_item", timestamp, source, item: { kind: "notification", text } };
}

function describe({ type, message }: TreeEntry): string {
	return type === "message" && isRecord(message) ? `message ${String(message.role)}` : type;
}
