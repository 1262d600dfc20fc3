import fc from "fast-check";
import { expect, test } from "vitest";
import type { TracedMessage } from "../../src/context/context-message.js";
import { diffRequests } from "../../src/context/diff-requests.js";
import { user } from "../helpers/entries.js";

/** Messages with these texts; `a1` is the text `a` of entry 1. */
function messages(names: string): TracedMessage[] {
	return names.split(" ").flatMap((name) => {
		if (name === "") return [];
		const [text = "", ...index] = name;
		const entryIndex = index.length > 0 ? Number(index.join("")) : null;
		return [{ message: user(text).message, entryIndex, origin: { kind: "entry" } }];
	});
}

const SIGNS = { kept: "=", added: "+", removed: "-", replaced: "~" };
const diff = (previous: string, current: string) =>
	diffRequests(messages(previous), messages(current))
		.map(({ kind, previous: before, current: now }) => `${SIGNS[kind]}${before ?? ""}:${now ?? ""}`)
		.join(" ");

test.each([
	["", "", ""],
	["a b", "a b", "=0:0 =1:1"],
	["", "a b", "+:0 +:1"],
	["a b", "", "-0: -1:"],
	["a b", "a c b d", "=0:0 +:1 =1:2 +:3"],
	["a b c", "b", "-0: =1:0 -2:"],
	["a1 b2 c3", "a1 x2 c3", "=0:0 ~1:1 =2:2"],
	["a b c", "a x c", "=0:0 -1: +:1 =2:2"],
	["a1 b2 c3 d4", "x2 d4", "-0: ~1:0 -2: =3:1"],
	["b2", "x y2 z", "+:0 ~0:1 +:2"],
	["a1 b2", "y2 x1", "-0: ~1:0 +:1"],
	["a b c d", "b c d a", "-0: =1:0 =2:1 =3:2 +:3"],
	["c a b", "a b c", "-0: =1:0 =2:1 +:2"],
	["a a", "a a a", "=0:0 =1:1 +:2"],
	["a b a", "a a", "=0:0 -1: =2:1"],
	["a1 a2 a3", "s a3", "-0: -1: +:0 =2:1"],
	["e a b c d", "a b e c d", "-0: =1:0 =2:1 +:2 =3:3 =4:4"],
])("from [%s] to [%s]: %s", (previous, current, expected) => {
	expect(diff(previous, current)).toBe(expected);
});

test("each message of both requests is in the comparison once, in order", () => {
	const list = fc.array(fc.constantFrom("a1", "b2", "c3", "d", "e", "x1", "y2"), { maxLength: 9 });
	fc.assert(
		fc.property(list, list, (before, now) => {
			const changes = diffRequests(messages(before.join(" ")), messages(now.join(" ")));
			const positions = (of: "previous" | "current") => changes.flatMap((change) => change[of] ?? []);
			expect(positions("previous")).toEqual(before.map((_, at) => at));
			expect(positions("current")).toEqual(now.map((_, at) => at));
			for (const { kind, previous, current } of changes) {
				expect(kind !== "kept" || before[previous ?? -1] === now[current ?? -1]).toBe(true);
			}
		}),
	);
});
