import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { contentDigest, FileContents, fileContentsDir } from "../../src/log/file-contents.js";
import { tempDir } from "./support.js";

const bytes = (text: string) => Buffer.from(text);
const text = async (contents: FileContents, digest: string) =>
	Buffer.from((await contents.get(digest)) ?? []).toString();

describe.each(["in a directory", "in memory"])("contents %s", (place) => {
	const sessionFile = () => (place === "in memory" ? null : join(tempDir(), "a.jsonl"));

	test("are kept once by digest, and the oldest go when they exceed their limit", async () => {
		const contents = new FileContents(sessionFile(), 10);
		const first = await contents.put(bytes("1234"));
		expect(await contents.put(bytes("1234"))).toBe(first);
		const second = await contents.put(bytes("5678"));
		expect(await text(contents, first)).toBe("1234");
		const third = await contents.put(bytes("90ab"));
		expect(await contents.get(first)).toBeNull();
		expect(await text(contents, second)).toBe("5678");
		expect(await text(contents, third)).toBe("90ab");
	});

	test("larger than the limit are the only ones kept", async () => {
		const contents = new FileContents(sessionFile(), 3);
		const small = await contents.put(bytes("1"));
		const large = await contents.put(bytes("12345"));
		expect(await contents.get(small)).toBeNull();
		expect(await text(contents, large)).toBe("12345");
	});
});

test("the limit counts what an earlier process has kept, and a changed content is missing", async () => {
	const file = join(tempDir(), "a.jsonl");
	const kept = await new FileContents(file, 10).put(bytes("12345678"));
	writeFileSync(join(fileContentsDir(file), "notes.txt"), "not a content");
	const contents = new FileContents(file, 10);
	const next = await contents.put(bytes("abcd"));
	expect(await contents.get(kept)).toBeNull();
	expect(readdirSync(fileContentsDir(file)).sort()).toEqual([next, "notes.txt"].sort());
	writeFileSync(join(fileContentsDir(file), next), "changed");
	expect(await contents.get(next)).toBeNull();
	expect(await contents.get("../a.jsonl")).toBeNull();
	expect(contentDigest(bytes("abcd"))).toBe(next);
});

test("without a directory that can be written, contents are in memory", async () => {
	const blocked = join(tempDir(), "file");
	writeFileSync(blocked, "");
	const contents = new FileContents(join(blocked, "a.jsonl"));
	expect(await contents.get(await contents.put(bytes("x")))).toEqual(Uint8Array.from(bytes("x")));
});
