import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import {
	composePrompt,
	loadFileArguments,
	pipedSource,
	readPipedText,
	textOrFile,
} from "../../src/cli/prompt-input.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

describe("composePrompt", () => {
	const image = { type: "image" as const, mimeType: "image/png", data: "x" };

	test.each([
		["nothing", { messages: [] }, { rest: [] }],
		["one message", { messages: ["a"] }, { first: { text: "a", images: [] }, rest: [] }],
		["several messages", { messages: ["a", "b", "c"] }, { first: { text: "a", images: [] }, rest: ["b", "c"] }],
		["only what was piped in", { stdin: "log\n", messages: [] }, { first: { text: "log", images: [] }, rest: [] }],
		[
			"all of it, in order",
			{ stdin: "log\n", files: { text: "<file/>", images: [image] }, messages: ["why?"] },
			{ first: { text: "log\n\n<file/>\n\nwhy?", images: [image] }, rest: [] },
		],
		["nothing but blanks", { stdin: " \n", messages: [""] }, { rest: [] }],
	])("%s", (_name, parts, expected) => {
		expect(composePrompt(parts)).toEqual(expected);
	});
});

describe("@file arguments", () => {
	test("text files become file blocks, image files become images", async () => {
		const cwd = tempDir();
		writeFiles(cwd, { "a.ts": "let a;", "b.md": "\ufeff# b\n" });
		writeFileSync(join(cwd, "c.png"), PNG);
		expect(await loadFileArguments(["a.ts", "~/b.md", "c.png"], { cwd, home: cwd })).toEqual({
			text: `<file name="${cwd}/a.ts">\nlet a;\n</file>\n<file name="${cwd}/b.md">\n# b\n</file>\n<file name="${cwd}/c.png">(image)</file>`,
			images: [{ type: "image", mimeType: "image/png", data: PNG.toString("base64"), path: `${cwd}/c.png` }],
		});
	});

	test.each([
		["a missing file", "no.txt", "Cannot read @no.txt: no such file"],
		["a path below a file", "x.bin/y", "Cannot read @x.bin/y: no such file"],
		["a directory", "dir", "Cannot read @dir: it is a directory"],
		["a loop of links", "loop", "Cannot read @loop: its links form a loop"],
		["a binary file", "x.bin", "Cannot attach @x.bin: it is a binary file, not text or a supported image"],
	])("%s is a usage error that names the file", async (_name, file, message) => {
		const cwd = tempDir();
		writeFiles(cwd, { "dir/x": "" });
		writeFileSync(join(cwd, "x.bin"), Buffer.from([1, 0, 2, 0, 3]));
		symlinkSync("loop", join(cwd, "loop"));
		await expect(loadFileArguments([file], { cwd, home: cwd })).rejects.toMatchObject({
			code: "bad_arguments",
			message,
		});
	});
});

describe("a FIFO, such as that of a process substitution,", () => {
	/** A FIFO into which a command writes. */
	function fifo(command: string) {
		const cwd = tempDir();
		execFileSync("mkfifo", [join(cwd, "fifo")]);
		const child = spawn("/bin/sh", ["-c", `(${command}) > fifo`], { cwd, stdio: "ignore" });
		onTestFinished(() => void child.kill());
		return { cwd, home: cwd };
	}

	test("is read to its end as an @file and as an option", async () => {
		const base = fifo("echo one; sleep 0.1; echo two");
		const text = `<file name="${base.cwd}/fifo">\none\ntwo\n</file>`;
		expect(await loadFileArguments(["fifo"], base)).toEqual({ text, images: [] });
		expect(await textOrFile("fifo", fifo("printf text"))).toBe("text");
	});

	test("is refused when it sends more than 10 MB", async () => {
		await expect(loadFileArguments(["fifo"], fifo("yes"))).rejects.toMatchObject({
			code: "bad_arguments",
			message: "@fifo is larger than 10 MB",
		});
	});
});

test("an option that accepts a text or a file reads the file if it exists", async () => {
	const cwd = tempDir();
	writeFiles(cwd, { "prompt.md": "Be kind.", "dir/x": "" });
	const base = { cwd, home: cwd };
	expect(await textOrFile("prompt.md", base)).toBe("Be kind.");
	expect(await textOrFile("dir", base)).toBe("dir");
	expect(await textOrFile("Be brief.\nAlways.", base)).toBe("Be brief.\nAlways.");
	expect(await textOrFile("/nowhere is a path.\nAlways.", base)).toBe("/nowhere is a path.\nAlways.");
});

