import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { readJsonObject, updateJsonFile } from "../../src/config/json-file.js";
import { tempDir } from "../helpers/temp.js";

const read = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));
const today = () => new Date().toISOString().slice(0, 10);

test("a missing file is null, an empty one is an empty object, and a byte order mark is allowed", () => {
	const dir = tempDir();
	const path = join(dir, "a.json");
	expect(readJsonObject(path)).toBeNull();
	writeFileSync(path, "\n");
	expect(readJsonObject(path)).toEqual({});
	writeFileSync(path, '\ufeff{"a": 1}');
	expect(readJsonObject(path)).toEqual({ a: 1 });
});

test("the error for invalid JSON contains file, line, column and reason", () => {
	const path = join(tempDir(), "a.json");
	writeFileSync(path, '{\n  "a": 1,\n}');
	expect(() => readJsonObject(path)).toThrow(
		expect.objectContaining({ code: "config_invalid", message: `${path}:3:1: a "," before "}" is not allowed` }),
	);
	writeFileSync(path, "[]");
	expect(() => readJsonObject(path)).toThrow(`${path}:1:1: expected an object in braces`);
});

test("a FIFO is rejected without blocking", async () => {
	const path = join(tempDir(), "a.json");
	await promisify(execFile)("mkfifo", [path]);
	expect(() => readJsonObject(path)).toThrow("it is a FIFO");
});

test("a change preserves other keys, makes the file private and leaves no lock or temporary file", async () => {
	const dir = tempDir();
	const path = join(dir, "a.json");
	writeFileSync(path, '{"other": [1], "a": 1}');
	await updateJsonFile(path, (current) => ({ ...current, a: 2 }));
	expect(read(path)).toEqual({ other: [1], a: 2 });
	expect(statSync(path).mode & 0o777).toBe(0o600);
	expect(readdirSync(dir)).toEqual(["a.json"]);
});

test("a file with invalid JSON is renamed, never overwritten", async () => {
	const dir = tempDir();
	const path = join(dir, "a.json");
	for (const [text, kept] of [
		["{broken", `${path}.bad-${today()}`],
		["{worse", `${path}.bad-${today()}-2`],
	] as const) {
		writeFileSync(path, text);
		expect(await updateJsonFile(path, () => ({ a: 1 }))).toEqual({ keptAside: kept });
		expect([readFileSync(kept, "utf8"), read(path)]).toEqual([text, { a: 1 }]);
	}
});

test("a file with invalid JSON stays where it is if nothing changes", async () => {
	const dir = tempDir();
	const path = join(dir, "a.json");
	writeFileSync(path, "{broken");
	expect(await updateJsonFile(path, () => null)).toEqual({});
	expect([readdirSync(dir), readFileSync(path, "utf8")]).toEqual([["a.json"], "{broken"]);
});

test("concurrent changes are all made", async () => {
	const path = join(tempDir(), "deep", "a.json");
	await Promise.all(
		Array.from({ length: 20 }, (_, index) => updateJsonFile(path, (current) => ({ ...current, [`k${index}`]: index }))),
	);
	expect(Object.keys(readJsonObject(path) ?? {})).toHaveLength(20);
});

test("the lock of a dead process is taken over", async () => {
	const dir = tempDir();
	const path = join(dir, "a.json");
	const { stdout } = await promisify(execFile)("/bin/sh", ["-c", "echo $$"]);
	writeFileSync(`${path}.lock`, JSON.stringify({ pid: Number(stdout), id: "dead" }));
	await updateJsonFile(path, () => ({ a: 1 }));
	expect(readdirSync(dir)).toEqual(["a.json"]);
});

test("a path that cannot be written fails with config_write_failed", async () => {
	const path = join(tempDir(), "a.json");
	mkdirSync(path);
	await expect(updateJsonFile(path, () => ({}))).rejects.toMatchObject({
		code: "config_write_failed",
		message: `Cannot write ${path}`,
	});
});
