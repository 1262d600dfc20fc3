import fc from "fast-check";
import { expect, test } from "vitest";
import { buildContext, type ContextStage, plainMessages } from "../../src/context/build-context.js";
import { ContextMemo } from "../../src/context/context-memo.js";
import type { ContextMessage } from "../../src/context/context-message.js";
import { convertToLlm, openedByUser, repairMessages } from "../../src/context/convert.js";
import { digestContext } from "../../src/context/digest.js";
import { applyRanges } from "../../src/context/ranges.js";
import { RequestMemo, TokenSum } from "../../src/context/request-memo.js";
import { estimateAll } from "../../src/context/tokens.js";
import type { SessionEntry } from "../../src/log/entry.js";
import { freezeDeep } from "../../src/log/freeze.js";
import { assistant, compaction, custom, result, session, user } from "../helpers/entries.js";
import { PROPERTY_TIMEOUT_MS, propertyRuns } from "../helpers/property-blocks.js";

const RUNS = propertyRuns(100, 20260101);

/** Entries added between two requests: prompts, turns with calls, remains of a crash, summaries, entries of hooks. */
const grown: fc.Arbitrary<readonly SessionEntry[]> = fc.oneof(
	{ weight: 4, arbitrary: fc.string({ maxLength: 6 }).map((text) => [user(text)]) },
	{
		weight: 4,
		arbitrary: fc
			.tuple(fc.uniqueArray(fc.integer({ min: 0, max: 400 }), { maxLength: 3 }), fc.integer({ min: 0, max: 3 }))
			.map(([calls, answered]) => {
				const ids = calls.map((id) => `c${id}`);
				return [
					assistant(
						"turn",
						ids.map((id) => ({ id })),
					),
					...ids.slice(0, ids.length - (answered === 3 ? 1 : 0)).map((id) => result(id)),
				];
			}),
	},
	{
		weight: 1,
		arbitrary: fc.constantFrom([assistant("half", [{ id: "x" }], "aborted")], [assistant("", [], "error")]),
	},
	{ weight: 1, arbitrary: fc.integer({ min: 0, max: 30 }).map((from) => [compaction(from, `S${from}`)]) },
	{ weight: 1, arbitrary: fc.constant([custom("mark")]) },
	{ weight: 1, arbitrary: fc.nat(40).map((entryIndex) => [custom("context_undo", { entryIndex })]) },
);

const text = (content: string) => ({ role: "user", content, timestamp: 0 });

/** Realistic handlers, and some that sometimes break rules. */
const HANDLERS: Record<string, (messages: readonly ContextMessage[], entries: readonly SessionEntry[]) => unknown> = {
	passes: () => undefined,
	ranges: (_, entries) => ({ messages: applyRanges(entries, [{ from: 2, to: 6, summary: "range", id: 1 }]) }),
	sliding: (messages) => ({ messages: messages.slice(-7) }),
	prefix: (messages) => ({ messages: [text("be brief"), ...messages] }),
	cuts: (messages) => ({
		messages: messages.map((item, at) =>
			item.message.role === "toolResult" && at < messages.length - 3
				? { ...item, message: { ...item.message, content: [{ type: "text", text: "[cut]" }] } }
				: item,
		),
	}),
	bare: (messages) => ({ messages: messages.map(({ message }) => message) }),
	counts: (messages) => ({ messages: [...messages, text(`${messages.length}`)] }),
	drops: (messages) => ({ messages: messages.filter((_, at) => at % 5 !== 1) }),
	twice: (messages) => ({ messages: [...messages, ...messages.slice(0, 1)] }),
	breaks: (messages) => (messages.length % 3 === 0 ? { messages: [...messages, { role: "system" }] } : undefined),
};

const chains = fc.array(fc.constantFrom(...Object.keys(HANDLERS)), { maxLength: 4 });

function stagesOf(chain: readonly string[], entries: readonly SessionEntry[]): ContextStage[] {
	return chain.map((name) => ({ hook: name, transform: async (messages) => HANDLERS[name]?.(messages, entries) }));
}

