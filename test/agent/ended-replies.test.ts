import { createServer } from "node:http";
import type { Api, Model } from "@mariozechner/pi-ai";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { describeEndedReply } from "../../src/agent/failure.js";
import { kindOfFailure } from "../../src/agent/failure-kinds.js";
import { sendWithRetries } from "../../src/agent/send.js";
import { networkOf, setUpNetwork } from "../../src/network/network.js";
import { loadModelClient } from "../../src/services/models/model-client.js";
import { listen } from "../helpers/proxy.js";

const { fetch } = globalThis;
const ENV = {};
beforeAll(() => setUpNetwork(ENV));
afterAll(() => {
	globalThis.fetch = fetch;
});
/** Clients keep the functions of the console that they found at their first request. */
const printed = (["log", "info", "warn", "error"] as const).map((name) =>
	vi.spyOn(console, name).mockImplementation(() => {}),
);

/** Sends a request with the client of an API to a server that answers with these events. */
async function replyWith(api: Api, events: readonly (string | object)[], status = 200) {
	let requests = 0;
	const server = createServer((request, response) => {
		requests++;
		const lines = events.map((event) => {
			if (typeof event === "string") return `${event}\n\n`;
			return `${"type" in event ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`;
		});
		const send = () => response.writeHead(status, { "content-type": "text/event-stream" });
		request.resume().on("end", () => send().end(lines.join("")));
	});
	const model: Model<Api> = {
		...{ id: "one", name: "one", api, provider: "lab", reasoning: false, input: ["text"] },
		...{ contextWindow: 1000, maxTokens: 100, cost: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 } },
		baseUrl: `http://127.0.0.1:${await listen(server)}`,
	};
	const client = await loadModelClient(await networkOf(ENV));
	await client.prepare(model);
	const request = {
		model,
		context: { messages: [{ role: "user" as const, content: "hi", timestamp: 0 }] },
		options: { apiKey: "key", maxRetries: 0 },
	};
	const sent = await sendWithRetries(client.stream, async () => request, {
		signal: new AbortController().signal,
		retry: () => ({ enabled: true, maxRetries: 1, baseDelayMs: 1 }),
		idleTimeoutMs: () => 5000,
		refusalOf: () => null,
		redact: (text) => text,
		onEvent: () => {},
		onRetry: () => {},
	});
	const text = sent?.reply.errorMessage ?? "";
	const calls = sent?.reply.content.flatMap((block) => (block.type === "toolCall" ? [block] : []));
	const replyText = sent?.reply.content.map((block) => (block.type === "text" ? block.text : block.type)).join("");
	return { text, kind: kindOfFailure(text).name, requests, replyText, calls, stopReason: sent?.reply.stopReason };
}

const chunk = (delta: object, finish_reason: string | null = null) => ({
	...{ id: "1", object: "chat.completion.chunk", created: 0, model: "one" },
	choices: [{ index: 0, delta, finish_reason }],
});
const messageStart = {
	type: "message_start",
	message: {
		...{ id: "1", type: "message", role: "assistant", model: "one", content: [], stop_reason: null },
		usage: { input_tokens: 1, output_tokens: 0 },
	},
};
const refused = (stop_reason: string) => [
	messageStart,
	{ type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 0 } },
	{ type: "message_stop" },
];
const candidate = (finishReason: string) => ({ candidates: [{ content: { parts: [] }, finishReason }] });
const incomplete = (reason: string) => ({
	type: "response.incomplete",
	response: { id: "1", status: "incomplete", output: [], incomplete_details: { reason } },
});

const FILTERED = "the provider's content filter ended the reply";
const COMPLETIONS = "openai-completions";
const RESPONSES = "openai-responses";
const ANTHROPIC = "anthropic-messages";
const GOOGLE = "google-generative-ai";

test.each<[api: Api, reason: string, text: string, events: readonly (string | object)[]]>([
	[COMPLETIONS, "content_filter", FILTERED, [chunk({ content: "Well" }), chunk({}, "content_filter"), "data: [DONE]"]],
	[RESPONSES, "content_filter", FILTERED, [incomplete("content_filter")]],
	[ANTHROPIC, "refusal", "the model refused to answer", refused("refusal")],
	[ANTHROPIC, "sensitive", FILTERED, refused("sensitive")],
	[GOOGLE, "SAFETY", FILTERED, [candidate("SAFETY")]],
	[GOOGLE, "RECITATION", FILTERED, [candidate("RECITATION")]],
	[GOOGLE, "PROHIBITED_CONTENT", FILTERED, [{ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } }]],
])("%s: %s is described as a refusal and not retried", async (api, reason, text, events) => {
	expect(await replyWith(api, events)).toMatchObject({
		text: `${text} (${reason})`,
		kind: "refusal",
		requests: 1,
		stopReason: "error",
	});
});

