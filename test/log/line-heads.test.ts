import fc from "fast-check";
import { expect, test } from "vitest";
import { isMessageEntry, isOpaqueEntry, type SessionEntry } from "../../src/log/entry.js";
import { SessionLog } from "../../src/log/session-log.js";
import { StatsCounter } from "../../src/session/stats.js";
import { anyText } from "../helpers/any-text.js";
import { assistantMessage, compaction, custom, result, user } from "../helpers/entries.js";
import { closing, fileWith, HEADER, pathOf, tempDir } from "./support.js";

const RUNS = { seed: 20260104, numRuns: 100 };

const usage = { input: 3, output: 2, cacheRead: 5, cacheWrite: 1, totalTokens: 11 };
const reply = (text: string, calls: number) => ({
	type: "message",
	timestamp: "2026-01-01T00:00:00.000Z",
	message: {
		...assistantMessage(
			text,
			Array.from({ length: calls }, (_, n) => ({ id: `c${n}` })),
		),
		usage: { ...usage, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.5 } },
	},
});

const entry: fc.Arbitrary<SessionEntry> = fc.oneof(
	anyText({ maxLength: 20 }).map(user),
	fc.tuple(fc.string(), fc.nat(3)).map(([text, calls]): SessionEntry => reply(text, calls)),
	fc.string().map((text) => result("a", text)),
	fc.constant(compaction(1, '","message":{"role":"user"')),
	fc.constant(custom("mark", { message: { role: "user" } })),
	// Formats of other programs: a type or role that is not in the head is read from the complete line.
	fc.constant({ message: user("other order").message, type: "message" } as SessionEntry),
	fc.constant({ ...user("other time"), timestamp: "2026-01-01" }),
	fc.constant({ ...user("hostile"), timestamp: '01234567890123456789012"","message":{"role":"assistant"' }),
);

const roleIn = (read: SessionEntry | undefined) => (isMessageEntry(read) ? read.message.role : undefined);

test("roles read from the heads of lines equal those of the parsed lines", () => {
	fc.assert(
		fc.property(fc.array(entry, { maxLength: 20 }), (entries) => {
			const path = fileWith(`${HEADER}${entries.map((item) => `${JSON.stringify(item)}\n`).join("")}{"type":"mess`);
			const [byHead, parsed] = [0, 1].map(() => closing(SessionLog.open(path, { readOnly: true })));
			const read = parsed?.entries ?? [];
			expect(read.map((_, index) => byHead?.roleOf(index))).toEqual(read.map(roleIn));
			expect(read.map((_, index) => byHead?.peek(index))).toEqual(read);
			const types = read.filter((item) => !isOpaqueEntry(item)).map(({ type }) => type);
			expect(types.filter((type) => byHead?.mayContain([type]) !== true)).toEqual([]);
			for (const role of ["user", "assistant", "toolResult", "bashExecution"] as const) {
				expect(byHead?.findLastMessage(role)).toBe(read.findLastIndex((item) => roleIn(item) === role));
			}
		}),
		RUNS,
	);
});

test("a log counts its entries by type, including appended ones", () => {
	const log = closing(SessionLog.create({ dir: tempDir(), cwd: "/x" }));
	log.appendAll([user("a"), custom("mark"), user("b")]); // the line of the mark does not begin with its type
	const reopened = closing(SessionLog.open(pathOf(log), { readOnly: true }));
	const counts = { session: 1, message: 2, mark: 1 };
	expect([log, reopened].map((one) => Object.fromEntries(one.countTypes()))).toEqual([counts, counts]);
	for (const one of [log, reopened]) {
		expect([["mark"], ["other", "message"]].map((types) => one.mayContain(types))).toEqual([true, true]);
		// A line that another program wrote may have any type.
		expect([["other"], []].map((types) => one.mayContain(types))).toEqual([one === reopened, false]);
	}
	expect(Object.fromEntries(SessionLog.inMemory("/x").countTypes())).toEqual({ session: 1 });
});

test("peek does not cache the parsed entry", () => {
	const path = fileWith(`${HEADER}${JSON.stringify(user("hi"))}\n`);
	const log = closing(SessionLog.open(path, { readOnly: true }));
	expect(log.peek(1)).toEqual(user("hi"));
	expect(log.peek(1)).not.toBe(log.peek(1));
	const kept = log.entry(1);
	expect(log.peek(1)).toBe(kept);
	expect([log.peek(-1), log.peek(2)]).toEqual([undefined, undefined]);
});

test("stats counted while entries are appended equal those of the complete log", () => {
	fc.assert(
		fc.property(fc.array(entry, { maxLength: 20 }), fc.array(entry, { maxLength: 5 }), (entries, more) => {
			const write = (items: readonly SessionEntry[]) => items.map((item) => `${JSON.stringify(item)}\n`).join("");
			const path = fileWith(`${HEADER}${write(entries)}`);
			const log = closing(SessionLog.open(path));
			const counter = new StatsCounter();
			counter.count(log);
			for (const item of more) log.append(item);
			const roles = log.entries.map(roleIn);
			const count = (role: string) => roles.filter((one) => one === role).length;
			const replies = count("assistant");
			expect(counter.count(log)).toMatchObject({
				userMessages: count("user"),
				assistantMessages: replies,
				toolResults: count("toolResult"),
				totalMessages: roles.filter((role) => role !== undefined).length,
				tokens: { input: 3 * replies, output: 2 * replies, total: 11 * replies },
				cost: replies / 2,
			});
			expect(counter.count(log)).toEqual(new StatsCounter().count(log));
		}),
		RUNS,
	);
});

test("counting replies caches no entries", () => {
	const path = fileWith(`${HEADER}${JSON.stringify(reply("x", 1))}\n`);
	const log = closing(SessionLog.open(path, { readOnly: true }));
	expect(new StatsCounter().count(log)).toMatchObject({ assistantMessages: 1, toolCalls: 1 });
	expect(log.peek(1)).not.toBe(log.peek(1));
});
