import fc from "fast-check";
import { assert, expect, onTestFinished, test, vi } from "vitest";
import { encodeJson, JsonBody, sendsJsonBodies } from "../../src/network/json-body.js";

test("a body is encoded like JSON.stringify does", () => {
	const part = fc.oneof(
		fc.json().map((json): unknown => JSON.parse(json)),
		fc.constant(undefined),
		fc.date(),
		fc.string(),
	);
	const body = fc.dictionary(fc.string({ unit: "binary" }), fc.oneof(part, fc.array(part, { maxLength: 40 })));
	fc.assert(
		fc.property(body, (body) => {
			expect(encodeJson(body)).toBe(JSON.stringify(body));
		}),
	);
});

/** Some megabytes with characters of all lengths, in items of different sizes. */
const large = {
	model: "m",
	messages: Array.from({ length: 300 }, (_, id) => ({ content: '"ünï" 😀 \ud83d\n'.repeat(id % 3 === 0 ? 3000 : id) })),
	tools: Array.from({ length: 20_000 }, (_, id) => id),
	stop: undefined,
};
const largeText = JSON.stringify(large);

test("a large body becomes the same text", () => {
	expect(encodeJson(large) === largeText).toBe(true);
});

test("for a fetch that sends pieces, a large body remains an object, of the same text", () => {
	vi.stubGlobal(
		"fetch",
		sendsJsonBodies(async () => new Response()),
	);
	onTestFinished(() => void vi.unstubAllGlobals());
	const body = encodeJson(large);
	assert(body instanceof JsonBody);
	const pieces = [...body.pieces()];
	expect(pieces.join("") === largeText).toBe(true);
	expect(body.byteLength).toBe(Buffer.byteLength(largeText));
	expect(body.text() === largeText).toBe(true);
	expect(pieces.slice(0, -1).filter((piece) => piece.length < 64 * 1024)).toEqual([]);
	expect(encodeJson({ model: "m" })).toBe('{"model":"m"}');
});