test(
	"a context computed from the previous one equals a context computed from scratch",
	async () => {
		await fc.assert(
			fc.asyncProperty(chains, fc.array(grown, { minLength: 1, maxLength: 25 }), async (chain, additions) => {
				const memo = new ContextMemo();
				const requests = new RequestMemo();
				const tokens = new TokenSum();
				let entries: readonly SessionEntry[] = session();
				for (const added of additions) {
					entries = [...entries, ...freezeDeep(added)];
					const stages = stagesOf(chain, entries);
					const [on, anew] = [await buildContext(entries, stages, { memo }), await buildContext(entries, stages)];
					expect(on.messages).toEqual(anew.messages);
					expect({ hidden: on.hidden, problems: on.problems }).toEqual({
						hidden: anew.hidden,
						problems: anew.problems,
					});
					const plain = plainMessages(anew);
					expect(requests.request(on.messages)).toEqual({
						messages: openedByUser(repairMessages(convertToLlm(plain))),
						digest: digestContext(plain),
					});
					expect(tokens.update(on.messages)).toBe(estimateAll(plain));
				}
			}),
			RUNS,
		);
	},
	PROPERTY_TIMEOUT_MS,
);

test("a request of any length equals the request computed without earlier ones", () => {
	const many = Array.from({ length: 600 }, (_, at) => freezeDeep(user(`u${at}`).message));
	const lengths = fc.array(fc.tuple(fc.nat(600), fc.nat(600)), { minLength: 1, maxLength: 12 });
	fc.assert(
		fc.property(lengths, (cuts) => {
			const requests = new RequestMemo();
			for (const [start, end] of cuts) {
				const messages = [...many.slice(0, start), ...many.slice(end)];
				const context = messages.map((message) => ({ message, entryIndex: null, origin: { kind: "entry" } as const }));
				expect(requests.request(context).digest).toBe(digestContext(messages));
			}
		}),
		{ ...RUNS, numRuns: 60 },
	);
});

/** A log that counts the reads of its entries. */
function countedLog(entries: readonly SessionEntry[]) {
	const reads: number[] = [];
	const source = (length: number) => ({
		length,
		at(index: number) {
			reads.push(index);
			return entries[index];
		},
		lastOfTypes: (types: readonly string[], before: number) =>
			entries.slice(0, before).findLastIndex((entry) => types.includes(entry.type)),
	});
	return { source, take: () => reads.splice(0) };
}

test("only added entries are read, and none before the last compaction's cut", async () => {
	const talk = Array.from({ length: 1000 }, (_, at) => (at % 2 === 0 ? user(`u${at}`) : assistant(`a${at}`)));
	const entries = session(...talk, compaction(900, "S"), ...talk.slice(0, 20).map((entry) => freezeDeep({ ...entry })));
	const { source, take } = countedLog(entries);
	const memo = new ContextMemo();
	await buildContext(source(900), [], { memo });
	expect(take()).toEqual([0, ...Array.from({ length: 900 }, (_, at) => at)]);
	await buildContext(source(902), [], { memo });
	expect(take()).toEqual([900, 901]);
	await buildContext(source(902), [], { memo });
	expect(take()).toEqual([]);
	await buildContext(source(1002), [], { memo });
	const looked = Array.from({ length: 100 }, (_, at) => 902 + at); // up to the compaction
	expect(take()).toEqual([...looked, 1001, 0, ...Array.from({ length: 102 }, (_, at) => 900 + at)]);
	await buildContext(source(entries.length), [], { memo });
	expect(take()).toEqual(Array.from({ length: 20 }, (_, at) => 1002 + at));

	await buildContext(source(entries.length), [], { memo: new ContextMemo() });
	expect(take()).toEqual([1001, 0, ...Array.from({ length: entries.length - 900 }, (_, at) => 900 + at)]);
});

