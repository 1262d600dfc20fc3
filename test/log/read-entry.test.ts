import { describe, expect, test } from "vitest";
import { holdsTornHeader, isOtherVersion, readEntry, readSessionHeader } from "../../src/log/read-entry.js";
import { fileOf } from "./support.js";

const AT = "2026-01-02T03:04:05.000Z";
const EPOCH = "1970-01-01T00:00:00.000Z";
const IMAGE = { digest: "d", entryIndex: 4 };
const REFUSED = { provider: "p", modelId: "m", reason: "too large" };
const AMOUNTS = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 };
const usage = { ...AMOUNTS, totalTokens: 10, cost: { ...AMOUNTS, total: 10 } };
const user = { role: "user", content: "hi", timestamp: 1000 };
const record = { digest: "d", messages: 1, tokens: 2 };
const header = { type: "session", version: 1, id: "s", timestamp: AT, cwd: "/" };

/** Entries as they are read; the fields that a test adds are in both. */
const VALID: Record<string, { type: string; [field: string]: unknown }> = {
	header,
	message: { type: "message", timestamp: AT, message: user },
	compaction: { type: "compaction", timestamp: AT, summary: "s", firstKeptEntryIndex: 3, tokensBefore: 7 },
	undo: { type: "context_undo", timestamp: AT, entryIndex: 3 },
	freeze: { type: "context_freeze", timestamp: AT, entryIndex: 0 },
	omission: { type: "image_omission", timestamp: AT, images: [IMAGE, { digest: "e", entryIndex: null }], ...REFUSED },
	model: { type: "model_change", timestamp: AT, provider: "p", modelId: "m" },
	level: { type: "thinking_level_change", timestamp: AT, thinkingLevel: "high" },
	usage: { type: "request_usage", timestamp: AT, purpose: "compaction", provider: "p", modelId: "m", usage },
	reminder: { type: "system_item", timestamp: AT, source: "tasks", item: { kind: "task_reminder", text: "x" } },
	notification: { type: "system_item", timestamp: AT, source: "h", item: { kind: "notification", text: "x" } },
	file: { type: "system_item", timestamp: AT, source: "/a", item: { kind: "context_file", text: "x", changed: true } },
	name: { type: "session_info", timestamp: AT, name: "n" },
};
const names = Object.keys(VALID);
const valid = (name: string) => {
	const entry = VALID[name];
	if (!entry) throw new Error(`no entry ${name}`);
	return structuredClone(entry);
};

describe("an entry that pi writes", () => {
	test.each(names)("is read as it was written, with fields of later versions: %s", (name) => {
		const entry = { ...valid(name), later: { field: 1 } };
		expect(readEntry(entry)).toEqual(entry);
	});

	test.each(names.filter((name) => name !== "message"))("has the time 1970 if its own is not a text: %s", (name) => {
		for (const timestamp of [7, undefined]) {
			expect(readEntry({ ...valid(name), timestamp })).toEqual({ ...valid(name), timestamp: EPOCH });
		}
	});

	test.each<[string, string, unknown[]]>([
		["compaction", "summary", [7, undefined]],
		["compaction", "firstKeptEntryIndex", ["3", undefined]],
		["undo", "entryIndex", ["3", -1, 0.5, null, undefined]],
		["freeze", "entryIndex", ["3", -1, 0.5, 2 ** 53, undefined]],
		[
			"omission",
			"images",
			[7, undefined, [null], [IMAGE, 7], [{ ...IMAGE, digest: 7 }], [{ ...IMAGE, entryIndex: -1 }]],
		],
		["omission", "images", [[{ digest: "d" }]]],
		["omission", "provider", [7]],
		["omission", "modelId", [7]],
		["omission", "reason", [7]],
		["model", "provider", [7]],
		["model", "modelId", [7]],
		["level", "thinkingLevel", ["deep", 7, undefined]],
		["usage", "purpose", [7]],
		["usage", "provider", [7]],
		["usage", "modelId", [7]],
		["reminder", "source", [7]],
		[
			"reminder",
			"item",
			[7, null, { kind: "task_reminder" }, { kind: "task_reminder", text: 7 }, { kind: "odd", text: "" }],
		],
		[
			"file",
			"item",
			[
				{ kind: "context_file", text: "x", changed: false },
				{ kind: "context_file", changed: true },
			],
		],
		["name", "name", [7]],
	])("%s with an invalid %s is opaque", (name, field, values) => {
		for (const value of values) {
			const entry = { ...valid(name), [field]: value };
			expect(readEntry(entry)).toEqual({
				type: "opaque",
				reason: `the ${entry.type} entry has missing or invalid fields`,
			});
		}
	});

	test.each<[string, string, unknown, unknown]>([
		["compaction", "keptEntries", [1, "2", -3, 4], [1, 4]],
		["compaction", "keptEntries", "1", undefined],
		[
			"compaction",
			"shortened",
			[{ entryIndex: 1, characters: 0 }, { entryIndex: 1 }, { characters: 1 }, null],
			[{ entryIndex: 1, characters: 0 }],
		],
		["compaction", "shortened", 7, undefined],
		["compaction", "details", { model: null }, { model: null }],
		["compaction", "details", 7, undefined],
		["compaction", "tokensBefore", "7", 0],
		["usage", "subscription", true, true],
		["usage", "subscription", "yes", undefined],
		["header", "branchedFrom", "/a", "/a"],
		["header", "branchedFrom", 7, undefined],
		["message", "context", record, record],
		["message", "context", 7, undefined],
		["message", "context", { ...record, native: 5 }, { ...record, native: 5 }],
		["message", "context", { ...record, native: "5" }, record],
	])("%s keeps what is valid of %s: %j", (name, field, written, read) => {
		const expected = { ...valid(name), [field]: read };
		if (read === undefined) delete expected[field];
		expect(readEntry({ ...valid(name), [field]: written })).toStrictEqual(expected);
	});
});

