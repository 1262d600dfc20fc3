import { describe, expect, test } from "vitest";
import { describeFailure } from "../../src/agent/failure.js";
import { kindOfFailure } from "../../src/agent/failure-kinds.js";
import { NO_FACTS, type ResponseFacts } from "../../src/agent/response-facts.js";
import { parseRetryAfter } from "../../src/agent/response-watch.js";
import { MAX_WAIT_MS, retryDelay } from "../../src/agent/retry.js";
import { SettingsStore } from "../../src/config/settings-store.js";
import { tempDir } from "../helpers/temp.js";

const LAB = { provider: "lab", baseUrl: "http://box" };
const isRetryable = (text: string, facts: ResponseFacts = NO_FACTS) =>
	kindOfFailure(describeFailure(text, LAB, facts), facts.retryAfterMs).isRetried;

const POLICY = { enabled: true, maxRetries: 3, baseDelayMs: 2000 };

describe("a failure is retried", () => {
	test.each([
		["429 slow down", true],
		["500 Internal Server Error", true],
		['529 {"type":"overloaded_error"}', true],
		["408 timeout", true],
		["409 conflict", true],
		["400 bad request: connection error in your prompt", false],
		["401 unauthorized", false],
		["403 forbidden", false],
		["404 no such model", false],
		["Connection error.", true],
		["terminated", true],
		["Request timed out.", true],
		["Overloaded", true],
		["The provider sent no content for 180 s", true],
		["The stream ended before the reply was finished", true],
		["Provider finish_reason: content_filter", false],
		["", false],
		["429 You exceeded your current quota, please check your plan and billing details.", false],
		['429 {"error":{"code":"insufficient_quota","message":"no"}}', false],
		["429 You exceeded your current quota. Please retry in 34.07s.", true],
		["429 Quota exceeded for requests per minute", true],
	])("%s → %s", (message, expected) => {
		expect(isRetryable(message)).toBe(expected);
	});
});

test("a retry depends on what the client's message omits", () => {
	const facts = (status: number, isPage = false, retryAfterMs: number | null = null) => ({
		...NO_FACTS,
		status,
		isPage,
		retryAfterMs,
	});
	expect(isRetryable('{"error":{"message":"busy"}}', facts(503))).toBe(true);
	expect(isRetryable('{"error":{"message":"overloaded"}}', facts(403))).toBe(false);
	expect(isRetryable("429 quota", facts(429, false, 1000))).toBe(true);
	expect(isRetryable("Connection error.", facts(404))).toBe(true);
	expect(isRetryable("The stream ended before the reply was finished", facts(200, true))).toBe(false);
});

describe("retryDelay", () => {
	test("tries ten times over several minutes by default", () => {
		const { retry } = new SettingsStore({ agentDir: tempDir(), cwd: tempDir() }).current;
		const delays = Array.from({ length: retry.maxRetries }, (_, at) => retryDelay(retry, at + 1, null) ?? 0);
		expect(delays.map((ms) => ms / 1000)).toEqual([2, 4, 8, 16, 32, 60, 60, 60, 60, 60]);
	});

	test("doubles from the base delay up to the maximum", () => {
		expect([1, 2, 3, 20].map((attempt) => retryDelay(POLICY, attempt, null))).toEqual([2000, 4000, 8000, 60_000]);
	});

	test("is the delay that the server asks for, unless it exceeds the maximum", () => {
		expect(retryDelay(POLICY, 3, 700)).toBe(700);
		expect(retryDelay(POLICY, 1, MAX_WAIT_MS)).toBe(300_000);
		expect(retryDelay(POLICY, 1, MAX_WAIT_MS + 1)).toBeNull();
	});
});

describe("parseRetryAfter", () => {
	const now = Date.parse("2026-01-01T00:00:00Z");
	test.each([
		["3", 3000],
		["0.5", 500],
		["Thu, 01 Jan 2026 00:00:10 GMT", 10_000],
		["Wed, 31 Dec 2025 00:00:00 GMT", 0],
		["soon", null],
		["", null],
	])("reads %j as %s ms", (value, expected) => {
		expect(parseRetryAfter(value, now)).toBe(expected);
	});
});
