import { expect, test } from "vitest";
import { noteExtension, sharedLength } from "../../src/context/shared-length.js";
import { user } from "../helpers/entries.js";

test("lists share the messages at their start, by identity", () => {
	const [a, b, c] = ["a", "b", "c"].map((text, entryIndex) => ({ message: user(text).message, entryIndex }));
	if (!a || !b || !c) throw new Error("no items");
	expect(sharedLength([a, b], [a, b, c])).toBe(2);
	expect(sharedLength([a, b, c], [a, c])).toBe(1);
	expect(sharedLength([{ ...a }, b], [a, b])).toBe(2);
	expect(sharedLength([], [a])).toBe(0);
	expect(sharedLength([{ ...a, message: { ...a.message } }], [a])).toBe(0);
	const list = [a, b];
	expect(sharedLength(list, list)).toBe(2);
});

test("a noted extension is not compared again", () => {
	const watched = (messages: object[]) => {
		let reads = 0;
		const list = new Proxy(messages, {
			get(target, key) {
				if (key === "0") reads++;
				return Reflect.get(target, key);
			},
		}) as never as { message: ReturnType<typeof user>["message"]; entryIndex: null }[];
		return { list, reads: () => reads };
	};
	const message = { message: user("a").message, entryIndex: null };
	const [base, extended] = [watched([message]), watched([message, message])];
	noteExtension(base.list, extended.list);
	expect([sharedLength(base.list, extended.list), base.reads(), extended.reads()]).toEqual([1, 0, 0]);
	expect(sharedLength(extended.list, base.list)).toBe(1);
	expect(base.reads()).toBeGreaterThan(0);
});
