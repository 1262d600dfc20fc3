import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { expect, test } from "vitest";
import { acquireLock, isLocked, lockOwner, lockPath } from "../../src/log/lock.js";
import { fileWith, HEADER, startProcess } from "./support.js";

const holder = (path: string) => `
	const { acquireLock } = await load("lock.ts");
	try {
		acquireLock(${JSON.stringify(path)});
		console.log("held");
	} catch (error) {
		console.log(error.code, error.message);
	}
	setInterval(() => {}, 1000);
`;

test("a lock names its owner, keeps others out and is gone when released", () => {
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

test("a process that runs keeps its lock; once it is killed the lock is free", async () => {
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
	["of a process with our number that began at another time", { ...self, startTime: 1 }, process.platform === "linux"],
	["of another boot", { ...self, bootId: "other" }, process.platform === "linux"],
	["of a process that is gone", { ...self, pid: 4_194_303 }, true],
	["that names no process", { ...self, pid: -1 }, true],
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
	["that does not say when its process began", self],
])("a lock %s is respected", (_, record) => {
	const path = fileWith(HEADER);
	writeFileSync(lockPath(path), JSON.stringify(record));
	expect(() => acquireLock(path)).toThrow(expect.objectContaining({ code: "log_locked" }));
	expect(JSON.parse(readFileSync(lockPath(path), "utf8"))).toEqual(record);
});

test("releasing leaves a lock alone that another process has taken meanwhile", () => {
	const path = fileWith(HEADER);
	const lock = acquireLock(path);
	writeFileSync(lockPath(path), JSON.stringify({ ...self, host: "elsewhere" }));
	lock.release();
	expect(existsSync(lockPath(path))).toBe(true);
});
