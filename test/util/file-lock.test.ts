import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { acquireLock, isLocked, lockOwner, lockPath, withFileLock } from "../../src/util/file-lock.js";
import { fileWith, HEADER, startProcess, tempDir } from "../log/support.js";

const holder = (path: string) => `
	const { acquireLock } = await load("../util/file-lock.ts");
	try {
		acquireLock(${JSON.stringify(path)});
		console.log("held");
	} catch (error) {
		console.log(error.code, error.message);
	}
	setInterval(() => {}, 1000);
`;

test("a lock names its owner, excludes other processes and is deleted on release", () => {
	const path = fileWith(HEADER);
	expect(isLocked(path)).toBe(false);
	const lock = acquireLock(path);
	expect(lockOwner(path)).toEqual({
		pid: process.pid,
		startTime: process.platform === "linux" ? expect.any(Number) : null,
		bootId: process.platform === "linux" ? expect.any(String) : null,
		host: hostname(),
	});
	expect(() => acquireLock(path)).toThrow(
		expect.objectContaining({
			code: "log_locked",
			message: `Session ${path} is in use by this process (${process.pid})`,
		}),
	);
	lock.release();
	lock.release();
	expect(existsSync(lockPath(path))).toBe(false);
	acquireLock(path).release();
});

test("a running process keeps its lock; the lock is free after the process is killed", async () => {
	const path = fileWith(HEADER);
	const { child, nextLine } = startProcess(holder(path));
	expect(await nextLine()).toBe("held");
	expect(isLocked(path)).toBe(true);
	expect(() => acquireLock(path)).toThrow(
		expect.objectContaining({ code: "log_locked", message: `Session ${path} is in use by process ${child.pid}` }),
	);
	child.kill("SIGKILL");
	await once(child, "exit");
	expect(isLocked(path)).toBe(false);
	const lock = acquireLock(path);
	expect(lockOwner(path)?.pid).toBe(process.pid);

	const other = startProcess(holder(path));
	expect(await other.nextLine()).toContain(`log_locked Session ${path} is in use by process ${process.pid}`);
	lock.release();
});

const self = { pid: process.pid, startTime: null, bootId: null, host: hostname() };

test.each([
	["of a process with our id and another start time", { ...self, startTime: 1 }, process.platform === "linux"],
	["of another boot", { ...self, bootId: "other" }, process.platform === "linux"],
	["of a process that has ended", { ...self, pid: 4_194_303 }, true],
	["without a valid process id", { ...self, pid: -1 }, true],
	["that is damaged", "{", true],
	["that is empty", "", true],
	["of another program", { hello: 1 }, true],
])("a lock %s is taken over", (_, record, isKnowable) => {
	if (!isKnowable) return;
	const path = fileWith(HEADER);
	writeFileSync(lockPath(path), typeof record === "string" ? record : JSON.stringify(record));
	expect(isLocked(path)).toBe(false);
	const lock = acquireLock(path);
	expect(lockOwner(path)?.pid).toBe(process.pid);
	lock.release();
	expect(existsSync(lockPath(path))).toBe(false);
});

test.each([
	["of another machine", { ...self, host: "elsewhere", pid: 4_194_303 }],
	["without a start time", self],
])("a lock %s is respected", (_, record) => {
	const path = fileWith(HEADER);
	writeFileSync(lockPath(path), JSON.stringify(record));
	expect(() => acquireLock(path)).toThrow(expect.objectContaining({ code: "log_locked" }));
	expect(JSON.parse(readFileSync(lockPath(path), "utf8"))).toEqual(record);
});

test("release keeps a lock that another process has taken meanwhile", () => {
	const path = fileWith(HEADER);
	const lock = acquireLock(path);
	writeFileSync(lockPath(path), JSON.stringify({ ...self, host: "elsewhere" }));
	lock.release();
	expect(existsSync(lockPath(path))).toBe(true);
});

test("a settings file is locked while it is changed, and no lock file remains", async () => {
	const dir = tempDir();
	const path = join(dir, "deep", "a.json");
	const order: string[] = [];
	const work = (name: string) => async () => {
		order.push(`${name} begins`);
		expect(lockOwner(path)?.pid).toBe(process.pid);
		await new Promise((done) => setImmediate(done));
		order.push(`${name} ends`);
	};
	await Promise.all([withFileLock(path, work("one")), withFileLock(path, work("two"))]);
	expect(order).toEqual(["one begins", "one ends", "two begins", "two ends"]);
	await expect(withFileLock(path, () => Promise.reject(new Error("mine")))).rejects.toThrow("mine");
	expect(readdirSync(join(dir, "deep"))).toEqual([]);
});

test("the lock of a settings file is taken over within a second after its holder was killed", async () => {
	const path = join(tempDir(), "a.json");
	const { child, nextLine } = startProcess(`
		const { withFileLock } = await load("../util/file-lock.ts");
		await withFileLock(${JSON.stringify(path)}, () => {
			console.log("held");
			setInterval(() => {}, 60_000);
			return new Promise(() => {});
		});
	`);
	expect(await nextLine()).toBe("held");
	await expect(withFileLock(path, async () => {}, 60)).rejects.toMatchObject({
		code: "config_write_failed",
		message: `Cannot change ${path}: another process holds ${path}.lock`,
	});
	child.kill("SIGKILL");
	await once(child, "exit");
	expect(await withFileLock(path, async () => lockOwner(path)?.pid, 1000)).toBe(process.pid);
});

test("the lock of a running process is respected even if the record has no host", async () => {
	const path = join(tempDir(), "a.json");
	const record = { pid: process.ppid, id: "alive" };
	writeFileSync(lockPath(path), JSON.stringify(record));
	await expect(withFileLock(path, async () => {}, 60)).rejects.toMatchObject({ code: "config_write_failed" });
	expect(JSON.parse(readFileSync(lockPath(path), "utf8"))).toEqual(record);
});

test("an old lock on a settings file is taken over; one on a session is not", async () => {
	const path = join(tempDir(), "a.json");
	writeFileSync(lockPath(path), JSON.stringify({ ...self, host: "elsewhere" }));
	const before = new Date(Date.now() - 180_000);
	utimesSync(lockPath(path), before, before);
	expect(() => acquireLock(path)).toThrow(expect.objectContaining({ code: "log_locked" }));
	expect(await withFileLock(path, async () => "changed", 60)).toBe("changed");
	expect(existsSync(lockPath(path))).toBe(false);
});
