import { expect, test } from "vitest";
import { toLinearEntry } from "../../src/imports/linear-entry.js";
import type { TreeEntry } from "../../src/imports/tree-file.js";

const timestamp = "2026-01-02T03:04:05.000Z";
const OWN_INDEX = 9;
const indexOf = (id: unknown) => (id === "first" ? 2 : undefined);
const convert = (source: TreeEntry) => toLinearEntry({ id: "a", parentId: "b", ...source }, indexOf, OWN_INDEX);
const user = { role: "user", content: "hi", timestamp: 1 };
const image = { type: "image", data: "aa", mimeType: "image/png" };
const notice = (source: string, text: string) => ({
	type: "system_item",
	timestamp,
	source,
	item: { kind: "notification", text },
});

test.each<[string, TreeEntry, object]>([
	["a message", { type: "message", message: user }, { type: "message", timestamp, message: user }],
	[
		"a compaction",
		{ type: "compaction", summary: "s", firstKeptEntryId: "first", tokensBefore: 7 },
		{ type: "compaction", timestamp, summary: "s", firstKeptEntryIndex: 2, tokensBefore: 7 },
	],
	[
		"a compaction whose first kept entry is missing, as one that keeps nothing",
		{ type: "compaction", summary: "s", firstKeptEntryId: "gone", tokensBefore: 7 },
		{ type: "compaction", timestamp, summary: "s", firstKeptEntryIndex: OWN_INDEX, tokensBefore: 7 },
	],
	[
		"the summary of another branch",
		{ type: "branch_summary", summary: "tried x" },
		notice("branch_summary", "Summary of a branch that was left:\n\ntried x"),
	],
	[
		"a text of an extension",
		{ type: "custom_message", customType: "lint", content: "1 fault" },
		notice("lint", "1 fault"),
	],
	["a text of an unnamed extension", { type: "custom_message", content: "1 fault" }, notice("extension", "1 fault")],
	[
		"text blocks of an extension",
		{
			type: "custom_message",
			customType: "lint",
			content: [{ type: "text", text: "a" }, null, { type: "text", text: "b" }],
		},
		notice("lint", "a\nb"),
	],
	[
		"neither text nor blocks of an extension",
		{ type: "custom_message", customType: "lint", content: 7 },
		notice("lint", ""),
	],
	[
		"an image of an extension, as a prompt",
		{ type: "custom_message", customType: "shot", content: [{ type: "text", text: "see" }, image] },
		{
			type: "message",
			timestamp,
			message: { role: "user", content: [{ type: "text", text: "see" }, image], timestamp: Date.parse(timestamp) },
		},
	],
	[
		"a message of an extension",
		{ type: "message", message: { role: "custom", customType: "lint", content: "x" } },
		notice("lint", "x"),
	],
	[
		"a message of a hook of version 2",
		{ type: "message", message: { role: "hookMessage", customType: "lint", content: "x" } },
		notice("lint", "x"),
	],
	[
		"a branch summary message",
		{ type: "message", message: { role: "branchSummary", summary: "s" } },
		notice("summary", "s"),
	],
	[
		"a summary message",
		{ type: "message", message: { role: "compactionSummary", summary: "s" } },
		notice("summary", "s"),
	],
	[
		"a summary message without text",
		{ type: "message", message: { role: "compactionSummary" } },
		notice("summary", ""),
	],
	["a name", { type: "session_info", name: "n" }, { type: "session_info", timestamp, name: "n" }],
	["a removed name", { type: "session_info" }, { type: "session_info", timestamp, name: "" }],
	[
		"a label",
		{ type: "label", targetId: "first", label: "x" },
		{ type: "label", timestamp, label: "x", entryIndex: 2 },
	],
	["a label of a missing entry", { type: "label", targetId: "gone" }, { type: "label", timestamp, entryIndex: null }],
	[
		"a model",
		{ type: "model_change", provider: "p", modelId: "m" },
		{ type: "model_change", timestamp, provider: "p", modelId: "m" },
	],
	[
		"a thinking level",
		{ type: "thinking_level_change", thinkingLevel: "high" },
		{ type: "thinking_level_change", timestamp, thinkingLevel: "high" },
	],
	[
		"an entry of an extension",
		{ type: "custom", customType: "x", data: 1 },
		{ type: "custom", timestamp, customType: "x", data: 1 },
	],
])("%s has a counterpart", (_, source, entry) => {
	expect(convert({ timestamp, ...source })).toEqual({ entry, unknown: null });
});

test("an image without a valid time is from 1970", () => {
	const source = { type: "custom_message", timestamp: "?", content: [image] };
	expect(convert(source).entry).toMatchObject({ timestamp: "?", message: { timestamp: 0 } });
	expect(convert({ ...source, timestamp: 7 }).entry).toMatchObject({ timestamp: "1970-01-01T00:00:00.000Z" });
});

test("an entry of an unknown type is kept without its ids, and its type is reported", () => {
	const { entry, unknown } = convert({ type: "thread", timestamp, note: 1 });
	expect([entry, unknown]).toEqual([{ type: "thread", timestamp, note: 1 }, "thread"]);
});

test.each<[string, TreeEntry]>([
	["message odd", { type: "message", message: { role: "odd" } }],
	["message user", { type: "message", message: { role: "user" } }],
	["message custom", { type: "message", message: { role: "custom", content: [{ ...image, data: 7 }] } }],
	["message", { type: "message", message: "text" }],
	["message", { type: "message" }],
	["compaction", { type: "compaction", firstKeptEntryId: "first" }],
	["model_change", { type: "model_change" }],
	["session_info", { type: "session_info", name: 7 }],
	["context_undo", { type: "context_undo", entryIndex: 1 }],
	["opaque", { type: "opaque" }],
	["compaction", { type: "compaction", message: { role: "user" } }],
])("an unusable entry is kept complete in one that no context contains: %s", (unknown, source) => {
	const complete = { id: "a", parentId: "b", timestamp, ...source };
	expect(convert({ timestamp, ...source })).toEqual({
		entry: { type: "imported", timestamp, entry: complete },
		unknown,
	});
});

test("an entry that is nested too deeply is kept as text, or without contents if even that fails", () => {
	const nested = (levels: number): unknown => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`);
	const deep = { type: "custom", timestamp, data: nested(600) };
	const json = JSON.stringify({ id: "a", parentId: "b", ...deep });
	expect(convert(deep)).toEqual({ entry: { type: "imported", timestamp, json }, unknown: "custom" });
	const endless: Record<string, unknown> & { type: string } = { type: "custom", timestamp };
	endless.self = endless;
	expect(convert(endless)).toEqual({ entry: { type: "imported", timestamp, json: "" }, unknown: "custom" });
});
