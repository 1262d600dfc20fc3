import { expect, test } from "vitest";
import { omitNulls } from "../../src/agent/tool-calls.js";
import { isMessageEntry, messageText } from "../../src/log/entry.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";

test.each([
	[{ type: "integer" }, {}],
	[{ type: ["string", "null"] }, { a: null }],
	[{ type: "null" }, { a: null }],
	[{ anyOf: [{ type: "string" }, { const: 1 }] }, {}],
	[{ anyOf: [{ type: "string" }, { type: "null" }] }, { a: null }],
	[{ enum: ["x", null] }, { a: null }],
	[{ enum: ["x"] }, {}],
	[{ $ref: "#/x" }, { a: null }],
	[{}, { a: null }],
])("null for a property with the schema %j leaves %j", (a, expected) => {
	expect(omitNulls({ a: null }, { type: "object", properties: { a } })).toEqual(expected);
});

test("nulls of nested objects and of lists are omitted, those of unknown properties are kept", () => {
	const item = { type: "object", properties: { a: { type: "string" } } };
	const schema = { type: "object", properties: { list: { type: "array", items: item }, item } };
	const args = { list: [{ a: null }, { a: "x" }, null], item: { a: null, b: null }, other: null };
	expect(omitNulls(args, schema)).toEqual({ list: [{}, { a: "x" }, null], item: { b: null }, other: null });
});

test("a tool runs with null for an optional argument, and a null for a required one is reported as missing", async () => {
	const { session, provider } = await startSession({ files: { "a.txt": "alpha" } });
	provider.reply(
		[
			toolCall("read", { path: "a.txt", offset: null, limit: null }),
			toolCall("bash", { command: "echo beta", timeout: null, background: null }),
			toolCall("read", { path: null }),
		],
		"done",
	);
	await session.prompt("go");
	const results = session.entries.flatMap((entry) =>
		isMessageEntry(entry) && entry.message.role === "toolResult" ? [messageText(entry.message)] : [],
	);
	expect(results[0]).toContain("alpha");
	expect(results[1]).toContain("beta");
	expect(results[2]).toContain("path is missing");
});
