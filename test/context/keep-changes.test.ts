import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ContextMessage } from "../../src/context/context-message.js";
import { keepChanges } from "../../src/context/keep-changes.js";
import { applyRanges } from "../../src/context/ranges.js";
import { messageText } from "../../src/log/entry.js";
import { groupTurns } from "../../src/log/prompt-turns.js";
import { assistant, custom, session, user } from "../helpers/entries.js";

const texts = (messages: readonly ContextMessage[]) =>
	messages.map(({ message }) => messageText(message).replace("[Summary]\n\n", ""));
const own = (text: string): ContextMessage => ({
	message: { role: "user", content: text, timestamp: 0 },
	entryIndex: null,
});

describe("keepChanges", () => {
	const entries = session(...Array.from({ length: 6 }, (_, i) => user(`m${i + 1}`)));
	const all = applyRanges(entries, []);

	test("is applyRanges where no other hook has changed anything", () => {
		const range = fc.record({
			from: fc.integer({ min: 0, max: 8 }),
			to: fc.integer({ min: 0, max: 8 }),
			id: fc.nat(5),
			summary: fc.constantFrom("S", null),
			except: fc.array(fc.integer({ min: 0, max: 8 }), { maxLength: 3 }),
		});
		fc.assert(
			fc.property(fc.array(range, { maxLength: 5 }), (ranges) => {
				expect(keepChanges({ entries, messages: all }, ranges)).toEqual(applyRanges(entries, ranges));
			}),
		);
	});

	test("keeps what other hooks hid, changed and added outside of the ranges", () => {
		const changed = { ...(all[4] as ContextMessage), message: { role: "user", content: "new", timestamp: 0 } as const };
		const messages = [own("notes"), ...all.slice(0, 4), changed];
		const ranges = [{ from: 2, to: 4, summary: "S", id: 0 }];
		expect(texts(keepChanges({ entries, messages }, ranges))).toEqual(["notes", "m1", "S", "m4", "new"]);
	});

	test("ignores a range of which another hook has replaced more than it covers", () => {
		const messages = [...all.slice(0, 1), own("a fold of 2 to 5"), ...all.slice(5)];
		const ranges = [{ from: 2, to: 4, summary: "S", id: 0 }];
		expect(keepChanges({ entries, messages }, ranges)).toEqual(messages);
	});

	test("omits what another hook put in place of entries that the range covers, but not around an exception", () => {
		const messages = [...all.slice(0, 1), own("two and three"), ...all.slice(3)];
		const range = { from: 2, to: 5, summary: "S", id: 0 };
		expect(texts(keepChanges({ entries, messages }, [range]))).toEqual(["m1", "S", "m5", "m6"]);
		const withHole = [{ ...range, except: [4] }];
		expect(texts(keepChanges({ entries, messages }, withHole))).toEqual(["m1", "S", "m4", "m5", "m6"]);
	});
});

test("groupTurns groups entries by prompts, and leaves out those before the first", () => {
	const entries = session(custom("mark"), user("one"), assistant("a"), custom("mark"), user("two"));
	expect(groupTurns(entries)).toEqual([
		{ number: 1, from: 2, to: 5, prompt: "one" },
		{ number: 2, from: 5, to: 6, prompt: "two" },
	]);
	expect(groupTurns([])).toEqual([]);
});
