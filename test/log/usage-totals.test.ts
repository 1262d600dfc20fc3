import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeLine } from "../../src/log/codec.js";
import { usageInReply } from "../../src/log/line-patterns.js";
import { usageOf } from "../../src/log/request-usage.js";
import { SessionLog } from "../../src/log/session-log.js";
import { UsageTotals } from "../../src/log/usage-totals.js";
import { anyText } from "../helpers/any-text.js";
import { assistantMessage, result, user } from "../helpers/entries.js";
import { closing, fileWith, HEADER } from "./support.js";

const RUNS = { seed: 20261123, numRuns: 300 };
const timestamp = "2026-01-01T00:00:00.000Z";

const price = fc.oneof(fc.double({ noNaN: true, min: -1e6, max: 1e6 }), fc.constantFrom(0, -0, 1e-7, 0.1));
const usage = fc.record({
	input: fc.nat(),
	output: fc.nat(),
	cacheRead: fc.nat(),
	cacheWrite: fc.nat(),
	totalTokens: fc.nat(),
	cost: fc.record({ input: price, output: price, cacheRead: price, cacheWrite: price, total: price }),
});
/** Texts and arguments that look like the usage of a reply. */
const misleading = JSON.stringify({ usage: { input: 7, output: 7, cacheRead: 7, cacheWrite: 7, totalTokens: 7 } });
const shared = { digest: "d", messages: 1, tokens: 1 };

/** Lines of entries, as pi and as other programs write them. */
const line = fc.oneof(
	fc
		.record({
			usage,
			text: fc.oneof(anyText({ maxLength: 20 }), fc.constant(misleading)),
			argument: fc.oneof(
				fc.constant({}),
				fc.constant(JSON.parse(misleading)),
				usage.map((own) => ({ usage: own })),
			),
			context: fc.constantFrom(
				undefined,
				shared,
				{ ...shared, subscription: true },
				{ ...shared, shape: [{ usage: 1 }] },
			),
			extra: fc.constantFrom({}, { usage: { input: 1 } }, { subscription: true }),
		})
		.map(({ usage, text, argument, context, extra }) => {
			const message = { ...assistantMessage(text, [{ id: "c", arguments: argument }]), usage };
			return JSON.stringify({ type: "message", timestamp, message, ...(context ? { context } : {}), ...extra });
		}),
	usage.map((own) => {
		const { role, usage: _, ...rest } = assistantMessage("x");
		return JSON.stringify({ type: "message", timestamp, message: { role, usage: own, ...rest } });
	}),
	usage.map((own) => {
		const reply = JSON.stringify({ type: "message", timestamp, message: { ...assistantMessage("x"), usage: own } });
		return reply.replaceAll('"output":', '"output" : ');
	}),
	usage.map((own) =>
		JSON.stringify({ type: "request_usage", timestamp, provider: "p", modelId: "m", kind: "hook", usage: own }),
	),
	fc.constantFrom(user(misleading), result("c", misleading)).map((entry) => JSON.stringify(entry)),
	fc.constantFrom("{}", misleading, '{"type":"message","timestamp":"2026'),
);

test("the usage that the line of a reply shows is the one that it records", () => {
	fc.assert(
		fc.property(line, (text) => {
			const shown = usageInReply(Buffer.from(text));
			const entry = decodeLine(text);
			if (shown && entry.type === "message") expect(usageOf(entry)).toMatchObject(shown);
		}),
		RUNS,
	);
});

test("a reply that pi writes shows its usage", () => {
	const message = assistantMessage("x", [{ id: "c" }]);
	const cost = { ...message.usage.cost, total: 0.25 };
	const reply = { type: "message", timestamp, message: { ...message, usage: { ...message.usage, input: 3, cost } } };
	const amounts = { input: 3, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0.25 };
	expect(usageInReply(Buffer.from(JSON.stringify({ ...reply, context: shared })))).toEqual(amounts);
	const paid = { ...reply, context: { ...shared, subscription: true } };
	expect(usageInReply(Buffer.from(JSON.stringify(paid)))).toBeUndefined();
});

test("the totals are the sums of what the entries record, also of entries appended later", () => {
	fc.assert(
		fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
			const log = closing(SessionLog.open(fileWith(`${HEADER}${lines.map((text) => `${text}\n`).join("")}`)));
			const totals = new UsageTotals();
			const recorded = () => log.entries.map(usageOf).filter((one) => one !== null);
			const sum = (of: "input" | "output" | "cacheRead" | "cacheWrite" | "cost") =>
				recorded().reduce((all, one) => all + (one[of] ?? 0), 0);
			const expected = () => ({
				tokens: {
					input: sum("input"),
					output: sum("output"),
					cacheRead: sum("cacheRead"),
					cacheWrite: sum("cacheWrite"),
				},
				cost: sum("cost"),
			});
			expect(totals.countSome(log)).toEqual(expected());
			const { usage } = assistantMessage("");
			log.append({ type: "message", message: { ...assistantMessage("late"), usage: { ...usage, input: 5 } } });
			expect(totals.countSome(log)).toEqual(expected());
			expect(new UsageTotals(totals.counted).countSome(log)).toEqual(expected());
		}),
		RUNS,
	);
});

test("a large log is counted in several calls, which parse and keep no entry", () => {
	const { usage, ...message } = assistantMessage("x".repeat(10_000));
	const reply = { type: "message", timestamp, message: { ...message, usage: { ...usage, input: 2 } } };
	const path = fileWith(`${HEADER}${`${JSON.stringify(reply)}\n`.repeat(700)}`);
	const log = closing(SessionLog.open(path, { readOnly: true }));
	const totals = new UsageTotals();
	const calls = [totals.countSome(log), totals.countSome(log), totals.countSome(log)];
	expect(calls.map((spent) => spent?.tokens.input ?? null)).toEqual([null, null, 1400]);
	expect(log.peek(7)).not.toBe(log.peek(7));
});
