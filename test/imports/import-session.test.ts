import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { importSession } from "../../src/imports/import-session.js";
import { checkSession } from "../../src/log/check-session.js";
import { decodeLine } from "../../src/log/codec.js";
import type { SessionEntry } from "../../src/log/entry.js";
import { assistantMessage } from "../helpers/entries.js";
import { tempDir } from "../log/support.js";

const AT = "2026-01-01T10:00:00.000Z";
const HEADER = { type: "session", version: 3, id: "tree", timestamp: AT, cwd: "/home/me/project" };

/** An entry of a tree; `parentId` null begins a tree. */
const entry = (id: string, parentId: string | null, type: string, fields: object) => ({
	...{ type, id, parentId, timestamp: AT },
	...fields,
});
const message = (id: string, parentId: string | null, value: object) =>
	entry(id, parentId, "message", { message: value });
const user = (id: string, parentId: string | null, content: unknown = id) =>
	message(id, parentId, { role: "user", content, timestamp: 1 });

/** Imports a file with these lines. */
async function imported(lines: readonly (object | string)[], header: object = HEADER) {
	const dir = tempDir();
	const source = join(dir, "old.jsonl");
	const text = `${[header, ...lines].map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n")}\n`;
	writeFileSync(source, text);
	const { mtimeMs } = statSync(source);
	const facts = await importSession(
		{ program: "pi", path: source, id: "" },
		{ dir: join(dir, "sessions"), cwd: "/here" },
	);
	expect(readFileSync(source, "utf8")).toBe(text);
	expect(statSync(source).mtimeMs).toBe(mtimeMs);
	const entries: SessionEntry[] = readFileSync(facts.path, "utf8").split("\n").filter(Boolean).map(decodeLine);
	return { facts, entries: entries.slice(1), header: entries[0], source };
}

test("the path from the last leaf to the root becomes a linear session, readable only by the user", async () => {
	const reply = assistantMessage("done", [{ id: "c1", name: "bash" }]);
	const result = { role: "toolResult", toolCallId: "c1", toolName: "bash", content: [], isError: false, timestamp: 3 };
	const bash = {
		role: "bashExecution",
		command: "ls",
		output: "a",
		exitCode: 0,
		cancelled: false,
		truncated: false,
		timestamp: 4,
	};
	const { facts, entries, header, source } = await imported([
		entry("m", null, "model_change", { provider: "p", modelId: "m" }),
		entry("t", "m", "thinking_level_change", { thinkingLevel: "high" }),
		user("u1", "t"),
		user("x1", "u1", "other branch"),
		user("x2", "x1", "other branch"),
		message("a1", "u1", reply),
		message("r1", "a1", result),
		message("b1", "r1", bash),
		entry("i", "b1", "session_info", { name: "named" }),
	]);
	expect(facts).toMatchObject({
		source,
		entries: 7,
		leftOut: { "entries of other branches": 2 },
		damaged: 0,
		isCut: false,
		kept: {},
	});
	expect(header).toMatchObject({
		type: "session",
		version: 1,
		id: facts.id,
		cwd: "/home/me/project",
		branchedFrom: source,
	});
	expect(entries).toEqual([
		{ type: "model_change", timestamp: AT, provider: "p", modelId: "m" },
		{ type: "thinking_level_change", timestamp: AT, thinkingLevel: "high" },
		{ type: "message", timestamp: AT, message: { role: "user", content: "u1", timestamp: 1 } },
		{ type: "message", timestamp: AT, message: reply },
		{ type: "message", timestamp: AT, message: result },
		{ type: "message", timestamp: AT, message: bash },
		{ type: "session_info", timestamp: AT, name: "named" },
	]);
	expect(statSync(facts.path).mode & 0o777).toBe(0o600);
	expect(checkSession(facts.path).issues).toEqual([]);
});

test("a compaction keeps the entry that it begins with, or nothing if that is on another branch", async () => {
	const compaction = (id: string, parentId: string, firstKeptEntryId: string) =>
		entry(id, parentId, "compaction", {
			summary: id,
			firstKeptEntryId,
			tokensBefore: 9,
			details: { readFiles: ["a"] },
		});
	const { entries } = await imported([
		user("u1", null),
		user("u2", "u1"),
		user("x", "u1"),
		compaction("k1", "u2", "u2"),
		user("u3", "k1"),
		compaction("k2", "u3", "x"),
		user("u4", "k2"),
	]);
	expect(entries[2]).toEqual({
		...{ type: "compaction", timestamp: AT, summary: "k1", firstKeptEntryIndex: 2, tokensBefore: 9 },
		details: { readFiles: ["a"] },
	});
	expect(entries[4]).toMatchObject({ summary: "k2", firstKeptEntryIndex: 5 });
});

