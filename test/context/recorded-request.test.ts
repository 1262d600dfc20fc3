import type { ToolResultMessage } from "@mariozechner/pi-ai";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildContext, type ContextStage, plainMessages } from "../../src/context/build-context.js";
import type { ContextMessage } from "../../src/context/context-message.js";
import { digestContext } from "../../src/context/digest.js";
import { RequestRecorder, readRecordedRequest } from "../../src/context/recorded-request.js";
import type { MessageEntry, RecordedRequest, SessionEntry } from "../../src/log/entry.js";
import { freezeDeep } from "../../src/log/freeze.js";
import { assistant, bashExecution, compaction, custom, result, session, user } from "../helpers/entries.js";

const note = (content: string): ContextMessage => ({
	message: { role: "user", content, timestamp: 0 },
	entryIndex: null,
});

function stage(transform: (messages: readonly ContextMessage[]) => ContextMessage[]): ContextStage {
	return { hook: "/h.ts", transform: async (messages) => ({ messages: transform(messages) }) };
}

/** A reply with the record of its request. */
function reply(text: string, recorded: RecordedRequest | undefined): MessageEntry {
	return { ...assistant(text), context: { digest: "", messages: 0, tokens: 0, ...(recorded && { shape: recorded }) } };
}

/** Sends a request and writes the reply. @returns the record, and the digest of what was sent */
async function ask(entries: SessionEntry[], stages: ContextStage[], recorder: RequestRecorder) {
	const context = await buildContext(entries, stages);
	const recorded = recorder.describe(context, entries);
	entries.push(freezeDeep(structuredClone(reply("fine", recorded))));
	recorder.recorded(entries.length - 1);
	return { recorded, digest: digestContext(plainMessages(context)) };
}

const digestOf = (entries: SessionEntry[], at = entries.length - 1) => {
	const messages = readRecordedRequest(entries, at);
	return messages && digestContext(messages.map(({ message }) => message));
};

describe("the record of a request", () => {
	const work = () => session(user("u1"), custom("mark"), assistant("a1", [{ id: "c" }]), result("c"), user("u2")); // 1 3 4 5

	test("is not there when hooks change nothing, or give back copies of what they were given", async () => {
		const recorder = new RequestRecorder();
		const entries = work();
		expect((await ask(entries, [], recorder)).recorded).toBeUndefined();
		const same = stage((messages) => [...messages]);
		expect((await ask(entries, [same], recorder)).recorded).toBeUndefined();
		const copy = stage((messages) => messages.map((item) => structuredClone(item)));
		expect((await ask(entries, [copy], recorder)).recorded).toEqual([[1, 8]]);
	});

	test("names entries by stretches and brings what a hook made, the next time by where it stands", async () => {
		const recorder = new RequestRecorder();
		const entries = work();
		const summary = note("[Summary] u1");
		const hide = stage((messages) => [summary, ...messages.slice(3)]);
		const first = await ask(entries, [hide], recorder);
		expect(first.recorded).toEqual([summary, [5, 6]]);
		entries.push(user("u3"));
		expect((await ask(entries, [hide], recorder)).recorded).toEqual([{ reply: 6, part: 0 }, [5, 8]]);
		expect((await ask(entries, [hide], new RequestRecorder())).recorded).toEqual([{ reply: 6, part: 0 }, [5, 9]]);
		expect(digestOf(entries, 6)).toBe(first.digest);
	});

	test("has no colors of the output of a shell command", async () => {
		const listing = { ...bashExecution, output: "red", styled: "\x1b[31mred\x1b[0m" };
		const entries = session(user("u1"), { ...user(""), message: listing });
		const shorten = stage((messages) =>
			messages.map((item) => (item.entryIndex === 2 ? { ...item, message: { ...listing, output: "r" } } : item)),
		);
		const { recorded } = await ask(entries, [shorten], new RequestRecorder());
		expect(recorded).toEqual([[1, 2], { message: { ...bashExecution, output: "r" }, entryIndex: 2 }]);
	});

	test("keeps the entry of a message that was replaced, and the summary of a compaction", async () => {
		const entries = [...work(), compaction(3, "C")];
		const cut: ToolResultMessage = {
			role: "toolResult",
			toolCallId: "c",
			toolName: "read",
			content: [],
			isError: false,
			timestamp: 0,
		};
		const prune = stage((messages) =>
			messages.map((item) => (item.entryIndex === 4 ? { ...item, message: cut } : item)),
		);
		const { recorded, digest } = await ask(entries, [prune], new RequestRecorder());
		expect(recorded).toEqual([{ compaction: 6 }, [3, 4], { message: cut, entryIndex: 4 }, [5, 6]]);
		expect(digestOf(entries)).toBe(digest);
		expect(readRecordedRequest(entries, 7)?.map(({ entryIndex, origin }) => [entryIndex, origin.kind])).toEqual([
			[null, "compaction"],
			[3, "entry"],
			[4, "freeze"],
			[5, "entry"],
		]);
	});

	test("brings a large request once, also where a hook makes all of it", async () => {
		const recorder = new RequestRecorder();
		const entries = work();
		const large = stage(() => [note("x".repeat(1_900_000))]);
		const { digest } = await ask(entries, [large], recorder);
		expect(digestOf(entries)).toBe(digest);
		expect((await ask(entries, [large], recorder)).recorded).toEqual([{ reply: 6, part: 0 }]);
		expect((await ask(work(), [stage(() => [note("x".repeat(2_000_001))])], recorder)).recorded).toBeUndefined();
	});

	test("is written without reading a long session of another program to its start", async () => {
		const entries = session(...Array.from({ length: 5000 }, () => assistant("from another program")));
		const context = await buildContext(entries, [stage(() => [note("new")])]);
		const read = new Set<number>();
		const at = (index: number) => {
			read.add(index);
			return entries[index];
		};
		expect(new RequestRecorder().describe(context, { length: entries.length, at })).toEqual([note("new")]);
		expect([read.size, Math.min(...read)]).toEqual([500, 4501]);
	});

	test("is left out at times where a hook makes a large request anew each time", async () => {
		const recorder = new RequestRecorder();
		const entries = work();
		let count = 0;
		const restless = stage(() => [note(`${count++} ${"x".repeat(990_000)}`)]);
		const isThere: boolean[] = [];
		while (isThere.length < 12) isThere.push((await ask(entries, [restless], recorder)).recorded !== undefined);
		expect(isThere.map((yes) => (yes ? "x" : ".")).join("")).toBe("xx...x....x.");
	});

	test("is ignored if it refers to missing messages", () => {
		const lists: RecordedRequest[] = [[{ compaction: 1 }], [{ reply: 1, part: 0 }], [{ reply: 9, part: 0 }]];
		for (const recorded of lists) expect(readRecordedRequest([...work(), reply("fine", recorded)], 6)).toBeNull();
		expect(readRecordedRequest(work(), 3)).toBeNull();
		expect(readRecordedRequest([...work(), reply("fine", [[5, 1e15]])], 6)).toHaveLength(1);
	});

	test("whatever hooks do, it gives back the very request", async () => {
		const step = fc.record({
			said: fc.constantFrom("user", "custom", "compaction"),
			hide: fc.nat({ max: 6 }),
			added: fc.constantFrom(null, "A", "B"),
			restart: fc.boolean(),
		});
		await fc.assert(
			fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
				const entries = session(user("u0"));
				let recorder = new RequestRecorder();
				for (const { said, hide, added, restart } of steps) {
					if (said === "user") entries.push(user(`u${entries.length}`));
					else entries.push(said === "custom" ? custom("mark") : compaction(entries.length - 1, `C${entries.length}`));
					if (restart) recorder = new RequestRecorder();
					const change = stage((messages) => [
						...messages.slice(0, hide),
						...(added === null ? [] : [note(added)]),
						...messages.slice(hide + 1),
					]);
					const { recorded, digest } = await ask(entries, [change], recorder);
					if (recorded) expect(digestOf(entries)).toBe(digest);
				}
			}),
			{ numRuns: 60 },
		);
	});
});

