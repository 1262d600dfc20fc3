import { execFileSync } from "node:child_process";
import { appendFile, mkdir, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readTool } from "../../src/tools/read.js";
import { corners, GIF } from "../helpers/images.js";
import { textOf, toolContext } from "./context.js";

async function fileWith(content: string | Uint8Array, name = "a.txt") {
	const context = await toolContext();
	await writeFile(join(context.cwd, name), content);
	return context;
}

const numbered = (first: number, last: number) =>
	Array.from({ length: last - first + 1 }, (_, index) => `line ${first + index}\n`).join("");

test("a short file is returned unchanged", async () => {
	const context = await fileWith("one\n\ttwo\n");
	expect(await readTool.run({ path: "a.txt" }, context)).toEqual({
		content: [{ type: "text", text: "one\n\ttwo\n" }],
		details: { lines: { first: 1, last: 2, total: 2 } },
	});
});

test.each([
	[{ offset: 0, limit: 1 }, "line 1\n\n[Lines 1-1 of 10. To continue: offset 2.]", { first: 1, last: 1, total: 10 }],
	[{ offset: 9 }, "line 9\nline 10\n", { first: 9, last: 10, total: 10 }],
	[{ limit: 2 }, "line 1\nline 2\n\n[Lines 1-2 of 10. To continue: offset 3.]", { first: 1, last: 2, total: 10 }],
	[{ offset: 4, limit: 1 }, "line 4\n\n[Lines 4-4 of 10. To continue: offset 5.]", { first: 4, last: 4, total: 10 }],
	[{ offset: 8, limit: 99 }, "line 8\nline 9\nline 10\n", { first: 8, last: 10, total: 10 }],
])("the window %j is returned and announced", async (window, text, lines) => {
	const context = await fileWith(numbered(1, 10));
	const result = await readTool.run({ path: "a.txt", ...window }, context);
	expect(textOf(result)).toBe(text);
	expect(result.details).toEqual({ lines });
});

test("a long file is cut, and the stated offset continues without a gap", async () => {
	const content = numbered(1, 4500);
	const context = await fileWith(content);
	let read = "";
	let offset: number | undefined = 1;
	while (offset !== undefined) {
		const result = await readTool.run({ path: "a.txt", offset }, context);
		const text = textOf(result);
		read += `${text.replace(/\n\n\[Lines.*$/, "").trimEnd()}\n`;
		const next: RegExpExecArray | null = /To continue: offset (\d+)/.exec(text);
		offset = next ? Number(next[1]) : undefined;
	}
	expect(read).toBe(content);
});

test("a line longer than the limit is cut, with a command that prints the rest", async () => {
	const result = await readTool.run({ path: "a.txt" }, await fileWith("x".repeat(200_000)));
	expect(textOf(result)).toContain("[Line 1 of 1 is 195 KB long; its first 50 KB are shown.");
	expect(result.details?.truncation).toMatchObject({ truncated: true, truncatedBy: "bytes", outputBytes: 51_200 });
});

test("the error for an offset past the end states the number of lines", async () => {
	const result = await readTool.run({ path: "a.txt", offset: 12 }, await fileWith("one\n"));
	expect(result.isError).toBe(true);
	expect(textOf(result)).toBe("offset 12 is past the end: a.txt has 1 line.");
});

test("the result of an empty file says so", async () => {
	expect(textOf(await readTool.run({ path: "a.txt" }, await fileWith("")))).toBe("(empty file)");
});

test("carriage returns, a byte order mark and control characters are removed", async () => {
	const result = await readTool.run({ path: "a.txt" }, await fileWith("\uFEFFone\r\n\x1b[1mtwo\r\n"));
	expect(textOf(result)).toBe("one\n[1mtwo\n\n[Control characters in this file are not shown.]");
});

