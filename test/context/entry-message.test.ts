import { expect, test } from "vitest";
import { compactionMessage, EntryItems, entryMessage, entryTime } from "../../src/context/entry-message.js";
import type { SessionEntry } from "../../src/log/entry.js";
import { compaction, custom, header, user } from "../helpers/entries.js";

const timestamp = "2026-01-01T00:00:00.000Z";
const at = Date.parse(timestamp);
const item = (source: string, kind: object): SessionEntry => ({ type: "system_item", timestamp, source, item: kind });
const bash = (fields: object) =>
	({
		type: "message",
		timestamp,
		message: { role: "bashExecution", command: "ls", output: "", ...fields },
	}) as SessionEntry;
const FILE_NOTE =
	"These are the project's instructions for the directory of this file. They override those of parent directories and earlier versions of the file; the user's messages override both.";

test("messages of the conversation are in the context, except !! commands and retried replies", () => {
	const [said, ran] = [user("hi"), bash({})];
	expect(entryMessage(said)).toBe(said.message);
	expect(entryMessage(ran)).toBe((ran as ReturnType<typeof user>).message);
	const others = [
		bash({ excludeFromContext: true }),
		{ ...said, retried: true },
		header(),
		custom("x"),
		compaction(1, "C"),
	];
	expect([...others, undefined].map((entry) => entryMessage(entry as SessionEntry))).toEqual(Array(6).fill(null));
});

test.each<[SessionEntry, string]>([
	[
		item("tasks", { kind: "task_reminder", text: "2 open" }),
		'<task_reminder source="tasks">\n2 open\n</task_reminder>',
	],
	[item('a"<b>&\r\nc', { kind: "notification", text: '"<' }), '<notification source="abc">\n"<\n</notification>'],
	[
		item("/a/AGENTS.md", { kind: "context_file", text: "Use tabs." }),
		`<context_file path="/a/AGENTS.md">\nUse tabs.\n</context_file>\n\n${FILE_NOTE}`,
	],
	[
		item("/a/AGENTS.md", { kind: "context_file", text: "x", changed: true }),
		`<context_file path="/a/AGENTS.md" changed="since you received it">\nx\n</context_file>\n\n${FILE_NOTE}`,
	],
])("a system item is a user message", (entry, content) => {
	expect(entryMessage(entry)).toEqual({ role: "user", content, timestamp: at });
	expect(entryMessage(entry)).toBe(entryMessage(entry));
	expect(Object.isFrozen(entryMessage(entry))).toBe(true);
});

test("a summary is a user message, always the same object", () => {
	const entry = compaction(1, "Sum");
	const content = "The conversation before this point was replaced by a summary:\n\n<summary>\nSum\n</summary>";
	expect(compactionMessage(entry)).toEqual({ role: "user", content, timestamp: at });
	expect(compactionMessage(entry)).toBe(compactionMessage(entry));
});

test.each<[SessionEntry | undefined, number]>([
	[user("x"), at],
	[custom("x", { timestamp: 7 }), 7],
	[custom("x", { timestamp: "?" }), 0],
	[custom("x", { timestamp: Number.POSITIVE_INFINITY }), 0],
	[{ type: "opaque", reason: "x" }, 0],
	[undefined, 0],
])("the time of %j is %i", (entry, time) => {
	expect(entryTime(entry)).toBe(time);
});

test("the items of a log are the same objects each time, and belong to its header", () => {
	const [first, other] = [header(), header()];
	const items = EntryItems.of(first);
	expect(EntryItems.of(first)).toBe(items);
	expect([EntryItems.of(other), EntryItems.of(undefined), EntryItems.of(user("x"))]).not.toContain(items);
	expect(EntryItems.of(undefined)).not.toBe(EntryItems.of(undefined));
	const entries = new Map([1, 1023, 1024, 2049].map((index) => [index, user(`${index}`)]));
	const created = [...entries].map(([index, entry]) => items.item(entry, index));
	expect(created).toEqual(
		[...entries].map(([entryIndex, { message }]) => ({ message, entryIndex, origin: { kind: "entry" } })),
	);
	expect(created.every(Object.isFrozen)).toBe(true);
	[...entries].forEach(([index, entry], position) => {
		expect(items.item(entry, index)).toBe(created[position]);
	});
});

test("the item of another entry at an index is a new one, and entries without a message have none", () => {
	const items = EntryItems.of(header());
	expect(items.item(user("a"), 1)?.message).toMatchObject({ content: "a" });
	expect(items.item(user("b"), 1)?.message).toMatchObject({ content: "b" });
	expect([items.item(custom("x"), 1), items.item(undefined, 1)]).toEqual([null, null]);
	const reminder = items.item(item("tasks", { kind: "task_reminder", text: "x" }), 2);
	expect(reminder).toMatchObject({ entryIndex: 2, origin: { kind: "system_item" } });
});
