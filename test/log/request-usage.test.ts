import { expect, test } from "vitest";
import type { SessionEntry } from "../../src/log/entry.js";
import { usageOf } from "../../src/log/request-usage.js";
import { custom, result, user } from "../helpers/entries.js";
import { replyAt } from "../helpers/usage.js";

const AT = "2026-03-01T10:00:00.000Z";
const at = Date.parse(AT);
const amounts = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 };
const request = (fields: object = {}): SessionEntry => ({
	...{ type: "request_usage", timestamp: AT, purpose: "compaction", provider: "p", modelId: "m" },
	usage: { ...amounts, totalTokens: 10, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.5 } },
	...fields,
});

test.each<[string, SessionEntry, object]>([
	[
		"a reply",
		replyAt(AT, { ...amounts, cost: 2 }),
		{ at, sentAt: at - 1000, model: "anthropic/opus", ...amounts, cost: 2 },
	],
	["a reply that a subscription paid", replyAt(AT, { ...amounts, cost: 2, subscription: true }), { cost: null }],
	["a reply of a router, whose price is unknown", replyAt(AT, { cost: -1 }), { cost: 0 }],
	["a reply without a valid time", { ...replyAt(AT), timestamp: "?" }, { at: 0, sentAt: at - 1000 }],
	["another request", request(), { at, sentAt: at, model: "p/m", ...amounts, cost: 0.5 }],
	["another request that a subscription paid", request({ subscription: true }), { cost: null }],
	["another request without a valid time", request({ timestamp: "?" }), { at: 0, sentAt: 0 }],
])("the usage of %s is read", (_, entry, usage) => {
	expect(usageOf(entry)).toMatchObject(usage);
});

test("other entries record no usage", () => {
	expect([undefined, user("x"), result("a"), custom("note")].map(usageOf)).toEqual([null, null, null, null]);
});
