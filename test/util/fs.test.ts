import { execFileSync } from "node:child_process";
import {
	chmodSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	readlinkSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { PiError } from "../../src/errors.js";
import {
	atomicWriteFile,
	ensurePrivateDir,
	isNotFound,
	isSameFile,
	readRegularFile,
	readRegularFileSync,
	usablePrivateDir,
} from "../../src/util/fs.js";

function tempDir(): string {
	const dir = mkdtempSync(join(tmpdir(), "pi-fs-"));
	onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
	return dir;
}

function withUmask(mask: number): void {
	const before = process.umask(mask);
	onTestFinished(() => void process.umask(before));
}

const mode = (path: string) => statSync(path).mode & 0o7777;

const readers = [
	["async", readRegularFile],
	["sync", async (...args: Parameters<typeof readRegularFileSync>) => readRegularFileSync(...args)],
] as const;

test("an atomic write of pieces joins them, and changes nothing when they fail", async () => {
	const path = join(tempDir(), "a");
	await atomicWriteFile(path, Readable.from(["one ", "two"]));
	expect(readFileSync(path, "utf8")).toBe("one two");
	async function* failing(): AsyncGenerator<string> {
		yield "three";
		throw new Error("no more");
	}
	await expect(atomicWriteFile(path, failing())).rejects.toThrow("no more");
	expect(readFileSync(path, "utf8")).toBe("one two");
	expect(readdirSync(dirname(path))).toEqual(["a"]);
});

test("an atomic write creates and replaces a file and leaves no other file", async () => {
	const dir = tempDir();
	await atomicWriteFile(join(dir, "a"), "one");
	await atomicWriteFile(join(dir, "a"), new Uint8Array([0, 255, 10]));
	expect(readdirSync(dir)).toEqual(["a"]);
	expect([...readFileSync(join(dir, "a"))]).toEqual([0, 255, 10]);
});

test("an atomic write keeps the mode of the file, or sets the given one", async () => {
	const dir = tempDir();
	withUmask(0o077);
	writeFileSync(join(dir, "script"), "");
	chmodSync(join(dir, "script"), 0o755);
	await atomicWriteFile(join(dir, "script"), "new");
	expect(mode(join(dir, "script"))).toBe(0o755);
	process.umask(0);
	await atomicWriteFile(join(dir, "secret"), "x", { mode: 0o600 });
	expect(mode(join(dir, "secret"))).toBe(0o600);
	process.umask(0o077);
	await atomicWriteFile(join(dir, "open"), "x", { mode: 0o644 });
	expect(mode(join(dir, "open"))).toBe(0o644);
});

test("an atomic write resolves a link in a directory that is itself a link", async () => {
	const dir = tempDir();
	for (const name of ["real/deep", "outer"]) mkdirSync(join(dir, name), { recursive: true });
	symlinkSync("../real/deep", join(dir, "outer/linked"));
	symlinkSync("../target", join(dir, "real/deep/link"));
	await atomicWriteFile(join(dir, "outer/linked/link"), "through");
	expect(readFileSync(join(dir, "real/target"), "utf8")).toBe("through");
	expect(readdirSync(join(dir, "outer"))).toEqual(["linked"]);
});

test("an atomic write follows a symbolic link, even if its target does not exist", async () => {
	const dir = tempDir();
	mkdirSync(join(dir, "real"));
	symlinkSync("real/target", join(dir, "link"));
	await atomicWriteFile(join(dir, "link"), "first");
	await atomicWriteFile(join(dir, "link"), "second");
	expect(readlinkSync(join(dir, "link"))).toBe("real/target");
	expect(readFileSync(join(dir, "real/target"), "utf8")).toBe("second");
	symlinkSync("loop", join(dir, "loop"));
	await expect(atomicWriteFile(join(dir, "loop"), "x")).rejects.toMatchObject({ code: "file_unreadable" });
});

test("a failed atomic write leaves no temporary file", async () => {
	const dir = tempDir();
	mkdirSync(join(dir, "taken"));
	await expect(atomicWriteFile(join(dir, "taken"), "x")).rejects.toThrow("it is a directory");
	await expect(atomicWriteFile(join(dir, "missing", "a"), "x")).rejects.toMatchObject({ code: "ENOENT" });
	expect(readdirSync(dir)).toEqual(["taken"]);
});

test("a private directory and its new parents are accessible only by this user with any umask", () => {
	const dir = tempDir();
	withUmask(0o277);
	ensurePrivateDir(join(dir, "a/b/c"));
	expect([mode(join(dir, "a")), mode(join(dir, "a/b")), mode(join(dir, "a/b/c"))]).toEqual([0o700, 0o700, 0o700]);
	chmodSync(join(dir, "a"), 0o755);
	ensurePrivateDir(join(dir, "a"));
	expect(mode(join(dir, "a"))).toBe(0o755);
});

test("ensurePrivateDir names what is not a directory", () => {
	expect(() => ensurePrivateDir("/dev/null")).toThrow("/dev/null is a device, not a directory");
});

test.each(readers)("a regular file (%s) is read completely, up to the limit", async (_, read) => {
	const dir = tempDir();
	writeFileSync(join(dir, "five"), "12345");
	expect((await read(join(dir, "five"), { maxBytes: 5 })).toString()).toBe("12345");
	writeFileSync(join(dir, "empty"), "");
	expect((await read(join(dir, "empty"))).length).toBe(0);
	await expect(read(join(dir, "five"), { maxBytes: 4 })).rejects.toMatchObject({
		code: "file_unreadable",
		message: expect.stringContaining("5 bytes is more than the limit of 4"),
	});
});

test.each(readers)("isNotFound detects a missing file (%s)", async (_, read) => {
	const dir = tempDir();
	const failure = await read(join(dir, "none")).catch((error: unknown) => error);
	expect(failure).toBeInstanceOf(PiError);
	expect(isNotFound(failure)).toBe(true);
	expect(isNotFound(new Error("other"))).toBe(false);
});

test.skipIf(process.platform === "win32").each(readers)(
	"FIFOs, sockets, devices and directories (%s) are refused by name without blocking",
	async (_, read) => {
		const dir = tempDir();
		execFileSync("mkfifo", [join(dir, "fifo")]);
		const server = createServer().listen(join(dir, "socket"));
		await new Promise((done) => server.once("listening", done));
		onTestFinished(() => void server.close());
		await expect(read(join(dir, "fifo"))).rejects.toThrow("it is a FIFO");
		await expect(read("/dev/zero")).rejects.toThrow("it is a device");
		await expect(read(dir)).rejects.toThrow("it is a directory");
		await expect(read(join(dir, "socket"))).rejects.toThrow("it is a socket");
	},
);

test.skipIf(!existsSync("/proc/self/status")).each(readers)(
	"a file that reports size 0 but has contents (%s) is read to its end",
	async (_, read) => {
		expect((await read("/proc/self/status")).toString()).toContain("Name:");
		await expect(read("/proc/self/status", { maxBytes: 10 })).rejects.toMatchObject({ code: "file_unreadable" });
	},
);

test("a private directory that cannot be used is replaced by a temporary one", () => {
	const dir = tempDir();
	expect(usablePrivateDir(join(dir, "new", "tmp"))).toBe(join(dir, "new", "tmp"));
	writeFileSync(join(dir, "file"), "in the way");
	const other = usablePrivateDir(join(dir, "file", "tmp"));
	onTestFinished(() => rmSync(other, { recursive: true }));
	expect(other.startsWith(dir)).toBe(false);
	expect(statSync(other).mode & 0o777).toBe(0o700);
});

test("paths of the same file are the same, also through links", () => {
	const dir = tempDir();
	writeFileSync(join(dir, "a"), "");
	symlinkSync(join(dir, "a"), join(dir, "link"));
	expect(isSameFile(join(dir, "a"), join(dir, "link"))).toBe(true);
	expect(isSameFile(join(dir, "none"), `${dir}/./none`)).toBe(true);
	expect(isSameFile(join(dir, "none"), join(dir, "other"))).toBe(false);
});
