import { type Context, type Message, streamSimple, Type } from "@mariozechner/pi-ai";
import { describe, expect, test } from "vitest";
import {
	httpError,
	type LoopbackApi,
	type LoopbackProvider,
	type ReplyStep,
	startProvider,
	text,
	thinking,
	toolCall,
} from "./loopback-provider.js";

const APIS: LoopbackApi[] = ["openai-completions", "anthropic-messages"];

const TOOLS = [
	{ name: "read", description: "Read a file", parameters: Type.Object({ path: Type.String() }) },
	{ name: "ls", description: "List a directory", parameters: Type.Object({ path: Type.String() }) },
];

function user(content: string): Message {
	return { role: "user", content, timestamp: 0 };
}

function ask(provider: LoopbackProvider, api: LoopbackApi, messages: Message[], signal?: AbortSignal) {
	const context: Context = { systemPrompt: "Be brief.", messages, tools: TOOLS };
	return streamSimple(provider.model({ api, reasoning: true }), context, {
		apiKey: "none",
		maxRetries: 0,
		reasoning: "low",
		signal,
	});
}

describe.each(APIS)("%s", (api) => {
	test("text arrives complete, in deltas, with its usage", async () => {
		const provider = await startProvider();
		provider.reply({
			content: [text("Grüße 👋 from the script")],
			chunkSize: 3,
			writeBytes: 5,
			usage: { input: 100, output: 7, cacheRead: 40, cacheWrite: 20 },
		});
		const stream = ask(provider, api, [user("hi")]);
		const deltas: string[] = [];
		for await (const event of stream) if (event.type === "text_delta") deltas.push(event.delta);
		const message = await stream.result();

		expect(message.stopReason).toBe("stop");
		expect(message.content).toEqual([{ type: "text", text: "Grüße 👋 from the script" }]);
		expect(deltas.length).toBeGreaterThan(5);
		expect(message.usage).toMatchObject({ input: 100, output: 7, cacheRead: 40, cacheWrite: 20, totalTokens: 167 });
		expect(provider.requests[0]?.messages).toEqual([
			{ role: "system", text: "Be brief.", images: 0 },
			{ role: "user", text: "hi", images: 0 },
		]);
		await expect(provider.requests[0]?.closed).resolves.toBe(true);
	});

	test("thinking and several tool calls arrive and are sent back to the model with their results", async () => {
		const provider = await startProvider();
		provider.reply(
			[
				thinking("where is it?"),
				text("Looking."),
				toolCall("read", { path: "a" }, "one"),
				toolCall("ls", { path: "." }),
			],
			"done",
		);
		const first = await ask(provider, api, [user("find it")]).result();
		expect(first.stopReason).toBe("toolUse");
		expect(first.content.filter((block) => block.type !== "thinking")).toEqual([
			{ type: "text", text: "Looking." },
			{ type: "toolCall", id: "one", name: "read", arguments: { path: "a" } },
			{ type: "toolCall", id: expect.any(String), name: "ls", arguments: { path: "." } },
		]);
		expect(first.content[0]).toMatchObject({
			type: "thinking",
			thinking: "where is it?",
			thinkingSignature: api === "anthropic-messages" ? "c2lnbmF0dXJl" : "reasoning_content",
		});

		const results = first.content.flatMap((block): Message[] =>
			block.type === "toolCall"
				? [
						{
							role: "toolResult",
							toolCallId: block.id,
							toolName: block.name,
							content: [{ type: "text", text: `${block.name} ok` }],
							isError: false,
							timestamp: 0,
						},
					]
				: [],
		);
		const second = await ask(provider, api, [user("find it"), first, ...results]).result();
		expect(second.content).toEqual([{ type: "text", text: "done" }]);
		const sent = provider.requests[1]?.messages ?? [];
		expect(sent.map((message) => message.role)).toEqual(["system", "user", "assistant", "tool", "tool"]);
		expect(sent[2]).toMatchObject({ thinking: "where is it?", toolCalls: [{ id: "one" }, { name: "ls" }] });
	});

	test.each([401, 429, 500, 529])("HTTP status %i ends in an error that starts with it", async (status) => {
		const provider = await startProvider();
		provider.reply(httpError(status, { "retry-after": "1" }, "scripted"));
		const message = await ask(provider, api, [user("hi")]).result();
		expect(message).toMatchObject({ stopReason: "error", errorMessage: expect.stringMatching(`^${status}\\b`) });
	});

	test("an abort during the stream keeps the received text and closes the connection", async () => {
		const provider = await startProvider();
		provider.reply({ content: [text("one two three")], chunkSize: 4, fault: { kind: "stall", at: 2 } });
		const abort = new AbortController();
		const stream = ask(provider, api, [user("hi")], abort.signal);
		let seen = "";
		for await (const event of stream) {
			if (event.type === "text_delta") seen += event.delta;
			if (seen === "one two ") abort.abort();
		}
		expect(await stream.result()).toMatchObject({ stopReason: "aborted", content: [{ text: "one two " }] });
		expect(await (await provider.request(1)).closed).toBe(false);
	});

	test.each<[string, ReplyStep["fault"]]>([
		["a connection cut before the first byte", { kind: "cut", at: "headers" }],
		["a connection cut in the body", { kind: "cut", at: 1 }],
		["an error event in the stream", { kind: "error", at: 1 }],
		["a line that is no JSON", { kind: "bad_json", at: 1 }],
	])("%s is an error", async (_name, fault) => {
		const provider = await startProvider();
		provider.reply({ content: [text("one two three")], chunkSize: 4, fault });
		const message = await ask(provider, api, [user("hi")]).result();
		expect(message.stopReason).toBe("error");
		if (fault?.kind === "error") expect(message.errorMessage).toContain("Overloaded");
		if (fault && "at" in fault && fault.at === 1 && fault.kind === "cut") {
			expect(message.content).toEqual([expect.objectContaining({ text: "one " })]);
		}
	});

	test("a long reply in small chunks arrives complete", async () => {
		const provider = await startProvider();
		const long = "0123456789".repeat(20_000);
		provider.reply(long);
		expect((await ask(provider, api, [user("hi")]).result()).content).toEqual([{ type: "text", text: long }]);
	});

	test("a reply can be held open while the test acts", async () => {
		const provider = await startProvider();
		let release = () => {};
		const hold = new Promise<void>((resolve) => {
			release = resolve;
		});
		provider.reply({ content: [text("partial")], chunkSize: 100, hold });
		const stream = ask(provider, api, [user("hi")]);
		for await (const event of stream) if (event.type === "text_delta") release();
		expect((await stream.result()).content).toEqual([{ type: "text", text: "partial" }]);
	});

	test("invalid requests are refused and reported", async () => {
		const provider = await startProvider();
		provider.on(() => "never sent");
		const orphan: Message = {
			role: "toolResult",
			toolCallId: "ghost",
			toolName: "read",
			content: [{ type: "text", text: "x" }],
			isError: false,
			timestamp: 0,
		};
		const message = await ask(provider, api, [user("hi"), orphan]).result();
		expect(message.errorMessage).toMatch(/^400\b/);
		expect(provider.takeViolations()).toEqual([
			"request 0: message 2 (tool) answers ghost, which is no open tool call",
		]);
	});

	test("a request without a script is refused and reported", async () => {
		const provider = await startProvider();
		const message = await ask(provider, api, [user("hi")]).result();
		expect(message.errorMessage).toContain("No reply is scripted");
		expect(provider.takeViolations()).toEqual(["request 0: no reply is scripted for it"]);
	});
});

test("a stream without a finish reason is an error", async () => {
	const provider = await startProvider();
	const cutShort: ReplyStep = { content: [text("one two three")], chunkSize: 4, fault: { kind: "end", at: 1 } };
	provider.reply(cutShort, cutShort);
	const openai = await ask(provider, "openai-completions", [user("hi")]).result();
	const anthropic = await ask(provider, "anthropic-messages", [user("hi")]).result();
	expect([openai.stopReason, anthropic.stopReason]).toEqual(["error", "error"]);
	expect(openai.errorMessage).toContain("Stream ended without finish_reason");
	expect(anthropic.errorMessage).toContain("before message_stop");
});

test("models.json contains both APIs", async () => {
	const provider = await startProvider();
	expect(provider.modelsJson({ contextWindow: 9_000 })).toMatchObject({
		providers: {
			loopback: { baseUrl: `${provider.origin}/v1`, api: "openai-completions", models: [{ id: "scripted" }] },
			"loopback-anthropic": { baseUrl: provider.origin, models: [{ contextWindow: 9_000 }] },
		},
	});
	const list = await fetch(`${provider.origin}/v1/models`);
	expect(await list.json()).toMatchObject({ data: [{ id: "scripted" }] });
});
