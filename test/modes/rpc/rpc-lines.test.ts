import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type InputLine, MAX_LINE_BYTES, readLines } from "../../../src/modes/rpc/rpc-lines.js";

async function collect(chunks: readonly Uint8Array[]): Promise<InputLine[]> {
	const lines: InputLine[] = [];
	for await (const line of readLines(Readable.from(chunks))) lines.push(line);
	return lines;
}

describe("readLines", () => {
	test("returns the same lines for all chunk sizes", async () => {
		const line = fc.string({ unit: "grapheme" }).map((text) => text.replace(/[\r\n]/g, "·"));
		await fc.assert(
			fc.asyncProperty(fc.array(line), fc.array(fc.nat(40)), async (lines, cuts) => {
				const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(""));
				const chunks: Buffer[] = [];
				let start = 0;
				for (const cut of cuts) {
					chunks.push(bytes.subarray(start, start + cut));
					start += cut;
				}
				chunks.push(bytes.subarray(start));
				expect(await collect(chunks)).toEqual(lines.map((text) => ({ text })));
			}),
		);
	});

	test("accepts CRLF and text after the last line end", async () => {
		expect(await collect([Buffer.from("a\r\n\nb")])).toEqual([{ text: "a" }, { text: "" }, { text: "b" }]);
		expect(await collect([])).toEqual([]);
	});

	test("replaces invalid UTF-8 with U+FFFD", async () => {
		expect(await collect([Buffer.from([0x61, 0xff, 0x0a])])).toEqual([{ text: "a\ufffd" }]);
	});

	test("reports the length of a line that is too long, and continues", async () => {
		const mega = Buffer.alloc(1024 * 1024, "x");
		const count = MAX_LINE_BYTES / mega.length + 1;
		const lines = await collect([...Array<Buffer>(count).fill(mega), Buffer.from("\nnext\n")]);
		expect(lines).toEqual([{ tooLong: MAX_LINE_BYTES + mega.length }, { text: "next" }]);
	});
});
