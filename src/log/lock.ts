import { closeSync, openSync, readFileSync, renameSync, unlinkSync, writeSync } from "node:fs";
import { hostname } from "node:os";
import { PiError } from "../errors.js";
import { errnoCode } from "../util/fs.js";
import { isRecord } from "./message-shape.js";

/** Who holds a lock, as its file says. */
export interface LockOwner {
	pid: number;
	/** Start of that process in clock ticks since boot; null where the system does not tell. */
	startTime: number | null;
	/** Null where the system does not tell. */
	bootId: string | null;
	host: string;
}

/** The right to write one file. */
export interface Lock {
	/** Gives it up. Does nothing when the lock file is no longer this lock's. */
	release(): void;
}

const MAX_ATTEMPTS = 20;
/** How long a lock file may be empty: the moment between its creation and the write of its owner. */
const EMPTY_WAIT_MS = 10;

/** Path of the lock of a session file. */
export function lockPath(file: string): string {
	return `${file}.lock`;
}

/**
 * Takes the lock of a file: `<file>.lock`, made with O_EXCL, naming its owner. The lock of an owner that no longer
 * runs is taken over at once.
 * @throws PiError `log_locked` naming the owner that runs; the system's error when no lock file can be made
 */
export function acquireLock(file: string): Lock {
	const path = lockPath(file);
	const record = JSON.stringify(thisProcess());
	let isCreated = false;
	for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
		isCreated = create(path, record) || isCreated;
		const held = read(path);
		// Looked at again: a process that was slow to write its record may have lost the empty file to another meanwhile.
		if (isCreated && held === record) return { release: () => removeIf(path, record) };
		if (held === undefined) continue;
		const owner = parseOwner(held);
		if (owner ? isAlive(owner) : held === "" && attempt < MAX_ATTEMPTS / 2) {
			if (owner) throw locked(file, path, owner);
			pause(EMPTY_WAIT_MS);
			continue;
		}
		removeIf(path, held);
	}
	throw new PiError("log_locked", `Cannot lock ${file}: ${path} keeps changing`, { hint: "try again" });
}

/** True while a process that runs holds the lock of a file, this process included. */
export function isLocked(file: string): boolean {
	return lockOwner(file) !== undefined;
}

/** The running process that holds the lock of a file; undefined when it is free. */
export function lockOwner(file: string): LockOwner | undefined {
	const held = read(lockPath(file));
	const owner = held === undefined ? undefined : parseOwner(held);
	return owner && isAlive(owner) ? owner : undefined;
}

function create(path: string, record: string): boolean {
	let descriptor: number;
	try {
		descriptor = openSync(path, "wx", 0o600);
	} catch (error) {
		if (errnoCode(error) === "EEXIST") return false;
		throw error;
	}
	try {
		writeSync(descriptor, record);
	} catch (error) {
		remove(path);
		throw error;
	} finally {
		closeSync(descriptor);
	}
	return true;
}

/**
 * Removes the lock file if it still holds `record`. It is moved away first: that succeeds for one process only, and
 * what was moved is looked at before it goes, so that a lock taken meanwhile by another is put back.
 */
function removeIf(path: string, record: string): void {
	if (read(path) !== record) return;
	const aside = `${path}.${process.pid}`;
	try {
		renameSync(path, aside);
	} catch {
		return; // another process was faster
	}
	if (read(aside) === record) remove(aside);
	else renameSync(aside, path);
}

function remove(path: string): void {
	try {
		unlinkSync(path);
	} catch {
		// Gone already, or the directory is read-only: then the next to come finds the owner dead.
	}
}

function read(path: string): string | undefined {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return undefined;
	}
}

function parseOwner(text: string): LockOwner | undefined {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		return undefined;
	}
	if (!isRecord(value) || typeof value.pid !== "number" || typeof value.host !== "string") return undefined;
	return {
		pid: value.pid,
		startTime: typeof value.startTime === "number" ? value.startTime : null,
		bootId: typeof value.bootId === "string" ? value.bootId : null,
		host: value.host,
	};
}

function isAlive(owner: LockOwner): boolean {
	const self = thisProcess();
	if (owner.host !== self.host) return true; // it cannot be looked at from here
	if (owner.bootId !== null && self.bootId !== null && owner.bootId !== self.bootId) return false;
	if (!pidExists(owner.pid)) return false;
	const startTime = startTimeOf(owner.pid);
	return owner.startTime === null || startTime === null || owner.startTime === startTime;
}

function pidExists(pid: number): boolean {
	if (!Number.isSafeInteger(pid) || pid <= 0) return false;
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return errnoCode(error) === "EPERM";
	}
}

let self: LockOwner | undefined;

function thisProcess(): LockOwner {
	self ??= { pid: process.pid, startTime: startTimeOf(process.pid), bootId: bootId(), host: hostname() };
	return self;
}

/** Field 22 of /proc/PID/stat, counted from behind the command name, which may hold spaces and parentheses. */
function startTimeOf(pid: number): number | null {
	const stat = read(`/proc/${pid}/stat`);
	const ticks = Number(stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19]);
	return stat !== undefined && Number.isSafeInteger(ticks) ? ticks : null;
}

function bootId(): string | null {
	return read("/proc/sys/kernel/random/boot_id")?.trim() || null;
}

function locked(file: string, path: string, owner: LockOwner): PiError {
	if (owner.host !== thisProcess().host) {
		return new PiError("log_locked", `Session ${file} is in use by process ${owner.pid} on ${owner.host}`, {
			hint: `if that is no longer so, delete ${path}`,
		});
	}
	const who = owner.pid === process.pid ? `this process (${owner.pid})` : `process ${owner.pid}`;
	return new PiError("log_locked", `Session ${file} is in use by ${who}`, {
		hint: "end that process, or branch from the session",
	});
}

function pause(milliseconds: number): void {
	Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
