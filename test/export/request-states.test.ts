import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildContext } from "../../src/context/build-context.js";
import { type RequestLedger, RequestStates } from "../../src/export/request-states.js";
import type { MessageEntry, RecordedRequest, SessionEntry } from "../../src/log/entry.js";
import { assistant, compaction, custom, result, session, user } from "../helpers/entries.js";

const TIMESTAMP = "2026-01-01T00:00:00.000Z";

function ledgerOf(entries: SessionEntry[], hidden: Parameters<RequestStates["finish"]>[0] = []): RequestLedger {
	const states = new RequestStates(entries);
	for (const [index, entry] of entries.entries()) states.add(index, entry);
	return states.finish(hidden);
}

/** For each request the state of every message: `+` in the context, `~` changed in it, `.` not written yet, else why not. */
function statesOf({ entries, tokens, hookReplies, reasons, requests }: RequestLedger): string[][] {
	const states = tokens.map(() => 0);
	return requests.map(({ end, changes = [] }) => {
		for (let at = 0; at < changes.length; at += 3) {
			const [from = 0, to = 0, state = 0] = changes.slice(at, at + 3);
			states.fill(state, from, to);
		}
		return tokens.flatMap((size, index) => {
			if (size === 0) return [];
			const isLater = index < entries ? index >= end : (hookReplies[index - entries] ?? 0) > end;
			if (isLater) return [`${index} .`];
			const reason = reasons[states[index] ?? 0];
			return [`${index} ${reason?.changed ? `~ ${reason.text}` : reason?.text || "+"}`];
		});
	});
}

function recorded(shape: RecordedRequest, messages = 0): MessageEntry {
	return { ...assistant("shaped"), context: { digest: "", messages, tokens: 50, shape } };
}