test("branch summaries and messages of extensions stay in the context", async () => {
	const image = { type: "image", data: "aGk=", mimeType: "image/png" };
	const notice = (source: string, text: string) => ({
		...{ type: "system_item", timestamp: AT, source },
		item: { kind: "notification", text },
	});
	const { entries, facts } = await imported([
		user("u1", null),
		entry("s", "u1", "branch_summary", { fromId: "x", summary: "Tried A." }),
		entry("c1", "s", "custom_message", { customType: "ext", content: "text", display: true }),
		entry("c2", "c1", "custom_message", {
			customType: "ext",
			content: [{ type: "text", text: "see" }, image],
			display: false,
		}),
		message("c3", "c2", { role: "custom", customType: "ext", content: [{ type: "text", text: "old" }], timestamp: 1 }),
		message("c4", "c3", { role: "hookMessage", customType: "hook", content: "older", timestamp: 1 }),
		message("c5", "c4", { role: "branchSummary", summary: "Left B.", fromId: "y", timestamp: 1 }),
	]);
	expect(entries.slice(1)).toEqual([
		notice("branch_summary", "Summary of a branch that was left:\n\nTried A."),
		notice("ext", "text"),
		{
			...{ type: "message", timestamp: AT },
			message: { role: "user", content: [{ type: "text", text: "see" }, image], timestamp: Date.parse(AT) },
		},
		notice("ext", "old"),
		notice("hook", "older"),
		notice("summary", "Left B."),
	]);
	expect(facts.kept).toEqual({});
});

test("labels point at the new indices, also those that were set on another branch", async () => {
	const label = (id: string, parentId: string, targetId: string, text?: string) =>
		entry(id, parentId, "label", { targetId, ...(text && { label: text }) });
	const { entries, facts } = await imported([
		user("u1", null),
		user("x1", "u1"),
		label("l1", "x1", "u1", "elsewhere"),
		label("l2", "l1", "x1", "lost"),
		label("l3", "u1", "u1", "here"),
		user("u2", "l3"),
	]);
	expect(entries.slice(1)).toMatchObject([
		{ type: "label", entryIndex: 1, label: "here" },
		{ type: "message" },
		{ type: "label", entryIndex: 1, label: "elsewhere" },
	]);
	expect(facts).toMatchObject({ entries: 4, leftOut: { "entries of other branches": 2 }, kept: {} });
});

test("unknown entries are kept as custom entries and counted", async () => {
	const state = entry("c", "u1", "custom", { customType: "ext", data: { n: 1 } });
	const mood = entry("n", "c", "mood", { value: "calm" });
	const reserved = entry("o", "n", "context_undo", { entryIndex: "?" });
	const system = message("y", "o", { role: "system", content: "", sections: {}, timestamp: 1 });
	const level = entry("z", "y", "thinking_level_change", { thinkingLevel: "huge" });
	const { entries, facts } = await imported([user("u1", null), state, mood, reserved, system, level]);
	const { id: _, parentId: __, ...custom } = state;
	expect(entries.slice(1)).toEqual([
		custom,
		{ type: "mood", timestamp: AT, value: "calm" },
		{ type: "imported", timestamp: AT, entry: reserved },
		{ type: "imported", timestamp: AT, entry: system },
		{ type: "imported", timestamp: AT, entry: level },
	]);
	expect(facts.kept).toEqual({ mood: 1, context_undo: 1, "message system": 1, thinking_level_change: 1 });
	expect(checkSession(facts.path).issues).toEqual([]);
});

test.each([600, 200_000])("an entry nested %d levels deep does not stop an import", async (depth) => {
	const line = `{"type":"deep","id":"d","parentId":"u1","value":${"[".repeat(depth)}${"]".repeat(depth)}}`;
	const { entries, facts } = await imported([user("u1", null), line, user("u2", "d")]);
	expect(entries.map(({ type }) => type)).toEqual(["message", "imported", "message"]);
	expect(facts).toMatchObject({ entries: 3, kept: { deep: 1 } });
	if (depth === 600) expect(entries[1]).toMatchObject({ json: line });
});

test("damaged lines, a missing parent and a loop do not stop an import", async () => {
	const damaged = await imported([
		"garbage {",
		user("u2", "lost"),
		"",
		'{"type":"message"}',
		user("u3", "u2"),
		'{"type":"mess',
	]);
	expect(damaged.facts).toMatchObject({ entries: 2, damaged: 3, isCut: true });
	const loop = await imported([user("a", "b"), user("b", "a")]);
	expect(loop.facts).toMatchObject({ entries: 2, isCut: true });
	const deep = await imported(Array.from({ length: 5000 }, (_, n) => user(`u${n}`, n === 0 ? null : `u${n - 1}`)));
	expect(deep.entries.map((item) => (item.type === "message" ? item.message : null))).toHaveLength(5000);
	expect(deep.facts.isCut).toBe(false);
});

