import fc from "fast-check";
import { expect, test } from "vitest";
import { type LineRequest, readLineWindow } from "../../src/tools/line-window.js";
import type { HostFile } from "../../src/tools/machine/machine.js";

const never = new AbortController().signal;

type Source = Pick<HostFile, "size" | "read">;

function source(content: Buffer): Source {
	let position = 0;
	return {
		size: content.length,
		async read(into) {
			const count = content.copy(into, 0, position);
			position += count;
			return count;
		},
	};
}

async function linesOf(content: Buffer, request: Partial<LineRequest>) {
	return readLineWindow(source(content), { first: 1, signal: never, ...request });
}

test("lines are found at any offset, wherever they lie in the 1 MB pieces that are read", async () => {
	const lengths = fc.array(fc.oneof(fc.nat(40), fc.integer({ min: 100_000, max: 1_500_000 })), {
		minLength: 1,
		maxLength: 12,
	});
	await fc.assert(
		fc.asyncProperty(
			lengths,
			fc.boolean(),
			fc.nat(),
			fc.integer({ min: 1, max: 5 }),
			async (sizes, ends, at, limit) => {
				const lines = sizes.map((size, index) => `${String.fromCharCode(97 + index).repeat(size)}\n`);
				if (!ends) lines.push("unfinished");
				const first = 1 + (at % lines.length);
				const requested = lines.slice(first - 1, first - 1 + limit).join("");
				const rest = lines.slice(first - 1).join("");
				const window = await linesOf(Buffer.from(lines.join("")), { first, limit });
				expect(window.bytes.toString()).toBe(rest.slice(0, 256 * 1024));
				expect({ ...window, bytes: undefined }).toEqual({
					bytes: undefined,
					isCut: rest.length > 256 * 1024,
					start: lines.slice(0, first - 1).join("").length,
					requestedBytes: requested.length,
					firstLineBytes: (lines[first - 1] ?? "").replace("\n", "").length,
					total: lines.length,
				});
			},
		),
		{ numRuns: 40 },
	);
});

test("newlines of UTF-16 are two bytes at an even offset", async () => {
	// Ċ is U+010A and ਀ is U+0A00: their bytes contain 0A.
	const text = "oĊ਀ne\nĊ਀\nthree\n";
	const little = Buffer.from(text, "utf16le");
	const wanted = { start: Buffer.byteLength("oĊ਀ne\n", "utf16le"), total: 3 };
	expect(await linesOf(little, { first: 2, encoding: "utf-16le" })).toMatchObject(wanted);
	expect(await linesOf(Buffer.from(little).swap16(), { first: 2, encoding: "utf-16be" })).toMatchObject(wanted);
});

test("an abort ends the search of a line before the next read", async () => {
	const abort = new AbortController();
	let reads = 0;
	const endless: Source = {
		size: 5e9,
		async read({ length }) {
			if (++reads === 3) abort.abort(new Error("stopped"));
			return length;
		},
	};
	const search = readLineWindow(endless, { first: 1e12, signal: abort.signal });
	await expect(search).rejects.toThrow("stopped");
	expect(reads).toBe(3);
});

test("lines near the start of a large file need one read", async () => {
	let reads = 0;
	const large: Source = {
		size: 5e9,
		async read(into) {
			reads++;
			Buffer.from(into.buffer, into.byteOffset, into.length).fill("line\n");
			return into.length;
		},
	};
	const window = await readLineWindow(large, { first: 100, limit: 10, signal: never });
	expect({ ...window, bytes: window.bytes.toString("utf8", 0, 10) }).toEqual({
		bytes: "line\nline\n",
		isCut: true,
		start: 495,
		requestedBytes: 50,
		firstLineBytes: 4,
		total: undefined,
	});
	expect(reads).toBe(1);
});