describe("piped text", () => {
	test("is read to its end, even in chunks that split characters", async () => {
		const stream = new PassThrough();
		const text = readPipedText(stream);
		const bytes = Buffer.from("grün\n");
		stream.write(bytes.subarray(0, 3));
		stream.end(bytes.subarray(3));
		expect(await text).toBe("grün\n");
	});

	test("loses escape sequences and control characters, and may be UTF-16", async () => {
		const read = (bytes: Buffer) => {
			const stream = new PassThrough();
			stream.end(bytes);
			return readPipedText(stream);
		};
		expect(await read(Buffer.from("\x1b[31mred\x1b[0m\r\nbell\x07\tend"))).toBe("red\nbell\tend");
		expect(await read(Buffer.from("\ufeffgrün", "utf16le"))).toBe("grün");
		await expect(read(Buffer.from("a\0b"))).rejects.toThrow("Cannot read stdin: it is a binary file, not text");
	});

	test("is empty when the writer closes without sending anything", async () => {
		const stream = new PassThrough();
		stream.end();
		expect(await readPipedText(stream, { silenceMs: 60_000 })).toBe("");
	});

	test("that arrives while the process is busy for longer than the wait is not missed", async () => {
		const { stdout } = spawn("sh", ["-c", "sleep 0.05; echo hi"], { stdio: ["ignore", "pipe", "ignore"] });
		const text = readPipedText(stdout, { silenceMs: 100 });
		Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
		expect(await text).toBe("hi\n");
	});

	test("is ignored when the pipe stays open and silent", async () => {
		const stream = new PassThrough();
		expect(await readPipedText(stream, { silenceMs: 20 })).toBeNull();
		expect(stream.destroyed).toBe(true);
	});

	test("is read to its end once the first byte has arrived", async () => {
		const stream = new PassThrough();
		stream.write("a");
		const text = readPipedText(stream, { silenceMs: 0 });
		await setImmediate();
		stream.end("b");
		expect(await text).toBe("ab");
	});

	test("is not awaited after an abort", async () => {
		const abort = new AbortController();
		const text = readPipedText(new PassThrough(), { signal: abort.signal });
		abort.abort(new Error("stopped"));
		await expect(text).rejects.toThrow("stopped");
	});

	test("is rejected when it exceeds the limit", async () => {
		const stream = new PassThrough();
		const text = readPipedText(stream);
		for (let count = 0; count < 11; count++) stream.write(Buffer.alloc(1024 * 1024, "x"));
		await expect(text).rejects.toMatchObject({
			code: "bad_arguments",
			message: "Text from stdin is larger than 10 MB",
		});
	});

	test("is read from pipes and files, not from devices or closed descriptors", async () => {
		const file = openSync(join(tempDir(), "f"), "w");
		const device = openSync("/dev/null", "r");
		onTestFinished(() => closeSync(device));
		expect([pipedSource(file), pipedSource(device)]).toEqual(["file", null]);
		closeSync(file);
		const child = spawn("/bin/sh", ["-c", "cat"], { stdio: ["pipe", "pipe", "ignore"] });
		child.stdin.end();
		await once(child, "close");
		expect(pipedSource(9999)).toBeNull();
	});
});

test.each([
	["./none.md", "There is no file ./none.md"],
	["../none.md", "There is no file ../none.md"],
	["~/none.md", "There is no file ~/none.md"],
	["/none/at/all.md", "There is no file /none/at/all.md"],
	["./dir", "./dir is a directory"],
	["data.bin", "Cannot read data.bin: it is a binary file, not text"],
])("a text or file refuses %s", async (value, message) => {
	const base = { cwd: tempDir(), home: tempDir() };
	mkdirSync(join(base.cwd, "dir"));
	writeFileSync(join(base.cwd, "data.bin"), Buffer.from([0, 1, 2, 0, 255]));
	await expect(textOrFile(value, base)).rejects.toMatchObject({ code: "bad_arguments", message });
});
