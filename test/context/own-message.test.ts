import { describe, expect, test } from "vitest";
import { adoptMessage, isSameData } from "../../src/context/own-message.js";
import { freezeDeep } from "../../src/log/freeze.js";

const message = (more: object = {}) => ({ role: "user", content: [{ type: "text", text: "hi" }], ...more });

describe("adoptMessage", () => {
	test("copies and freezes a message that can change", () => {
		const given = message({ gone: undefined });
		const adopted = adoptMessage(given);
		expect(adopted).toEqual({ message: message() });
		const own: object = "message" in adopted ? adopted.message : given;
		expect(own).not.toBe(given);
		expect([own, ...Object.values(own)].map(Object.isFrozen)).toEqual([true, true, true]);
		expect(adoptMessage(own)).toEqual({ message: own });
	});

	test("keeps a message that is deeply frozen plain data", () => {
		const given = freezeDeep(message({ details: [1, "a", null, true, undefined, { deep: [] }] }));
		const adopted = adoptMessage(given);
		expect("message" in adopted && adopted.message).toBe(given);
	});

	test.each<[string, object]>([
		["is frozen only outside", Object.freeze(message())],
		["has an accessor", freezeDeep(Object.defineProperty(message(), "details", { enumerable: true, get: () => 1 }))],
		["is a proxy", new Proxy(freezeDeep(message()), {})],
		["has a proxy", freezeDeep(message({ details: new Proxy(Object.freeze({}), {}) }))],
		["has a function", freezeDeep(message({ details: Object.freeze(() => 1) }))],
		["has a symbol", freezeDeep(message({ details: Symbol("s") }))],
		["has an object of a class", freezeDeep(message({ details: Object.freeze(new Date(0)) }))],
		["has no prototype", Object.freeze(Object.assign(Object.create(null), freezeDeep(message())))],
	])("copies a message that %s", (_, given) => {
		const adopted = adoptMessage(given);
		expect("message" in adopted && adopted.message !== given && adopted.message).toMatchObject(message());
	});

	test("refuses messages without the form of one, and those that JSON cannot represent", () => {
		expect(adoptMessage({})).toEqual({ rule: "known_role" });
		expect(adoptMessage({ role: "system" })).toEqual({ rule: "known_role", detail: "system" });
		expect(adoptMessage({ role: "user", content: 1 })).toEqual({ rule: "well_formed_content", detail: "user" });
		const cycle = message();
		expect(adoptMessage(Object.assign(cycle, { cycle }))).toEqual({ rule: "well_formed_content", detail: "user" });
		expect(adoptMessage({ ...message(), toJSON: () => undefined })).toEqual({
			rule: "well_formed_content",
			detail: "user",
		});
	});
});

describe("isSameData", () => {
	test.each<[boolean, unknown, unknown]>([
		[true, 1, 1],
		[false, 1, 2],
		[false, "1", 1],
		[false, 1, {}],
		[false, {}, 1],
		[false, null, {}],
		[false, {}, null],
		[true, [], []],
		[true, [1, { a: 2 }], [1, { a: 2 }]],
		[false, [1, 2], [1, 3]],
		[false, [1], [1, 2]],
		[false, [1, 2], [1]],
		[false, { 0: 1, length: 1 }, [1]],
		[false, [], {}],
		[true, { a: 1, b: { c: [] } }, { b: { c: [] }, a: 1 }],
		[true, { a: 1, b: undefined }, { a: 1 }],
		[false, { a: 1, b: 2 }, { a: 1 }],
		[false, { a: 1 }, { a: 1, b: 2 }],
		[false, { a: 1, b: 3 }, { a: 1, b: 2 }],
		[false, { b: 1 }, { a: 1 }],
	])("is %s for %j and %j", (expected, value, plain) => {
		expect(isSameData(value, plain)).toBe(expected);
	});

	test("is false for a value that JSON writes differently", () => {
		expect(isSameData(Object.assign(Object.create({ toJSON: () => 1 }), { a: 1 }), { a: 1 })).toBe(false);
	});
});