test("UTF-16 is decoded, and other encodings are shown with a note", async () => {
	const utf16 = await fileWith(Buffer.from("\uFEFFhällo\n", "utf16le"));
	expect(textOf(await readTool.run({ path: "a.txt" }, utf16))).toBe("hällo\n");
	const latin1 = await fileWith(Buffer.from("h\xe4llo\n", "latin1"));
	expect(textOf(await readTool.run({ path: "a.txt" }, latin1))).toMatch(/^h\uFFFDllo\n\n\[This file is not UTF-8/);
});

test.each([
	["PNG", corners(30, 20, "png")],
	["JPEG", corners(30, 20, "jpeg")],
])("a %s is returned as an image, whatever its name", async (_name, image) => {
	const bytes = Buffer.from(image.data, "base64");
	const result = await readTool.run({ path: "picture" }, await fileWith(bytes, "picture"));
	expect(result.content).toEqual([{ type: "text", text: `picture (${image.mimeType}, ${bytes.length} bytes)` }, image]);
});

test.each([
	["a GIF", GIF, "image/gif, 42 bytes, converted to image/png"],
	["a WebP", corners(30, 20, "webp"), expect.stringContaining("converted to image/png")],
	["a large PNG", corners(3136, 20, "png"), expect.stringContaining("3136×20 scaled to 1568×10")],
])("%s is returned in a form that every model accepts, and the text says so", async (_name, image, text) => {
	const context = await fileWith(Buffer.from(image.data, "base64"), "picture");
	const result = await readTool.run({ path: "picture" }, context);
	expect(result.content[1]).toMatchObject({
		mimeType: "image/png",
		original: { mimeType: image.mimeType, path: join(context.cwd, "picture") },
	});
	expect(/\((.*)\)/.exec(textOf(result))?.[1]).toEqual(text);
});

test("an image with too many pixels is refused with the next step", async () => {
	const bytes = Buffer.from(corners(30, 20, "png").data, "base64");
	bytes.writeUInt32BE(90_000, 16);
	bytes.writeUInt32BE(90_000, 20);
	const result = await readTool.run({ path: "big.png" }, await fileWith(bytes, "big.png"));
	expect(result.isError).toBe(true);
	expect(textOf(result)).toMatch(
		/^Cannot send big\.png: it has 90000×90000 pixels; .* · convert it to a smaller PNG or JPEG/,
	);
});

test.each([
	["an executable (ELF)", Buffer.from("\x7fELF\x02\x01\x01\0\0\0", "latin1")],
	["a PDF document", Buffer.from("%PDF-1.7\n1 0 obj\n")],
	["a gzip archive", Buffer.from("1f8b0800000000000003", "hex")],
	["a binary file", Buffer.from("abc\0def")],
])("the content of %s is not returned, only its type", async (kind, bytes) => {
	const result = await readTool.run({ path: "a.bin" }, await fileWith(bytes, "a.bin"));
	expect(result.isError).toBe(true);
	expect(textOf(result)).toContain(`a.bin is ${kind} of ${bytes.length} bytes, not text.`);
});

test("text that starts like a binary file is text", async () => {
	expect(textOf(await readTool.run({ path: "a.txt" }, await fileWith("MZ is a country code\n")))).toContain("MZ is");
	expect(textOf(await readTool.run({ path: "a.txt" }, await fileWith("BMW\n")))).toBe("BMW\n");
});

test("a missing file, a directory and a FIFO have different errors", async () => {
	const context = await fileWith("", "readme.md");
	await mkdir(join(context.cwd, "src"));
	execFileSync("mkfifo", [join(context.cwd, "pipe")]);
	const read = async (path: string) => textOf(await readTool.run({ path }, context));
	expect(await read("redme.md")).toBe("redme.md does not exist. In .: Did you mean readme.md?");
	expect(await read("src")).toBe("src is a directory. Use ls to list it.");
	expect(await read("pipe")).toContain("it is a FIFO");
	expect(await read("readme.md/x")).toContain("does not exist");
});

/** A file of 200 MB that takes little of the disk: 1000 lines, a hole, lines again at the end. */
async function sparseFile() {
	const context = await fileWith(numbered(1, 1000), "huge.log");
	const path = join(context.cwd, "huge.log");
	await truncate(path, 200_000_000);
	await appendFile(path, `\n${numbered(1002, 1004)}`);
	return context;
}

test("a file of 200 MB is read at any offset with bounded memory, and its lines are counted only at its end", async () => {
	const context = await sparseFile();
	const before = process.memoryUsage().rss;
	let peak = before;
	const watch = setInterval(() => {
		peak = Math.max(peak, process.memoryUsage().rss);
	}, 5);
	const read = async (offset: number, limit: number) => {
		const result = await readTool.run({ path: "huge.log", offset, limit }, context);
		return [textOf(result), result.details];
	};
	expect(await read(999, 2)).toEqual([
		"line 999\nline 1000\n\n[Lines 999-1000 of a file of 191 MB, whose lines were not all counted. To continue: offset 1001.]\n\n[Control characters in this file are not shown.]",
		{ lines: { first: 999, last: 1000 } },
	]);
	const huge = await read(1001, 1);
	expect(huge[0]).toMatch(/^\n\n\[Line 1001 is more than \d+ KB long; its first 0 bytes are shown\./);
	expect(await read(1003, 9)).toEqual(["line 1003\nline 1004\n", { lines: { first: 1003, last: 1004, total: 1004 } }]);
	expect(await read(2000, 1)).toEqual(["offset 2000 is past the end: huge.log has 1004 lines.", undefined]);
	clearInterval(watch);
	expect(peak - before).toBeLessThan(100_000_000);
});

test("a line of 60 MB is cut, and the lines after it are found", async () => {
	const context = await fileWith(`first\n${"x".repeat(60_000_000)}\nlast\n`);
	const [line, note] = textOf(await readTool.run({ path: "a.txt", offset: 2 }, context)).split("\n\n");
	expect([line?.length, new Set(line)]).toEqual([51_200, new Set("x")]);
	expect(note).toMatch(
		/^\[Line 2 is more than \d+ KB long; its first 50 KB are shown\. To see more of it, use bash: sed -n '2\{p;q;\}' 'a\.txt'/,
	);
	expect(textOf(await readTool.run({ path: "a.txt", offset: 3 }, context))).toBe("last\n");
});

test("a path with a leading @ is found", async () => {
	expect(textOf(await readTool.run({ path: "@a.txt" }, await fileWith("hi\n")))).toBe("hi\n");
});
