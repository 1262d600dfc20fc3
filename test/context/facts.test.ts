import type { Api, Model } from "@mariozechner/pi-ai";
import { describe, expect, test } from "vitest";
import { Calibration } from "../../src/context/calibration.js";
import { FactsOffer, factsAt, requestFacts } from "../../src/context/facts.js";
import { estimateTokens } from "../../src/context/tokens.js";
import type { RequestFacts, SessionEntry } from "../../src/log/entry.js";
import { assistant, assistantMessage, session, user } from "../helpers/entries.js";

const NOW = 1_000_000_000;
const MODEL = {
	...{ provider: "anthropic", id: "claude", contextWindow: 200_000 },
	cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
	promptCache: { short: 300, long: 3600 },
} as Model<Api>;

/** A reply of `MODEL` with these counts, sent at a time. */
function reply(input: number, cacheRead: number, timestamp: number): SessionEntry {
	const message = assistantMessage("done");
	const usage = { ...message.usage, input, cacheRead, totalTokens: input + cacheRead };
	return { ...assistant(""), message: { ...message, provider: "anthropic", model: "claude", usage, timestamp } };
}

function facts(
	entries: readonly SessionEntry[],
	given: Partial<Parameters<typeof requestFacts>[0]> = {},
): RequestFacts {
	const inputs = { model: MODEL, retention: undefined, flags: {}, calibration: new Calibration(), entries, time: NOW };
	return requestFacts({ ...inputs, ...given });
}

describe("the facts of a request", () => {
	test("name the model, its window and the prices of its cache", () => {
		expect(facts(session())).toEqual({
			...{ model: { provider: "anthropic", id: "claude" }, contextWindow: 200_000, ratio: 1, flags: {}, time: NOW },
			cache: { warmTokens: 0, lifetimeMs: 300_000, readPrice: 0.3, writePrice: 3.75 },
			appends: { instructions: false, tools: false },
		});
	});

	test.each([
		[{ supportsMidConvoSystemMessages: true }, { instructions: true, tools: false }],
		[
			{ supportsMidConvoSystemMessages: true, supportsMidConvoToolChanges: true },
			{ instructions: true, tools: false },
		],
		[
			{ supportsMidConvoSystemMessages: true, supportsToolSearch: true },
			{ instructions: true, tools: true },
		],
		[{ supportsAdditionalTools: true }, { instructions: false, tools: false }],
	])("say what a model with the flags %j takes in the middle of a conversation", (compat, appends) => {
		expect(facts(session(), { model: { ...MODEL, compat } as Model<Api> }).appends).toEqual(appends);
	});

	test("count what the last request left in the cache, until its lifetime is over", () => {
		const warm = (age: number, given = {}) =>
			facts(session(user("go"), reply(100, 4000, NOW - age), user("on")), given).cache.warmTokens;
		expect([warm(0), warm(300_000), warm(300_001)]).toEqual([4100, 4100, 0]);
		expect(warm(3_000_000, { retention: "long" })).toBe(4100);
		expect(warm(0, { retention: "none" })).toBe(0);
		expect(warm(0, { model: { ...MODEL, id: "other" } })).toBe(0);
		expect(warm(299_000, { model: { ...MODEL, promptCache: undefined } })).toBe(4100);
	});

	test("give the price of input where writing to the cache is free, and twice that of input for an hour", () => {
		const free = { ...MODEL, cost: { ...MODEL.cost, cacheWrite: 0 } };
		expect(facts(session(), { model: free }).cache.writePrice).toBe(3);
		expect(facts(session(), { retention: "long" }).cache.writePrice).toBe(6);
	});

	test("are recorded once a handler reads them, and estimate in tokens of the model", () => {
		const given = { ...facts(session()), ratio: 1.5 };
		const offer = new FactsOffer(() => given);
		expect(offer.used).toBe(null);
		const { message } = user("twenty characters or so");
		expect(offer.facts.estimate([message, { message, entryIndex: 1 }])).toBe(Math.ceil(3 * estimateTokens(message)));
		expect(offer.facts.estimate(message)).toBe(Math.ceil(1.5 * estimateTokens(message)));
		expect(offer.facts).not.toHaveProperty("ratio");
		expect(offer.used).toBe(given);
	});
});

describe("the facts of a past request", () => {
	const past = { findModel: () => MODEL, retention: undefined, defaults: { loud: false }, given: {}, now: NOW };

	test("are those that its reply recorded, except flags that are given now", () => {
		const recorded = { ...facts(session()), ratio: 2, flags: { loud: true }, time: 7 };
		const entry = assistant("done");
		const entries = session(user("go"), { ...entry, context: { digest: "", messages: 1, tokens: 1, facts: recorded } });
		expect(factsAt(entries, 2, past)).toEqual(recorded);
		expect(factsAt(entries, 2, { ...past, given: { loud: false } }).flags).toEqual({ loud: false });
	});

	test("are derived from its reply and the entries before it where nothing is recorded", () => {
		const entries = session(user("go"), reply(100, 0, 5000), user("on"), reply(10, 100, 6000));
		expect(factsAt(entries, 4, past)).toMatchObject({
			...{ model: { provider: "anthropic", id: "claude" }, time: 6000, flags: { loud: false } },
			cache: { warmTokens: 100 },
		});
		expect(factsAt(entries, 5, past)).toMatchObject({ time: NOW, cache: { warmTokens: 0 } });
	});
});
