import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/config/json-file.js";
import { frozenPayload } from "../../../src/hooks/runner.js";
import { markBeforeTail } from "../../../src/services/models/cache-markers.js";

const ttl = { type: "ephemeral", ttl: "1h" };
const text = (value: string, marker?: object) => ({
	type: "text",
	text: value,
	...(marker && { cache_control: marker }),
});
const system = [text("system", ttl)];
const tools = [{ name: "ls" }, { name: "read", cache_control: ttl }];
const said = (...content: unknown[]) => ({ role: "user", content });
const reminder = said(text("reminder", ttl));
const point = { cachePoint: { type: "default", ttl: "1h" } };

/** A request, the number of messages at its end, and the fields that differ; none: it stays as it is. */
const CASES: [string, JsonObject, number, JsonObject?][] = [
	[
		"a text message",
		{ system, tools, messages: [{ role: "user", content: "go" }, reminder] },
		1,
		{ messages: [said(text("go", ttl)), reminder] },
	],
	[
		"the last of several results",
		{ system, tools, messages: [said({ type: "tool_result", id: "a" }, { type: "tool_result", id: "b" }), reminder] },
		1,
		{
			messages: [
				said({ type: "tool_result", id: "a" }, { type: "tool_result", id: "b", cache_control: ttl }),
				reminder,
			],
		},
	],
	[
		"before two messages and those of the system",
		{
			system,
			tools,
			messages: [
				said(text("go")),
				said(text("one")),
				{ role: "system", content: [] },
				reminder,
				{ role: "system", content: [] },
			],
		},
		2,
		{
			messages: [
				said(text("go", ttl)),
				said(text("one")),
				{ role: "system", content: [] },
				reminder,
				{ role: "system", content: [] },
			],
		},
	],
	[
		"a reply, not its thinking",
		{ messages: [{ role: "assistant", content: [text("a"), { type: "thinking", thinking: "b" }] }, reminder] },
		1,
		{ messages: [{ role: "assistant", content: [text("a", ttl), { type: "thinking", thinking: "b" }] }, reminder] },
	],
	[
		"a chat completion, whose calls alone cannot have one",
		{
			messages: [
				{ role: "developer", content: [text("system", ttl)] },
				{ role: "tool", content: "result" },
				{ role: "assistant", content: null, tool_calls: [] },
				reminder,
			],
			tools,
		},
		1,
		{
			messages: [
				{ role: "developer", content: [text("system", ttl)] },
				{ role: "tool", content: [text("result", ttl)] },
				{ role: "assistant", content: null, tool_calls: [] },
				reminder,
			],
		},
	],
	[
		"a request to Bedrock",
		{ system: [{ text: "system" }, point], messages: [said({ text: "go" }), said({ text: "reminder" }, point)] },
		1,
		{ messages: [said({ text: "go" }, point), said({ text: "reminder" }, point)] },
	],
	[
		"one of a Claude login, in place of the first of its system texts",
		{ system: [text("identity", ttl), text("system", ttl)], tools, messages: [said(text("go")), reminder] },
		1,
		{ system: [text("identity"), text("system", ttl)], messages: [said(text("go", ttl)), reminder] },
	],
	["no fifth one", { system, tools, messages: [said(text("a", ttl)), said(text("go")), reminder] }, 1],
	["none without the others", { system: [text("system")], messages: [said(text("go")), said(text("reminder"))] }, 1],
	["none without a tail", { system, tools, messages: [said(text("go", ttl))] }, 0],
	["none without a message before the tail", { system, tools, messages: [reminder] }, 1],
	["none in another format", { input: [{ role: "user", content: "go" }] }, 1],
];

test.each(CASES)("marks %s", (_, payload, tail, changes) => {
	const given = frozenPayload(payload) as JsonObject;
	const marked = markBeforeTail(given, tail);
	if (!changes) expect(marked).toBe(given);
	else expect(marked).toEqual({ ...payload, ...changes });
});
