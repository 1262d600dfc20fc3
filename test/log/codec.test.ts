import fc from "fast-check";
import { expect, test } from "vitest";
import { PiError } from "../../src/errors.js";
import { decodeLine, encodeEntry } from "../../src/log/codec.js";
import type { SessionEntry } from "../../src/log/entry.js";
import { freezeDeep, MAX_ENTRY_DEPTH } from "../../src/log/freeze.js";

const USAGE = {
	input: 1,
	output: 2,
	cacheRead: 0,
	cacheWrite: 0,
	totalTokens: 3,
	cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
const ASSISTANT = {
	role: "assistant",
	content: [
		{ type: "thinking", thinking: "hm" },
		{ type: "text", text: "hello" },
		{ type: "toolCall", id: "c1", name: "read", arguments: { path: "a" } },
	],
	api: "openai-completions",
	provider: "p",
	model: "m",
	usage: USAGE,
	stopReason: "toolUse",
	timestamp: 5,
};
const TOOL_RESULT = {
	role: "toolResult",
	toolCallId: "c1",
	toolName: "read",
	content: [{ type: "text", text: "x" }],
	isError: false,
	timestamp: 6,
};

const message = (value: unknown) =>
	JSON.stringify({ type: "message", timestamp: "2026-01-01T00:00:00.000Z", message: value });

test.each([
	["a user text", { role: "user", content: "hi", timestamp: 1 }],
	[
		"a user message with an image",
		{ role: "user", content: [{ type: "image", data: "aa", mimeType: "image/png" }], timestamp: 1 },
	],
	["an assistant message", ASSISTANT],
	["a tool result", TOOL_RESULT],
	[
		"a shell command of the user",
		{
			role: "bashExecution",
			command: "ls",
			output: "a",
			exitCode: 0,
			cancelled: false,
			truncated: false,
			timestamp: 1,
		},
	],
])("%s is decoded unchanged", (_, value) => {
	expect(decodeLine(message(value))).toEqual({
		type: "message",
		timestamp: "2026-01-01T00:00:00.000Z",
		message: value,
	});
});

test.each([
	["no object", "hello"],
	["an unknown role", { role: "alien", content: "x" }],
	["a user message without content", { role: "user", timestamp: 1 }],
	[
		"a user message with a tool call",
		{ role: "user", content: [{ type: "toolCall", id: "a", name: "b", arguments: {} }] },
	],
	["an assistant message whose content is text", { ...ASSISTANT, content: "hello" }],
	["an assistant message with an unknown stop reason", { ...ASSISTANT, stopReason: "bored" }],
	[
		"a tool call whose arguments are text",
		{ ...ASSISTANT, content: [{ type: "toolCall", id: "a", name: "b", arguments: "{}" }] },
	],
	["a tool call without id", { ...ASSISTANT, content: [{ type: "toolCall", name: "b", arguments: {} }] }],
	["a tool result without toolCallId", { ...TOOL_RESULT, toolCallId: 7 }],
	["a tool result with null content", { ...TOOL_RESULT, content: null }],
	["a block that is null", { role: "user", content: [null] }],
])("a message that is %s is opaque", (_, value) => {
	expect(decodeLine(message(value))).toEqual({ type: "opaque", reason: expect.any(String) });
});

test("missing or invalid bookkeeping fields get defaults instead of making the message opaque", () => {
	const { usage: _usage, timestamp: _timestamp, api: _api, ...bare } = ASSISTANT;
	expect(decodeLine(message({ ...bare, usage: { input: 2, output: null, cost: 3 } }))).toEqual({
		type: "message",
		timestamp: "2026-01-01T00:00:00.000Z",
		message: {
			...bare,
			api: "",
			usage: {
				input: 2,
				output: 0,
				cacheRead: 0,
				cacheWrite: 0,
				totalTokens: 2,
				cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
			},
			timestamp: Date.parse("2026-01-01T00:00:00.000Z"),
		},
	});
	expect(decodeLine('{"type":"message","message":{"role":"user","content":"x","timestamp":1000}}')).toMatchObject({
		timestamp: "1970-01-01T00:00:01.000Z",
	});
});

test.each([
	["", "the line is not JSON"],
	["{", "the line is not JSON"],
	["null", "the line is not a JSON object"],
	["[]", "the line is not a JSON object"],
	["7", "the line is not a JSON object"],
	["{}", "the line has no usable type or timestamp"],
	['{"type":7}', "the line has no usable type or timestamp"],
	['{"type":"x","timestamp":{}}', "the line has no usable type or timestamp"],
	['{"type":"opaque","reason":"kept"}', "kept"],
	['{"type":"opaque"}', "opaque line without a reason"],
	['{"type":"compaction","summary":7}', "the compaction entry has missing or invalid fields"],
	['{"type":"model_change"}', "the model_change entry has missing or invalid fields"],
	[
		'{"type":"thinking_level_change","thinkingLevel":"deep"}',
		"the thinking_level_change entry has missing or invalid fields",
	],
	[
		'{"type":"system_item","source":"x","item":{"kind":"other","text":""}}',
		"the system_item entry has missing or invalid fields",
	],
	[
		'{"type":"system_item","source":"x","item":{"kind":"context_file","text":"","changed":"yes"}}',
		"the system_item entry has missing or invalid fields",
	],
	['{"type":"session_info"}', "the session_info entry has missing or invalid fields"],
	['{"type":"session"}', "its header has no id or no cwd"],
	['{"type":"session","id":"a","cwd":"/","version":3}', "it has session format version 3, not 1"],
])("the line %j is opaque: %s", (line, reason) => {
	expect(decodeLine(line)).toEqual({ type: "opaque", reason });
});

test("a line with deep nesting is opaque", () => {
	const line = `{"type":"x","deep":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
	expect(decodeLine(line)).toEqual({ type: "opaque", reason: `nested deeper than ${MAX_ENTRY_DEPTH} levels` });
});

test.each([
	{ type: "compaction", timestamp: "t", summary: "s", firstKeptEntryIndex: -4.5, tokensBefore: 7 },
	{ type: "model_change", timestamp: "t", provider: "p", modelId: "m" },
	{ type: "thinking_level_change", timestamp: "t", thinkingLevel: "high" },
	{ type: "system_item", timestamp: "t", source: "tasks", item: { kind: "task_reminder", text: "x" } },
	{ type: "system_item", timestamp: "t", source: "/a/AGENTS.md", item: { kind: "context_file", text: "x" } },
	{
		...{ type: "system_item", timestamp: "t", source: "/a/AGENTS.md" },
		item: { kind: "context_file", text: "x", changed: true },
	},
	{ type: "session_info", timestamp: "t", name: "n" },
	{ type: "session", version: 1, id: "i", timestamp: "t", cwd: "/", branchedFrom: "/a" },
	{ type: "stack_pop", timestamp: 7, back: 3, __proto__: null },
])("a $type entry is decoded as it was encoded", (entry) => {
	expect(decodeLine(encodeEntry({ ...entry }))).toEqual({ ...entry });
});

test("a header of the older linear format without a version is accepted", () => {
	expect(decodeLine('{"type":"session","id":"a","timestamp":"t","cwd":"/x","provider":"p","modelId":"m"}')).toEqual({
		type: "session",
		version: 1,
		id: "a",
		timestamp: "t",
		cwd: "/x",
		provider: "p",
		modelId: "m",
	});
});

test("bytes, CRLF line ends and invalid UTF-8 are decoded", () => {
	expect(decodeLine(Buffer.from('{"type":"a"}\r\n'))).toEqual({ type: "a" });
	expect(decodeLine(Buffer.from([...Buffer.from('{"type":"a","b":"'), 0xff, ...Buffer.from('"}')]))).toEqual({
		type: "a",
		b: "\ufffd",
	});
});

test("encoding and decoding replace lone surrogates by U+FFFD, also in keys, and keep complete pairs", () => {
	expect(encodeEntry({ type: "a", "k\ud800": ["\udfff!", "😀"] })).toBe('{"type":"a","k\ufffd":["\ufffd!","😀"]}\n');
	expect(decodeLine('{"type":"a","k\\ud800":"x\\udc00","pair":"\\ud83d\\ude00"}')).toEqual({
		type: "a",
		"k\ufffd": "x\ufffd",
		pair: "😀",
	});
});

test("NUL, escape and U+2028 are preserved on one line", () => {
	const entry = { type: "a", text: "\0\u001b[31m\u2028\n\r" };
	const line = encodeEntry(entry);
	expect(line.indexOf("\n")).toBe(line.length - 1);
	expect(decodeLine(line)).toEqual(entry);
});

test("a key named __proto__ stays data", () => {
	const entry = decodeLine('{"type":"a","__proto__":{"evil":"\\ud800"}}');
	expect(Object.getPrototypeOf(entry)).toBe(Object.prototype);
	expect(Object.keys(entry)).toEqual(["type", "__proto__"]);
});

const cyclic: SessionEntry & { self?: unknown } = { type: "a" };
cyclic.self = cyclic;
const deep = { type: "a", value: JSON.parse(`${"[".repeat(5000)}${"]".repeat(5000)}`) };

test.each<[string, unknown, RegExp]>([
	["nothing", undefined, /not an object/],
	["null", null, /not an object/],
	["an array", [], /not an object/],
	["no type", {}, /non-empty/],
	["a type that is a number", { type: 7 }, /non-empty/],
	["an empty type", { type: "" }, /non-empty/],
	["a cycle", cyclic, /circular/i],
	["a BigInt", { type: "a", n: 1n }, /BigInt/],
	["a function", { type: "a", in: [() => 1] }, /a function at "0"/],
	["a symbol", { type: "a", s: Symbol("x") }, /a symbol at "s"/],
	["a number JSON cannot represent", { type: "a", n: Number.NaN }, /NaN at "n"/],
	["a Map", { type: "a", m: new Map() }, /a Map or Set at "m"/],
	[
		"a getter that throws",
		Object.defineProperty({ type: "a" }, "x", {
			enumerable: true,
			get() {
				throw new Error("boom");
			},
		}),
		/boom/,
	],
	[
		"a toJSON that throws",
		{
			type: "a",
			x: {
				toJSON() {
					throw new Error("bang");
				},
			},
		},
		/bang/,
	],
	["a toJSON in the entry itself", { type: "a", toJSON: () => "text" }, /does not return an object/],
	["deep nesting", deep, /nested/],
])("an entry with %s is refused with the reason", (_, value, reason) => {
	const failure = (() => {
		try {
			return encodeEntry(value as SessionEntry);
		} catch (error) {
			return error;
		}
	})();
	expect(failure).toBeInstanceOf(PiError);
	expect(failure).toMatchObject({ code: "entry_refused", message: expect.stringMatching(reason) });
});

const NO_ENTRY = "Cannot save an entry: it is not an object with a non-empty string as type";
const NOT_AN_OBJECT = "its toJSON does not return an object";

test.each<[string, unknown, string]>([
	["null", null, NO_ENTRY],
	["a text", "a", NO_ENTRY],
	["nothing", undefined, NO_ENTRY],
	["a type that is a number", { type: 7 }, NO_ENTRY],
	["an empty type", { type: "" }, NO_ENTRY],
	["no JSON", { type: "a", toJSON: () => undefined }, `Cannot save an entry of type "a": ${NOT_AN_OBJECT}`],
	["a number as JSON", { type: "a", toJSON: () => 1 }, `Cannot save an entry of type "a": ${NOT_AN_OBJECT}`],
	[
		"NaN as JSON",
		{ type: "a", toJSON: () => Number.NaN },
		'Cannot save an entry of type "a": JSON cannot represent the number NaN',
	],
	[
		"a long type",
		{ type: "x".repeat(99), n: Number.NaN },
		`Cannot save an entry of type "${"x".repeat(79)}: JSON cannot represent the number NaN at "n"`,
	],
])("an entry that is encoded with %s is refused with its name", (_, value, message) => {
	expect(() => encodeEntry(value as SessionEntry)).toThrow(expect.objectContaining({ code: "entry_refused", message }));
});

