import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { tempDir } from "../helpers/temp.js";

const CODE_CACHE = fileURLToPath(new URL("../../bin/code-cache.cjs", import.meta.url));
const DAY_MS = 24 * 3600 * 1000;

/** A bundle of two files, one with a hash in its name, and an empty cache. */
function createBundle(code = "exports.answer = () => [1, 2, 3].map((n) => n * 14).join();") {
	const directory = tempDir();
	const [bundle, cache] = [join(directory, "dist"), join(directory, "cache")];
	mkdirSync(bundle);
	mkdirSync(cache);
	writeFileSync(join(bundle, "part.0a-_Bz9Z.cjs"), code);
	writeFileSync(join(bundle, "main.cjs"), 'console.log(require("./part.0a-_Bz9Z.cjs").answer());');
	return { bundle, cache };
}

/** Runs the bundle in a process of its own, as pi does. */
function run({ bundle, cache }: { bundle: string; cache: string }, ...nodeOptions: string[]) {
	const start = `require(${JSON.stringify(CODE_CACHE)}).useCodeCache(${JSON.stringify(bundle)}, ${JSON.stringify(cache)});
		require(${JSON.stringify(join(bundle, "main.cjs"))});`;
	const { stdout, stderr, status } = spawnSync(process.execPath, [...nodeOptions, "-e", start], {
		encoding: "utf8",
		env: { PATH: process.env.PATH },
	});
	return { stdout, stderr, status };
}

const GOOD = { stdout: "14,28,42\n", stderr: "", status: 0 };

/** The files of a cache, with what changes when one is written again. */
function written(cache: string): Record<string, number> {
	const directory = join(cache, `${process.version}-${process.arch}`);
	return Object.fromEntries(readdirSync(directory).map((name) => [name, statSync(join(directory, name)).ino]));
}

function cachedFile(cache: string): string {
	return join(cache, `${process.version}-${process.arch}`, "part.0a-_Bz9Z.bin");
}

test("compiled code of files with a hash in their names is written once, for the user only, and used from then on", () => {
	const files = createBundle();
	expect(run(files)).toEqual(GOOD);
	const first = written(files.cache);
	expect(Object.keys(first)).toEqual(["part.0a-_Bz9Z.bin"]);
	expect(statSync(cachedFile(files.cache)).mode & 0o777).toBe(0o600);
	expect(run(files)).toEqual(GOOD);
	expect(written(files.cache)).toEqual(first);
});

test("damaged files are replaced, and never run", { timeout: 60_000 }, () => {
	const files = createBundle();
	run(files);
	const file = cachedFile(files.cache);
	const good = readFileSync(file);
	const flipped = Array.from({ length: 12 }, (_, part) => {
		const bytes = Buffer.from(good);
		const at = Math.floor((part * good.length) / 12);
		bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << (part % 8)), at);
		return bytes;
	});
	for (const bytes of [
		...flipped,
		good.subarray(0, 40),
		good.subarray(0, 3),
		Buffer.alloc(0),
		Buffer.alloc(good.length),
	]) {
		writeFileSync(file, bytes);
		const before = written(files.cache);
		expect(run(files)).toEqual(GOOD);
		expect(written(files.cache)).not.toEqual(before);
	}
});

test("code that V8 compiled with other options is replaced", () => {
	const files = createBundle();
	run(files);
	const first = written(files.cache);
	expect(run(files, "--no-opt")).toEqual(GOOD);
	expect(written(files.cache)).not.toEqual(first);
});

test("cached code can import modules, read its own path and name its file in errors", () => {
	const code = `exports.answer = () => new Error("x").stack.split("\\n")[1];
		console.log(__filename.endsWith("Z.cjs"), module.exports === exports);
		require("./import.cjs").load("node:path").then(({ sep }) => console.log(sep));`;
	const files = createBundle(code);
	writeFileSync(join(files.bundle, "import.cjs"), readFileSync(join(CODE_CACHE, "../import.cjs")));
	const column = code.indexOf("new Error") + 1;
	const stdout = `true true\n    at exports.answer (${files.bundle}/part.0a-_Bz9Z.cjs:1:${column})\n/\n`;
	expect(run(files)).toEqual({ ...GOOD, stdout });
	expect(run(files)).toEqual({ ...GOOD, stdout });
});

test("code with letters of any alphabet is read as it is", () => {
	const files = createBundle('exports.answer = () => "ä·€😀";');
	for (let start = 0; start < 2; start++) expect(run(files)).toEqual({ ...GOOD, stdout: "ä·€😀\n" });
});

test("a directory that cannot be written to costs only time", () => {
	const files = createBundle();
	writeFileSync(join(files.cache, `${process.version}-${process.arch}`), "");
	expect(run(files)).toEqual(GOOD);
});

test("files of other builds are deleted after a month, when new ones are written", () => {
	const files = createBundle();
	run(files);
	const directory = join(files.cache, `${process.version}-${process.arch}`);
	for (const [name, days] of [
		["old.aaaaaaaa.bin", 31],
		["recent.bbbbbbbb.bin", 29],
	] as const) {
		writeFileSync(join(directory, name), "");
		const time = new Date(Date.now() - days * DAY_MS);
		utimesSync(join(directory, name), time, time);
	}
	run(files);
	expect(Object.keys(written(files.cache))).toContain("old.aaaaaaaa.bin");
	writeFileSync(cachedFile(files.cache), "");
	run(files);
	expect(Object.keys(written(files.cache)).sort()).toEqual(["part.0a-_Bz9Z.bin", "recent.bbbbbbbb.bin"]);
});

test("imports of Node's own modules have their members and a default", async () => {
	const { load } = createRequire(import.meta.url)("../../bin/import.cjs");
	const [ours, path] = [await load("node:path"), await import("node:path")];
	expect([ours.join, ours.default]).toEqual([path.join, path.default]);
	expect(await load("vitest")).toBe(await import("vitest"));
	await expect(load("node:missing")).rejects.toThrow("node:missing");
});