/** A turn that reports each read of an entry or of its message. */
function watchedTurn(first: number, look: (index: number) => void): SessionEntry[] {
	const turn = [user(`u${first}`), assistant("", [{ id: `c${first}` }]), result(`c${first}`), assistant("done")];
	return turn.map(({ message, ...entry }, at) => {
		const index = first + at;
		const watched = Object.defineProperty({ ...message }, "role", {
			get() {
				look(index);
				return message.role;
			},
		});
		const seen = Object.freeze(watched);
		return Object.freeze(
			Object.defineProperty({ ...entry, message: seen }, "message", {
				get() {
					look(index);
					return seen;
				},
			}),
		);
	});
}

/** A hook that folds ranges, like stacking. */
function folds(
	hook: string,
	entries: readonly SessionEntry[],
	ranges: readonly [from: number, to: number][],
): ContextStage {
	const folded = ranges.map(([from, to], id) => ({ from, to, summary: `${hook} ${id}`, id }));
	return { hook, transform: async () => ({ messages: applyRanges(entries, folded) }) };
}

test("a request reads nothing that the previous one has read, even with hooks that fold ranges", async () => {
	const looks = new Set<number>();
	const all = session(
		...Array.from({ length: 100 }, (_, n) => watchedTurn(1 + 4 * n, (index) => looks.add(index))).flat(),
	);
	const memo = new ContextMemo();
	const requests = new RequestMemo();
	const tokens = new TokenSum();
	const request = async (length: number) => {
		const entries = Object.freeze(all.slice(0, length));
		const stages = [
			folds("a", entries, [[41, 81]]),
			folds("b", entries, [
				[41, 81],
				[61, 121],
			]),
		];
		looks.clear();
		const { messages } = await buildContext(entries, stages, { memo });
		requests.request(messages);
		tokens.update(messages);
		return [...looks].sort((a, b) => a - b);
	};
	expect((await request(302)).length).toBe(301);
	const firstUser = 1; // one user message must remain
	const lastReply = 301; // the next message could be its result
	expect(await request(306)).toEqual([firstUser, lastReply, 302, 303, 304, 305]);
	expect(await request(306)).toEqual([firstUser, 305]);
	expect(await request(322)).toEqual([firstUser, ...Array.from({ length: 17 }, (_, at) => 305 + at)]);
});

test("nothing before a compaction's cut is read, even with hooks that fold those entries", async () => {
	const looks = new Set<number>();
	const look = (index: number) => looks.add(index);
	const turns = (first: number, count: number) =>
		Array.from({ length: count }, (_, n) => watchedTurn(first + 4 * n, look)).flat();
	const all = session(...turns(1, 100), compaction(381, "S"), ...turns(402, 5));
	const stages = [
		folds("a", all, [[0, 381]]),
		folds("b", all, [
			[0, 381],
			[385, 389],
		]),
	];
	const { messages } = await buildContext(all, stages);
	new RequestMemo().request(messages);
	expect(Math.min(...looks)).toBe(381);
});

test("a message that a hook creates again with equal content is the same object", async () => {
	const memo = new ContextMemo();
	const stage = stagesOf(["prefix"], []);
	const first = await buildContext(session(user("one")), stage, { memo });
	const next = await buildContext(session(user("one"), assistant("two"), user("three")), stage, { memo });
	expect(next.messages[0]).toBe(first.messages[0]);
});

test("a later change by a hook to its message has no effect", async () => {
	const mine = { role: "user", content: [{ type: "text", text: "as it was" }], timestamp: 0 };
	const scribbles: ContextStage = {
		hook: "later",
		transform: async (messages) => {
			mine.content.length = 0;
			mine.role = "system";
			return { messages: messages.slice(0) };
		},
	};
	const gives: ContextStage = { hook: "gives", transform: async (messages) => ({ messages: [...messages, mine] }) };
	const { messages, problems } = await buildContext(session(user("one")), [gives, scribbles]);
	expect(problems).toEqual([]);
	expect(messages.at(-1)?.message).toEqual({
		role: "user",
		content: [{ type: "text", text: "as it was" }],
		timestamp: 0,
	});
});
