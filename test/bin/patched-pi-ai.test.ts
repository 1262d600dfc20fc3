import { createServer } from "node:http";
import { type Context, parseStreamingJson, streamSimple } from "@mariozechner/pi-ai";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type LoopbackApi, startProvider, toolCall } from "../helpers/loopback-provider.js";
import { model } from "../helpers/model.js";
import { listen } from "../helpers/proxy.js";

/** The library's types lack the second parameter. */
const parse: (text: string, call: { arguments: unknown }) => unknown = parseStreamingJson;

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => {
	vi.useRealTimers();
	vi.restoreAllMocks();
});

/** Makes parsing of matching texts take `ms`. @returns a live list of the parsed texts */
function slowParsing(text: RegExp, ms: number): string[] {
	const { parse } = JSON;
	const parsed: string[] = [];
	vi.spyOn(JSON, "parse").mockImplementation((json, reviver) => {
		if (text.test(json)) {
			parsed.push(json);
			vi.advanceTimersByTime(ms);
		}
		return parse(json, reviver);
	});
	return parsed;
}

/** Parses after each of 1000 chunks, 1 ms apart. @returns the chunks after which the arguments changed */
function parsePieces(parseMs: number): number[] {
	slowParsing(/^\{"piece"/, parseMs);
	const call = { arguments: {} as unknown };
	const changed: number[] = [];
	for (let piece = 0; piece < 1000; piece++) {
		vi.advanceTimersByTime(1);
		const before = call.arguments;
		call.arguments = parse(`{"piece":${piece}}`, call);
		if (call.arguments !== before) changed.push(piece);
	}
	return changed;
}

test("short arguments are parsed with every chunk", () => {
	expect(parsePieces(0)).toHaveLength(1000);
});

test("parsing long arguments takes a tenth of the time, at equal intervals", () => {
	const parsed = parsePieces(5);
	expect(parsed.slice(0, 4)).toEqual([0, 45, 90, 135]);
	expect(parsed).toHaveLength(23);
});

test("the time is measured separately for each tool call", () => {
	slowParsing(/^\{"/, 100);
	const [first, second] = [{ arguments: {} }, { arguments: {} }];
	expect(parse('{"a":1}', first)).toEqual({ a: 1 });
	expect(parse('{"b":1}', second)).toEqual({ b: 1 });
	expect(parse('{"a":2}', first)).toBe(first.arguments);
});

test.each<LoopbackApi>(["openai-completions", "anthropic-messages"])(
	"with %s, most chunks of a long argument are not parsed, but the complete argument is",
	async (api) => {
		const provider = await startProvider();
		const args = { content: "a line of a file\n".repeat(500) };
		provider.reply({ content: [toolCall("write", args)], chunkSize: 16 });
		const parsed = slowParsing(/^\{"content/, 1);
		const context: Context = { messages: [{ role: "user", content: "go", timestamp: 0 }] };
		const stream = streamSimple(provider.model({ api }), context, { apiKey: "none", maxRetries: 0 });
		let pieces = 0;
		for await (const { type } of stream) if (type === "toolcall_delta") pieces += 1;
		const { content } = await stream.result();
		expect(content).toMatchObject([{ type: "toolCall", name: "write", arguments: args }]);
		expect(pieces).toBeGreaterThan(500);
		// Time only passes while parsing: the first chunk is parsed, and the complete argument at the end.
		expect({ different: new Set(parsed).size, last: parsed.at(-1) }).toEqual({
			different: 2,
			last: JSON.stringify(args),
		});
	},
);

test("the Bedrock client leaves retries to pi", async () => {
	let requests = 0;
	const server = createServer((request, response) => {
		requests++;
		request.resume().on("end", () => response.writeHead(503).end("{}"));
	});
	const baseUrl = `http://127.0.0.1:${await listen(server)}`;
	const bedrock = model("amazon-bedrock", "one", { api: "bedrock-converse-stream", baseUrl });
	const context: Context = { messages: [{ role: "user", content: "hi", timestamp: 1 }] };
	const env = {
		AWS_ACCESS_KEY_ID: "a",
		AWS_SECRET_ACCESS_KEY: "b",
		AWS_BEDROCK_FORCE_HTTP1: "1",
		AWS_REGION: "us-east-1",
	};
	vi.useRealTimers();
	const { stopReason } = await streamSimple(bedrock, context, { maxRetries: 0, env }).result();
	expect({ stopReason, requests }).toEqual({ stopReason: "error", requests: 1 });
});