describe("the time of a message entry", () => {
	const timeless = { role: "user", content: "hi" };
	test.each<[string, object, object]>([
		[
			"of the message, if the entry has none",
			{ message: user },
			{ timestamp: "1970-01-01T00:00:01.000Z", message: user },
		],
		[
			"of the entry, if the message has none",
			{ timestamp: AT, message: timeless },
			{ timestamp: AT, message: { ...timeless, timestamp: Date.parse(AT) } },
		],
		["1970, if neither has one", { message: timeless }, { timestamp: EPOCH, message: { ...timeless, timestamp: 0 } }],
		[
			"1970, if the text of the entry is no time",
			{ timestamp: "t", message: timeless },
			{ timestamp: "t", message: { ...timeless, timestamp: 0 } },
		],
		[
			"1970, if that of the message is no time",
			{ message: { ...user, timestamp: 1e300 } },
			{ timestamp: EPOCH, message: { ...user, timestamp: 1e300 } },
		],
	])("is that %s", (_, written, read) => {
		expect(readEntry({ type: "message", ...written })).toEqual({ type: "message", ...read });
	});

	test("an invalid message makes its entry opaque", () => {
		expect(readEntry({ type: "message", message: 7 })).toEqual({ type: "opaque", reason: "message is not an object" });
	});
});

describe("the record of a request", () => {
	const contextOf = (context: unknown) => Reflect.get(readEntry({ ...valid("message"), context }), "context");
	const shape = [
		[0, 2],
		{ compaction: 3 },
		{ compaction: 3, entry: 0 },
		{ message: user, entryIndex: null },
		{ message: user, entryIndex: 5 },
		{ reply: 0, part: 1 },
	];

	test("is read with all its fields", () => {
		const preamble = { parts: [{ id: "base", text: "t" }], core: [0] };
		const full = { ...record, estimate: 3, subscription: true, shape, system: "s", tools: "t", preamble };
		expect(contextOf(full)).toStrictEqual(full);
	});

	test.each(["digest", "messages", "tokens"])("is dropped without a valid %s", (field) => {
		expect(contextOf({ ...record, [field]: null })).toBeUndefined();
	});

	test.each([
		{ subscription: 1 },
		{ shape: 7 },
		{ shape: { length: 0 } },
		{ system: 7 },
		{ tools: 7 },
		{ preamble: 7 },
	])("is kept without an invalid field: %j", (wrong) => {
		expect(contextOf({ ...record, ...wrong })).toStrictEqual(record);
	});

	test.each([
		[null],
		["x"],
		[[]],
		[[0]],
		[[0, -1]],
		[["0", 1]],
		[{}],
		[{ compaction: -1 }],
		[{ reply: 1 }],
		[{ part: 1 }],
		[{ reply: -1, part: 1 }],
		[{ message: { role: "odd" } }],
		[{ message: user, entryIndex: -1 }],
		[{ message: user, entryIndex: "1" }],
	])("has no messages if one segment is unknown: %j", (segment) => {
		expect(contextOf({ ...record, shape: [...shape, segment] })).toStrictEqual(record);
	});

	test("a segment has only the fields that pi knows, and an index of null by default", () => {
		const written = [
			{ compaction: 1, entry: "x", more: 1 },
			{ reply: 0, part: 1, more: 1 },
			{ message: { role: "user", content: "" } },
		];
		const read = [
			{ compaction: 1 },
			{ reply: 0, part: 1 },
			{ message: { role: "user", content: "", timestamp: 0 }, entryIndex: null },
		];
		expect(contextOf({ ...record, shape: written })).toStrictEqual({ ...record, shape: read });
	});
});