describe("a freeze", () => {
	const freeze = (entryIndex: number): SessionEntry => ({
		type: "context_freeze",
		timestamp: "2026-01-01T00:00:00.000Z",
		entryIndex,
	});

	/** Two turns; in the second, a hook put a note in place of the first. The reply is entry 5. */
	async function changed() {
		const entries = session(user("u1"), assistant("a1"), custom("mark"), user("u2"));
		const { digest } = await ask(
			entries,
			[stage((messages) => [note("N"), ...messages.slice(2)])],
			new RequestRecorder(),
		);
		return { entries, digest };
	}

	test("stands in place of what was before the reply, and says what hides the rest", async () => {
		const { entries, digest } = await changed();
		const frozen = [...entries, freeze(5), user("u3")];
		const context = await buildContext(frozen, []);
		expect(digestContext(plainMessages(context).slice(0, 2))).toBe(digest);
		expect(context.messages.map(({ entryIndex, origin }) => [entryIndex, origin.kind])).toEqual([
			[null, "freeze"],
			[4, "entry"],
			[5, "entry"],
			[7, "entry"],
		]);
		expect(context.hidden).toEqual([1, 2].map((entryIndex) => ({ entryIndex, by: { kind: "freeze", entryIndex: 6 } })));
	});

	test("is undone as a compaction is, and replaced by a later compaction", async () => {
		const { entries } = await changed();
		const undo: SessionEntry = { type: "context_undo", timestamp: "", entryIndex: 6 };
		const all = await buildContext([...entries, freeze(5), undo], []);
		expect(all.messages.map(({ entryIndex }) => entryIndex)).toEqual([1, 2, 4, 5]);
		const compacted = await buildContext([...entries, freeze(5), compaction(5, "C")], []);
		expect(compacted.messages.map(({ entryIndex }) => entryIndex)).toEqual([null, 5]);
	});

	test("of a request that the log does not describe counts for nothing", async () => {
		const plain = session(user("u1"), assistant("a1"), freeze(2), freeze(9));
		expect((await buildContext(plain, [])).messages.map(({ entryIndex }) => entryIndex)).toEqual([1, 2]);
	});
});