test("a refusal has the failure of an accessor or of toJSON as its cause", () => {
	const cause = new Error("boom");
	const fail = () => {
		throw cause;
	};
	const refusal = expect.objectContaining({ message: expect.stringMatching(/^Cannot save an entry.*: boom$/), cause });
	expect(() => encodeEntry(Object.defineProperty({ type: "a" }, "x", { enumerable: true, get: fail }))).toThrow(
		refusal,
	);
	expect(() => encodeEntry({ type: "a", x: { toJSON: fail } })).toThrow(refusal);
	const tooDeep = {
		type: "a",
		x: {
			toJSON: () => {
				throw new RangeError("stack");
			},
		},
	};
	expect(() => encodeEntry(tooDeep)).toThrow('Cannot save an entry of type "a": it is nested too deeply or too large');
});

test("replacing lone surrogates leaves all other values as they are", () => {
	const values = { n: 1.5, yes: true, no: null, list: [1, "x", null, [false]], deep: { n: -1 } };
	expect(encodeEntry({ type: "a", lone: "\ud800", ...values })).toBe(
		`${JSON.stringify({ type: "a", lone: "\ufffd", ...values })}\n`,
	);
	expect(decodeLine(`{"type":"a","lone":"\\uDFFF",${JSON.stringify(values).slice(1)}`)).toEqual({
		...{ type: "a", lone: "\ufffd", ...values },
	});
});

