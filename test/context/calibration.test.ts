import { describe, expect, test } from "vitest";
import { Calibration, inputTokens, readOverflow } from "../../src/context/calibration.js";
import type { ContextRecord, MessageEntry, SessionEntry } from "../../src/log/entry.js";
import { assistantMessage, session, user } from "../helpers/entries.js";

const MODEL = { provider: "lab", id: "m" };

describe("readOverflow", () => {
	test.each([
		["prompt is too long: 213462 tokens > 200000 maximum", 200_000, 213_462],
		[
			"This model's maximum context length is 8192 tokens. However, you requested 9001 tokens (8001 in the messages, 1000 in the completion). Please reduce the length.",
			8192,
			8001,
		],
		[
			"This model's maximum context length is 128000 tokens. However, your messages resulted in 130,123 tokens.",
			128_000,
			130_123,
		],
		[
			"This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens (39000 of text input, 1000 in the output).",
			32_768,
			39_000,
		],
		["The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).", 1_048_575, 1_196_265],
		["This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131_072, 537_812],
		["prompt token count of 70000 exceeds the limit of 64000", 64_000, 70_000],
		["Your request exceeded model token limit: 262144 (requested: 300000)", 262_144, 300_000],
		[
			"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
			32_768,
			40_000,
		],
		["request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it", 4096, 5000],
		["Your input exceeds the context window of this model.", null, null],
		["context_length_exceeded", null, null],
	])("reads window and size from: %s", (message, window, requested) => {
		expect(readOverflow(message)).toEqual({ window, requested });
	});
});

describe("Calibration", () => {
	test("learns how many of its own tokens a model counts for an estimated one", () => {
		const calibration = new Calibration();
		expect(calibration.ratio(MODEL)).toBe(1);
		calibration.noteAccepted(MODEL, 1000, 1300);
		expect(calibration.ratio(MODEL)).toBeCloseTo(1.3);
		expect(calibration.ratio({ provider: "lab", id: "other" })).toBe(1);
	});

	test("ignores replies without a count, and counts that cannot be right", () => {
		const calibration = new Calibration();
		calibration.noteAccepted(MODEL, 1000, 0);
		expect(calibration.ratio(MODEL)).toBe(1);
		calibration.noteAccepted(MODEL, 1000, 1);
		expect(calibration.ratio(MODEL)).toBe(0.7);
		calibration.noteAccepted(MODEL, 1000, 1e9);
		expect(calibration.ratio(MODEL)).toBe(4);
	});

	test("believes a smaller window that a model enforces, never a larger one", () => {
		const calibration = new Calibration();
		const declared = { ...MODEL, contextWindow: 32_768 };
		calibration.noteRefusal(MODEL, "maximum context length is 8192 tokens", 9000);
		expect(calibration.window(declared)).toBe(8192);
		expect(calibration.window({ ...MODEL, contextWindow: 4096 })).toBe(4096);
		expect(calibration.window({ ...MODEL, contextWindow: 0 })).toBe(8192);
		expect(calibration.window(undefined)).toBe(0);
	});

	test("raises its estimate with each refusal that tells no size, then doubts the window", () => {
		const calibration = new Calibration();
		const window = () => calibration.window({ ...MODEL, contextWindow: 32_768 });
		for (let refusal = 1; refusal <= 4; refusal++) {
			calibration.noteRefusal(MODEL, "context_length_exceeded", 5000);
			expect(calibration.ratio(MODEL)).toBeCloseTo(Math.min(4, 1.4 ** refusal));
			expect(window()).toBe(32_768);
		}
		calibration.noteRefusal(MODEL, "context_length_exceeded", 5000);
		expect(window()).toBeLessThan(20_000);
	});

	test("treats a ratio after a refusal without a size as a guess, until a count is known", () => {
		const calibration = new Calibration();
		expect([calibration.isGuess(MODEL), calibration.isGuess(undefined)]).toEqual([false, false]);
		calibration.noteRefusal(MODEL, "context_length_exceeded", 5000);
		expect([calibration.isGuess(MODEL), calibration.isGuess({ provider: "lab", id: "n" })]).toEqual([true, false]);
		calibration.noteAccepted(MODEL, 1000, 0);
		expect(calibration.isGuess(MODEL)).toBe(true);
		calibration.noteAccepted(MODEL, 1000, 1300);
		expect(calibration.isGuess(MODEL)).toBe(false);
	});

	test("counts only refusals in a row, and believes nine tenths of the size that was refused too often", () => {
		const calibration = new Calibration();
		const window = () => calibration.window({ ...MODEL, contextWindow: 32_768 });
		const refuse = (times: number) => {
			for (let time = 0; time < times; time++) calibration.noteRefusal(MODEL, "context_length_exceeded", 1000);
		};
		refuse(4);
		calibration.noteAccepted(MODEL, 1000, 1000);
		refuse(4);
		expect(window()).toBe(32_768);
		refuse(1);
		expect(window()).toBe(Math.floor(1000 * 1.4 ** 4 * 0.9));
	});

	test("learns from a refusal that tells the size of the request, which is never below the estimate", () => {
		const calibration = new Calibration();
		calibration.noteRefusal(MODEL, "prompt is too long: 1500 tokens > 1000 maximum", 1000);
		expect([calibration.ratio(MODEL), calibration.isGuess(MODEL)]).toEqual([1.5, false]);
		expect(calibration.window({ ...MODEL, contextWindow: 9000 })).toBe(1000);
		calibration.noteRefusal(MODEL, "requested: 1200", 1000);
		expect(calibration.ratio(MODEL)).toBe(1.5);
		expect(calibration.ratio(undefined)).toBe(1);
	});

	test("treats a ratio of a refusal that is higher than that of ordinary texts as a guess", () => {
		const calibration = new Calibration();
		calibration.noteRefusal(MODEL, "maximum context length is 8192, messages resulted in 9000", 2226);
		expect([calibration.ratio(MODEL), calibration.isGuess(MODEL)]).toEqual([4, true]);
		calibration.noteAccepted(MODEL, 2226, 2300);
		expect(calibration.isGuess(MODEL)).toBe(false);
	});

	test("learns nothing without an estimate", () => {
		const calibration = new Calibration();
		for (const estimated of [0, -1, Number.NaN]) calibration.noteAccepted(MODEL, estimated, 1000);
		calibration.noteAccepted(MODEL, 1000, -1);
		expect(calibration.ratio(MODEL)).toBe(1);
	});

	test("has the declared window of a model that enforced no other", () => {
		expect(new Calibration().window({ ...MODEL, contextWindow: 500 })).toBe(500);
	});
});

describe("a count read back from a log", () => {
	const reply = (
		input: number,
		fields: { estimate?: number; model?: string; provider?: string } = {},
	): MessageEntry => {
		const { estimate = 1000, model = "m", provider = "lab" } = fields;
		const message = assistantMessage("ok");
		return {
			...{ type: "message", timestamp: "t", context: { digest: "", messages: 1, tokens: 1, estimate } },
			message: { ...message, model, provider, usage: { ...message.usage, input, cacheRead: 100, cacheWrite: 100 } },
		};
	};
	const ratioFrom = (entries: SessionEntry[], calibration = new Calibration()) => {
		calibration.readBack(MODEL, entries);
		return calibration.ratio(MODEL);
	};

	test("is that of the latest reply of the model that has one", () => {
		const entries = session(
			reply(800),
			reply(1800),
			...[reply(900, { estimate: 0 }), reply(900, { model: "n" }), reply(900, { provider: "x" }), user("hi")],
		);
		expect(ratioFrom(entries)).toBe(2);
		expect(ratioFrom(session(user("hi")))).toBe(1);
		expect(ratioFrom(session({ ...reply(1800), message: user("x").message }))).toBe(1);
		const { context: _, ...withoutRecord } = reply(1800);
		expect(ratioFrom(session(withoutRecord))).toBe(1);
	});

	test("is not one of a request that the provider changed, or that had a compaction in its own form", () => {
		const reliable = reply(800);
		const other = (fields: Partial<ContextRecord>): MessageEntry => {
			const { context = { digest: "", messages: 1, tokens: 1 }, ...rest } = reply(1800);
			return { ...rest, context: { ...context, ...fields } };
		};
		expect(ratioFrom(session(reliable, other({ native: 3 })))).toBe(1);
		expect(ratioFrom(session(reliable, other({ provider: { "openai-responses": { x: 1 } } })))).toBe(1);
		expect(ratioFrom(session(reliable, other({})))).toBe(2);
	});

	test("is not searched beyond the last 40 entries", () => {
		const others = (count: number) => Array.from({ length: count }, () => user("x"));
		expect(ratioFrom(session(reply(1800), ...others(39)))).toBe(2);
		expect(ratioFrom(session(reply(1800), ...others(40)))).toBe(1);
	});

	test("is searched once in each log, and not if one is known", () => {
		const calibration = new Calibration();
		expect(ratioFrom(session(), calibration)).toBe(1);
		expect(ratioFrom(session(reply(1800)), calibration)).toBe(1);
		calibration.forgetLog();
		expect(ratioFrom(session(reply(1800)), calibration)).toBe(2);
		calibration.forgetLog();
		expect(ratioFrom(session(reply(2800)), calibration)).toBe(2);
	});

	test("has the tokens from the cache", () => {
		const { message } = reply(5);
		expect(message.role === "assistant" && inputTokens(message)).toBe(205);
	});
});
