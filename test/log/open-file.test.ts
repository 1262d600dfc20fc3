import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { isForbidden, realPath, unopened } from "../../src/log/open-error.js";
import { OpenFile, withFile } from "../../src/log/open-file.js";
import { fileWith, tempDir } from "./support.js";

const failure = (code: string) => Object.assign(new Error(`${code}: failed`), { code });

test("bytes are read at any offset, and reading beyond the end fails", () => {
	const file = OpenFile.open(fileWith("0123456789"), false);
	const bytes = Buffer.alloc(4);
	file.read(bytes, 3);
	expect(bytes.toString()).toBe("3456");
	expect([file.readSome(bytes, 8), bytes.toString("utf8", 0, 2)]).toEqual([2, "89"]);
	expect(() => file.read(bytes, 7)).toThrow("the file ends too early");
	expect(file.stats().size).toBe(10);
	file.close();
	file.close();
	for (const use of [() => file.stats(), () => file.read(bytes, 0), () => file.sync()]) {
		expect(use).toThrow("the file is closed");
	}
});

test("bytes are appended, and a file that was opened for reading refuses them", () => {
	const path = fileWith("a");
	const file = OpenFile.open(path, true);
	const written: number[] = [];
	file.append(Buffer.from("bcd"), (count) => void written.push(count));
	expect([readFileSync(path, "utf8"), written, file.canAppend]).toEqual(["abcd", [3], true]);
	file.close();
	const reader = OpenFile.open(path, false);
	expect(reader.canAppend).toBe(false);
	expect(() => reader.append(Buffer.from("x"), () => {})).toThrow(expect.objectContaining({ code: "EBADF" }));
	reader.close();
	expect(readFileSync(path, "utf8")).toBe("abcd");
});

test("a file that is closed during a sync is closed after it", async () => {
	const file = OpenFile.open(fileWith("a"), true);
	const syncs = [file.sync(), file.sync()];
	file.close();
	expect(() => file.stats()).toThrow("the file is closed");
	await Promise.all(syncs);
	expect(() => file.close()).not.toThrow();
	const other = OpenFile.open(fileWith("b"), true);
	await other.sync();
	expect(other.stats().size).toBe(1);
	other.close();
});

test("a file appears with its complete contents, private, and the old one is kept under another name", () => {
	const path = fileWith("old");
	const file = OpenFile.create(path, [Buffer.from("new "), Buffer.from("text")]);
	expect([readFileSync(path, "utf8"), statSync(path).mode & 0o777, file.canAppend]).toEqual(["new text", 0o600, true]);
	expect(file.replaced).toMatch(/\.replaced-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/);
	expect(readFileSync(file.replaced ?? "", "utf8")).toBe("old");
	file.close();
	const again = OpenFile.create(path, [Buffer.from("newer")], { replaces: true });
	expect([again.replaced, readFileSync(path, "utf8")]).toEqual([null, "newer"]);
	again.close();
	expect(readdirSync(dirname(path))).toHaveLength(2);
	const first = OpenFile.create(join(tempDir(), "dir", "first"), []);
	expect(first.replaced).toBeNull();
	first.close();
});

test("contents that fail leave the old file and no temporary one", () => {
	const path = fileWith("old");
	function* failing(): Generator<Uint8Array> {
		yield Buffer.from("half");
		throw new Error("no more");
	}
	expect(() => OpenFile.create(path, failing())).toThrow("no more");
	expect(readFileSync(path, "utf8")).toBe("old");
	expect(readdirSync(dirname(path))).toEqual([basename(path)]);
});

test("a file is read and closed, and one that cannot be read gives nothing", () => {
	const path = fileWith("text");
	let used: OpenFile | undefined;
	const read = (file: OpenFile) => {
		used = file;
		expect(file.canAppend).toBe(false);
		return file.stats().size;
	};
	expect(withFile(path, read)).toBe(4);
	expect(() => used?.stats()).toThrow("the file is closed");
	expect(withFile(join(dirname(path), "missing"), read)).toBeUndefined();
	const throws = (file: OpenFile) => {
		used = file;
		throw new Error("bad");
	};
	expect(withFile(path, throws)).toBeUndefined();
	expect(() => used?.stats()).toThrow("the file is closed");
});

test.each([
	["ENOENT", "log_not_found", "There is no session file /s"],
	["ENOTDIR", "log_not_found", "There is no session file /s"],
	["EISDIR", "log_not_a_session", "/s is not a session: it is a directory"],
	["ENXIO", "log_not_a_session", "/s is not a session: it is a socket or device"],
	["EACCES", "file_unreadable", "Cannot read the session /s"],
])("%s on opening is %s", (errno, code, message) => {
	const cause = failure(errno);
	const error = unopened("/s", cause);
	expect([error.code, error.message]).toEqual([code, message]);
	if (code !== "log_not_a_session") expect(error.cause).toBe(cause);
});

test("a missing file has no real path", () => {
	const path = join(tempDir(), "missing");
	expect(() => realPath(path)).toThrow(expect.objectContaining({ code: "log_not_found" }));
	writeFileSync(path, "");
	expect([realPath(path), existsSync(path)]).toEqual([path, true]);
});

test("what is not permitted or read-only is forbidden, other failures are not", () => {
	expect(["EACCES", "EPERM", "EROFS", "ENOSPC", "EIO"].map((code) => isForbidden(failure(code)))).toEqual([
		true,
		true,
		true,
		false,
		false,
	]);
	expect([isForbidden(new Error("x")), isForbidden(undefined)]).toEqual([false, false]);
});