test("encoding reads each accessor once, and decoding returns a deeply frozen entry", () => {
	let calls = 0;
	const source = {
		type: "note",
		when: new Date(0),
		get count() {
			return ++calls;
		},
		list: [{ a: undefined, b: 1 }],
	};
	const entry = decodeLine(encodeEntry(source));
	expect(entry).toEqual({ type: "note", when: "1970-01-01T00:00:00.000Z", count: 1, list: [{ b: 1 }] });
	expect(() => Object.assign(entry, { list: 1 })).toThrow(TypeError);
	expect(Object.isFrozen(source)).toBe(false);
});

test("core entries drop values that JSON cannot represent instead of being refused", () => {
	const entry = {
		type: "message",
		timestamp: "t",
		message: { ...TOOL_RESULT, details: { run: () => 1, value: Number.NaN } },
	};
	expect(decodeLine(encodeEntry(entry))).toEqual({
		type: "message",
		timestamp: "t",
		message: { ...TOOL_RESULT, details: { value: null } },
	});
});

test("any bytes decode to a deeply frozen entry with a type", () => {
	fc.assert(
		fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.string(), fc.json()), (line) => {
			const entry = decodeLine(line);
			expect(typeof entry.type).toBe("string");
			expect(Object.isFrozen(entry)).toBe(true);
		}),
	);
});

test("a damaged message decodes to a well-formed message or an opaque entry", () => {
	const line = Buffer.from(message(ASSISTANT));
	fc.assert(
		fc.property(fc.array(fc.tuple(fc.nat(line.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }), (edits) => {
			const bytes = Buffer.from(line);
			for (const [at, value] of edits) bytes[at] = value;
			const entry = decodeLine(bytes);
			if (entry.type === "message") expect(decodeLine(encodeEntry(entry))).toEqual(entry);
		}),
		{ numRuns: 2000 },
	);
});

test("freezeDeep throws on cycles and deep nesting instead of overflowing the stack", () => {
	expect(() => freezeDeep(cyclic)).toThrow(RangeError);
	expect(freezeDeep({ a: [1, { b: null }] })).toEqual({ a: [1, { b: null }] });
});