describe("the first line of a file", () => {
	const line = JSON.stringify(header);
	test.each<[string, string, unknown]>([
		["a header", `${line}\n{"type":"x"}\n`, header],
		["a header without line end", line, header],
		["no header", '{"type":"x"}\n', "its first line is not a session header"],
		["an array", "[]\n", "its first line is not a session header"],
		["no JSON", "text\n", "its first line is not JSON"],
		["nothing", "", "its first line is not JSON"],
		["an empty id", JSON.stringify({ ...header, id: "" }), "its header has no id or no cwd"],
		["an id that is no text", JSON.stringify({ ...header, id: 7 }), "its header has no id or no cwd"],
		["no cwd", JSON.stringify({ ...header, cwd: undefined }), "its header has no id or no cwd"],
		[
			"another version",
			JSON.stringify({ ...header, version: "x".repeat(40) }),
			`it has session format version "${"x".repeat(19)}, not 1`,
		],
	])("with %s is read", (_, text, expected) => {
		expect(readSessionHeader(fileOf(text))).toEqual(expected);
	});

	test.each([4095, 4096, 4097, 1024 * 1024 - 1])("is read up to 1 MiB: %i bytes", (bytes) => {
		const padded = JSON.stringify({ ...header, note: "" });
		const text = JSON.stringify({ ...header, note: "x".repeat(bytes - padded.length) });
		expect(text).toHaveLength(bytes);
		expect(readSessionHeader(fileOf(`${text}\n`))).toMatchObject(header);
	});

	test("is not read beyond 1 MiB, and short ones with one small read", () => {
		const sizes: number[] = [];
		const watched = (text: string) => {
			const file = fileOf(text);
			return {
				readSome(buffer: Buffer, at: number) {
					sizes.push(buffer.length);
					return file.readSome(buffer, at);
				},
			};
		};
		expect(readSessionHeader(watched(`${line}\n${"x".repeat(9000)}`))).toEqual(header);
		expect(sizes.splice(0)).toEqual([4096]);
		expect(readSessionHeader(watched(line))).toEqual(header);
		expect(sizes.splice(0)).toEqual([4096]);
		expect(readSessionHeader(watched(`${line}${" ".repeat(2 ** 21)}\n`))).toEqual(header);
		expect(sizes.splice(0)).toEqual([4096, 2 ** 20]);
	});

	test("can be the beginning of a header only", () => {
		const torn = [line.slice(0, 30), line, "", `${line.slice(0, 30)}\n${line}\n`];
		expect(torn.map((text) => holdsTornHeader(fileOf(text)))).toEqual([true, false, false, false]);
	});

	test("that is blank is not a header, even if one follows", () => {
		expect(readSessionHeader(fileOf(`\n${line}\n`))).toBe("its first line is not JSON");
		expect(readSessionHeader(fileOf(`\n${" ".repeat(9000)}`))).toBe("its first line is not JSON");
	});

	test("of another version of the format is distinguished from other faults", () => {
		const read = [
			{ ...header, version: 3 },
			{ ...header, cwd: 7 },
		].map((value) => readSessionHeader(fileOf(JSON.stringify(value))));
		expect(read.map((reason) => typeof reason === "string" && isOtherVersion(reason))).toEqual([true, false]);
	});
});
