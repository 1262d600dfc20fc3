import fc from "fast-check";
import { expect, test } from "vitest";
import { MessageLines } from "../../src/mcp/message-lines.js";
import { anyText } from "../helpers/any-text.js";

function read(chunks: readonly Buffer[], maxBytes?: number) {
	const seen: (string | { tooLong: string | number | undefined })[] = [];
	const lines = new MessageLines(
		{ onLine: (line) => seen.push(line), onTooLong: (id) => seen.push({ tooLong: id }) },
		maxBytes,
	);
	for (const chunk of chunks) lines.add(chunk);
	return seen;
}

test("lines are the same however the bytes are split", () => {
	fc.assert(
		fc.property(fc.array(anyText()), fc.array(fc.nat(50)), (texts, cuts) => {
			const expected = texts.map((text) => text.replaceAll("\n", " ").toWellFormed());
			const bytes = Buffer.from(expected.map((line) => `${line}\n`).join(""));
			const chunks: Buffer[] = [];
			let at = 0;
			for (const cut of cuts) {
				chunks.push(bytes.subarray(at, at + cut));
				at += cut;
			}
			chunks.push(bytes.subarray(at));
			expect(read(chunks)).toEqual(expected.filter((line) => line.trim() !== ""));
		}),
	);
});

test.each([
	["the id at the end", `{"result":{"x":"${"y".repeat(2000)}"},"jsonrpc":"2.0","id":7}`, 7],
	["the id at the start", `{"jsonrpc":"2.0","id":"a-7","result":{"id":3,"x":"${"y".repeat(2000)}"}}`, "a-7"],
	["the id last, then the version", `{"result":"${"y".repeat(2000)}","id":8,"jsonrpc":"2.0"}`, 8],
	["no id", `"${"y".repeat(2000)}"`, undefined],
	["an id only inside the result", `{"result":{"id":3,"x":"${"y".repeat(2000)}"},"jsonrpc":"2.0"}`, undefined],
])("a message that is too long is dropped and answered by its id: %s", (_, text, id) => {
	const bytes = Buffer.from(`before\n${text}\nafter\n`);
	for (const size of [1, 100, bytes.length]) {
		const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
			bytes.subarray(at * size, (at + 1) * size),
		);
		expect(read(chunks, 1000)).toEqual(["before", { tooLong: id }, "after"]);
	}
});