test.each([
	[{ ...HEADER, version: 1 }, "needs no import: it is linear already"],
	[{ ...HEADER, version: 9 }, "it has format version 9, not 2 or 3"],
	[{ type: "note" }, "its first line is not a session header"],
])("a file with the header %j is refused", async (header, words) => {
	await expect(imported([user("a", null)], header)).rejects.toMatchObject({
		code: "log_not_a_session",
		message: expect.stringContaining(words),
	});
});

test("a file without entries and a missing file are refused", async () => {
	await expect(imported([])).rejects.toThrow("it has no entries");
	const missing = importSession(
		{ program: "pi", path: join(tempDir(), "x.jsonl"), id: "" },
		{ dir: tempDir(), cwd: "/" },
	);
	await expect(missing).rejects.toMatchObject({ code: "log_not_found" });
	await expect(
		importSession({ program: "pi", path: tempDir(), id: "" }, { dir: tempDir(), cwd: "/" }),
	).rejects.toMatchObject({
		code: "log_not_a_session",
	});
});

test("a session that cannot be written is an error", async () => {
	const dir = tempDir();
	const source = join(dir, "old.jsonl");
	writeFileSync(source, `${JSON.stringify(HEADER)}\n${JSON.stringify(user("u1", null))}\n`);
	await expect(
		importSession({ program: "pi", path: source, id: "" }, { dir: join(source, "sessions"), cwd: "/" }),
	).rejects.toThrow(
		expect.objectContaining({ code: "log_write_failed", message: expect.stringContaining("Cannot save the session") }),
	);
});

test("a tree whose header names no directory began in the given one", async () => {
	const { header } = await imported([user("u1", null)], { ...HEADER, cwd: 7 });
	expect(header).toMatchObject({ cwd: "/here" });
});

test.each<[string, string, object]>([
	[
		"a tree without entries",
		`${JSON.stringify(HEADER)}\n`,
		{ message: expect.stringMatching(/^Cannot import .*: it has no entries$/) },
	],
	["an empty file", "", { message: expect.stringMatching(/: it is empty$/) }],
	["blank lines", "\n \n", { message: expect.stringMatching(/: it is empty$/) }],
	[
		"a file of another kind",
		'{"type":"note","version":3}\n',
		{
			message: expect.stringMatching(/: its first line is not a session header$/),
			hint: "choose a session file whose entries have an id and a parentId",
		},
	],
	["a line that is no object", "[]\n", { message: expect.stringMatching(/: its first line is not a session header$/) }],
	[
		"a linear session",
		`${JSON.stringify({ ...HEADER, version: 1 })}\n`,
		{
			message: expect.stringMatching(/ needs no import: it is linear already$/),
			hint: expect.stringMatching(/^open it with pi --session \//),
		},
	],
	[
		"an unknown version",
		`${JSON.stringify({ ...HEADER, version: "x".repeat(40) })}\n`,
		{ message: expect.stringMatching(/: it has format version "x{19}, not 2 or 3$/) },
	],
])("%s is refused with the reason", async (_, content, error) => {
	const source = join(tempDir(), "old.jsonl");
	writeFileSync(source, content);
	await expect(importSession({ program: "pi", path: source, id: "" }, { dir: tempDir(), cwd: "/" })).rejects.toThrow(
		expect.objectContaining({ code: "log_not_a_session", ...error }),
	);
});

test("a directory and a missing file are refused", async () => {
	const dir = tempDir();
	await expect(importSession({ program: "pi", path: dir, id: "" }, { dir, cwd: "/" })).rejects.toThrow(
		expect.objectContaining({ code: "log_not_a_session", message: `Cannot import ${dir}: it is not a regular file` }),
	);
	await expect(importSession({ program: "pi", path: join(dir, "none"), id: "" }, { dir, cwd: "/" })).rejects.toThrow(
		expect.objectContaining({ code: "log_not_found" }),
	);
});

test("a path that leads back to itself ends, and entries without an id or a type are damaged", async () => {
	const { facts, entries } = await imported([
		user("u1", "u2"),
		user("u2", "u1"),
		{ ...user("x", "u2"), id: 7 },
		{ ...user("y", "u2"), type: undefined },
		"[]",
		"garbage",
	]);
	expect(facts).toMatchObject({ entries: 2, leftOut: {}, damaged: 4, isCut: true });
	expect(entries).toHaveLength(2);
});

test("only labels are kept from other branches, and only those of entries on the path", async () => {
	const note = (id: string, parentId: string) => entry(id, parentId, "note", { targetId: "u1" });
	const { facts } = await imported([user("u1", null), note("n1", "u1"), user("x1", "n1"), user("u2", "u1")]);
	expect(facts).toMatchObject({ entries: 2, leftOut: { "entries of other branches": 2 } });
});