describe("RequestStates", () => {
	test("a request contains all messages before it", () => {
		const entries = session(user("a"), assistant("b"), custom("note"), user("c"), assistant("d"));
		expect(statesOf(ledgerOf(entries))).toEqual([
			["1 +", "2 .", "4 .", "5 ."],
			["1 +", "2 +", "4 +", "5 ."],
			["1 +", "2 +", "4 +", "5 +"],
		]);
	});

	test("a compaction hides the messages that its summary replaces, except kept prompts, until it is undone", () => {
		const why = "summarized by the compaction in entry 5";
		const entries = session(
			user("a"),
			assistant("b"),
			user("c"),
			assistant("d"),
			{ ...compaction(4, "s"), keptEntries: [3] },
			user("e"),
			assistant("f"),
			{ type: "context_undo", timestamp: TIMESTAMP, entryIndex: 5 },
			user("g"),
			assistant("h"),
		);
		const states = statesOf(ledgerOf(entries));
		expect(states[2]).toEqual([`1 ${why}`, `2 ${why}`, "3 +", "4 +", "5 +", "6 +", "7 .", "9 .", "10 ."]);
		expect(states[3]).toEqual(["1 +", "2 +", "3 +", "4 +", "5 no longer used", "6 +", "7 +", "9 +", "10 ."]);
	});

	test("a later compaction replaces the summary of the earlier one", () => {
		const entries = session(
			user("a"),
			compaction(2, "s"),
			user("b"),
			assistant("c"),
			compaction(5, "t"),
			user("d"),
			assistant("e"),
		);
		const why = "summarized by the compaction in entry 5";
		expect(statesOf(ledgerOf(entries))[1]).toEqual([
			`1 ${why}`,
			`2 ${why}`,
			`3 ${why}`,
			`4 ${why}`,
			"5 +",
			"6 +",
			"7 .",
		]);
	});

	test("a compaction marks the outputs that it shortens", () => {
		const entries = session(
			user("a"),
			assistant("", [{ id: "1" }]),
			result("1", "x".repeat(1000)),
			{ ...compaction(2, "s"), shortened: [{ entryIndex: 3, characters: 10 }] },
			assistant("b"),
		);
		expect(statesOf(ledgerOf(entries))[1]).toEqual([
			"1 summarized by the compaction in entry 4",
			"2 +",
			"3 ~ shortened by the compaction in entry 4",
			"4 +",
			"5 .",
		]);
	});

	test("a recorded request shows what hooks hid and the messages that they made, each once", () => {
		const message = { role: "user", content: "from a hook", timestamp: 1 } as const;
		const entries = session(
			user("a"),
			user("b"),
			recorded([{ message, entryIndex: null }, [2, 3]]),
			user("c"),
			recorded([{ reply: 3, part: 0 }, [3, 5]]),
			user("d"),
			assistant("e"),
		);
		expect(statesOf(ledgerOf(entries))).toEqual([
			["1 hidden by a hook", "2 +", "3 .", "4 .", "5 .", "6 .", "7 .", "8 +"],
			["1 hidden by a hook", "2 hidden by a hook", "3 +", "4 +", "5 .", "6 .", "7 .", "8 +"],
			["1 +", "2 +", "3 +", "4 +", "5 +", "6 +", "7 .", "8 not part of this request"],
			["1 +", "2 +", "3 +", "4 +", "5 +", "6 +", "7 +", "8 not part of this request"],
		]);
	});

	test("an entry that was saved while the reply streamed was not part of its request", () => {
		const reply: MessageEntry = { ...assistant("b"), context: { digest: "", messages: 1, tokens: 9 } };
		const entries = session(
			user("a"),
			{ type: "system_item", timestamp: TIMESTAMP, source: "x", item: { kind: "notification", text: "late" } },
			reply,
		);
		expect(statesOf(ledgerOf(entries))[0]).toEqual(["1 +", "2 .", "3 ."]);
	});

	test("the context after all entries names the hooks that hide entries", () => {
		const ledger = ledgerOf(session(user("a"), user("b")), [{ entryIndex: 1, by: { kind: "hook", hook: "pop.ts" } }]);
		expect(statesOf(ledger)).toEqual([["1 hidden by the hook pop.ts", "2 +"]]);
	});

	test("each request contains what the context of pi contains there, in any session", async () => {
		const step = fc.oneof(
			fc.constant(user("a")),
			fc.constant(assistant("b")),
			fc.constant(custom("note")),
			fc.record({ at: fc.nat(12), kept: fc.array(fc.nat(8), { maxLength: 2 }), short: fc.nat(12) }).map(
				({ at, kept, short }): SessionEntry => ({
					...compaction(at, "s"),
					keptEntries: kept,
					shortened: [{ entryIndex: short, characters: 2 }],
				}),
			),
			fc.nat(12).map((at): SessionEntry => ({ type: "context_undo", timestamp: TIMESTAMP, entryIndex: at })),
			fc.nat(12).map((at): SessionEntry => ({ type: "context_freeze", timestamp: TIMESTAMP, entryIndex: at })),
			fc.constant(recorded([[1, 3]])),
		);
		await fc.assert(
			fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
				const entries = session(...steps.map((entry) => structuredClone(entry)));
				const ledger = ledgerOf(entries);
				const states = statesOf(ledger);
				for (const [at, { end, reply }] of ledger.requests.entries()) {
					const entry = reply === undefined ? undefined : entries[reply];
					if (entry && "context" in entry) continue; // recorded with what hooks did
					const { messages } = await buildContext(entries.slice(0, end), []);
					const own = messages.map(({ entryIndex, origin }) =>
						origin.kind === "compaction" ? origin.entryIndex : entryIndex,
					);
					const shown = (states[at] ?? []).flatMap((line) =>
						/^(\d+) [+~]/.test(line) ? [Number.parseInt(line, 10)] : [],
					);
					expect(shown).toEqual([...new Set(own)].sort((a, b) => Number(a) - Number(b)));
				}
			}),
			{ numRuns: 500 },
		);
	});

	test("a hook that hides one more message for each of 2,000 requests needs a few numbers for each", () => {
		const entries = session();
		const kept: [number, number][] = [];
		for (let at = 0; at < 2000; at++) {
			const reply = entries.push(user("kept"), user("hidden later"), assistant("a")) - 1;
			const shape: RecordedRequest = [...kept, [reply - 2, reply]];
			entries[reply] = recorded(shape);
			kept.push([reply - 2, reply - 1], [reply, reply + 1]);
		}
		const ledger = ledgerOf(entries);
		expect(Math.max(...ledger.requests.slice(0, -1).map(({ changes = [] }) => changes.length))).toBeLessThanOrEqual(9);
		expect(statesOf({ ...ledger, requests: ledger.requests.slice(0, 3) })[2]?.slice(0, 9)).toEqual([
			"1 +",
			"2 hidden by a hook",
			"3 +",
			"4 +",
			"5 hidden by a hook",
			"6 +",
			"7 +",
			"8 +",
			"9 .",
		]);
	});

	test("requests that only add messages need no changes: 10,000 requests take less than 1 MB", () => {
		const entries = session(...Array.from({ length: 10_000 }, (_, at) => [user(`${at}`), assistant("b")]).flat());
		const ledger = ledgerOf(entries);
		expect(ledger.requests.filter(({ changes }) => changes)).toEqual([]);
		expect(JSON.stringify(ledger).length).toBeLessThan(1_000_000);
	});
});
