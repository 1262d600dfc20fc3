import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeJson } from "../../src/network/json-body.js";

test("a body is encoded like JSON.stringify does", () => {
	const part = fc.oneof(
		fc.json().map((json): unknown => JSON.parse(json)),
		fc.constant(undefined),
		fc.date(),
		fc.string(),
	);
	const body = fc.dictionary(fc.string({ unit: "binary" }), fc.oneof(part, fc.array(part, { maxLength: 5 })));
	fc.assert(
		fc.property(body, (body) => {
			expect(encodeJson(body)).toBe(JSON.stringify(body));
		}),
	);
});

test("a large body becomes the bytes of the same text", () => {
	const content = '"ünï" 😀 \ud83d\n'.repeat(10_000);
	const body = {
		model: "m",
		messages: Array.from({ length: 50 }, (_, id) => ({ role: "user", id, content })),
		stop: undefined,
	};
	const bytes = encodeJson(body);
	expect(bytes).toBeInstanceOf(Uint8Array);
	expect(Buffer.from(bytes).toString() === JSON.stringify(body)).toBe(true);
});