test("Google's malformed tool call is described and retried", async () => {
	expect(await replyWith(GOOGLE, [candidate("MALFORMED_FUNCTION_CALL")])).toMatchObject({
		text: "the model wrote a malformed tool call (MALFORMED_FUNCTION_CALL)",
		requests: 2,
	});
});

test("another reason for which a reply ended is named", async () => {
	expect(await replyWith(COMPLETIONS, [chunk({ content: "Well" }), chunk({}, "surprise")])).toMatchObject({
		text: "the provider ended the reply (surprise)",
		requests: 1,
	});
});

test.each<[code: unknown, kind: string, requests: number]>([
	[502, "overloaded", 2],
	["529", "overloaded", 2],
	[429, "rate limit", 2],
	[400, "refused request", 1],
	["invalid_prompt", "unknown", 1],
])("an error event in a stream is retried like a response with its status: code %j", async (code, kind, requests) => {
	const events = [chunk({ content: "Well" }), { error: { message: "the model's server fell over", code } }];
	const failed = await replyWith(COMPLETIONS, events);
	expect(failed).toMatchObject({ kind, requests });
	expect(failed.text).toContain("the model's server fell over");
});

test("the text of a refusal in chat completions is the reply", async () => {
	const events = [chunk({ refusal: "I " }), chunk({ refusal: "will not." }), chunk({}, "stop"), "data: [DONE]"];
	expect(await replyWith(COMPLETIONS, events)).toMatchObject({ replyText: "I will not.", stopReason: "stop" });
});

test.each<[Api, readonly (string | object)[]]>([
	[COMPLETIONS, [chunk({ content: "Well" }), 'data: {"id": nope']],
	[RESPONSES, ['event: response.created\ndata: {"type": nope']],
	[ANTHROPIC, [messageStart, 'event: content_block_start\ndata: {"type": nope']],
	[GOOGLE, ['data: {"candidates": nope}']],
])("%s: invalid JSON is one readable error, and the client prints nothing", async (api, events) => {
	for (const spy of printed) spy.mockClear();
	const { text, kind, requests } = await replyWith(api, events);
	expect(text).toMatch(/^lab at 127\.0\.0\.1:\d+ sent invalid JSON in its reply$/);
	expect([kind, requests]).toEqual(["invalid reply", 2]);
	expect(printed.flatMap((spy) => spy.mock.calls)).toEqual([]);
});

test.each([
	"<html>an error page of a proxy</html>",
	'{"type": nope, "rest": "of an event that is long"}',
	'{"text": "a long text comes first", "type": nope, "rest": "of an event"}',
	"undefined",
	"[object Object]",
	"nope",
	"",
	'{"type": "cut o',
	'{"type":',
	'{"list": [1 2]}',
	'{"one": 1 "two": 2}',
	'{"one": 1,}',
	"{one: 1}",
	'{"one" 1}',
	'{"one": 1} and more',
	'{"text": "\\x"}',
	'{"text": "a line\nbreak"}',
	"-",
	"1.",
])("the error of JSON.parse for %j is described as invalid JSON", (json) => {
	const parse = () => {
		try {
			return JSON.parse(json);
		} catch (error) {
			return error instanceof Error ? error.message : null;
		}
	};
	expect(describeEndedReply(parse(), undefined)).toBe("the provider sent invalid JSON in its reply");
});

test.each<Api>(["anthropic-messages", "openai-completions", "openai-responses", "google-generative-ai"])(
	"%s: a stream without a reply is a lost reply, which is retried",
	async (api) => {
		for (const events of [[], ['event: ping\ndata: {"type":"ping"}']]) {
			const { text, stopReason, requests } = await replyWith(api, api === "anthropic-messages" ? events : []);
			expect({ text, stopReason, requests }).toEqual({
				text: "the reply ended unexpectedly",
				stopReason: "error",
				requests: 2,
			});
		}
	},
);

test("anthropic-messages: a response without a body is a lost reply", async () => {
	expect(await replyWith("anthropic-messages", [], 204)).toMatchObject({
		text: "the reply ended unexpectedly",
		requests: 2,
	});
});

test("openai-completions: tool calls with the same id are all kept", async () => {
	const call = (index: number, path: string) => ({
		tool_calls: [{ index, id: "same", type: "function", function: { name: "read", arguments: `{"path":"${path}"` } }],
	});
	const end = (index: number) => ({ tool_calls: [{ index, function: { arguments: "}" } }] });
	const { calls } = await replyWith("openai-completions", [
		...[call(0, "a"), call(1, "b"), end(0), end(1)].map((delta) => chunk(delta)),
		chunk({}, "tool_calls"),
		"data: [DONE]",
	]);
	expect(calls).toMatchObject([
		{ id: "same", arguments: { path: "a" } },
		{ id: "same", arguments: { path: "b" } },
	]);
});
