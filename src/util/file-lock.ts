import { closeSync, openSync, readFileSync, renameSync, statSync, writeSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { PiError } from "../errors.js";
import { monotonicMs } from "./clock.js";
import { ensurePrivateDir, errnoCode, tryUnlink } from "./fs.js";
import { isRunning } from "./is-running.js";

/** The process that holds a lock, as recorded in the lock file. */
export interface LockOwner {
	pid: number;
	/** Start of that process in clock ticks since boot; null if unknown. */
	startTime: number | null;
	/** Null if unknown. */
	bootId: string | null;
	host: string;
}

/** The exclusive right to write a file. */
export interface Lock {
	/** Removes the lock file. A no-op if another process owns the lock file by now. */
	release(): void;
}

/** A lock, or the owner that prevents it; an owner of null means that the lock file keeps changing. */
type Attempt = { lock: Lock } | { lock: null; owner: LockOwner | null };

const MAX_ATTEMPTS = 20;
/** Delay before a retry if the lock file is empty, as it is between its creation and the write of its owner. */
const EMPTY_WAIT_MS = 10;
/** Delay between the attempts of `withFileLock`. */
const POLL_MS = 20;
/** `withFileLock` covers one write or one network request; an older lock is treated as abandoned. */
const STALE_MS = 120_000;

/** Path of the lock of a file. */
export function lockPath(file: string): string {
	return `${file}.lock`;
}

/**
 * Locks a session file until `release`: creates `<file>.lock` with O_EXCL and records the owner in it. A lock whose
 * owner no longer runs is taken over at once.
 * @throws PiError `log_locked` naming the running owner; the system's error if the lock file cannot be created
 */
export function acquireLock(file: string): Lock {
	const attempt = tryLock(file, Number.POSITIVE_INFINITY);
	if (attempt.lock) return attempt.lock;
	throw locked(file, attempt.owner);
}

/** The running process that holds the lock of a file, possibly this one; undefined if the file is not locked. */
export function lockOwner(file: string): LockOwner | undefined {
	const held = read(lockPath(file));
	const owner = held === undefined ? undefined : parseOwner(held);
	return owner && isAlive(owner) ? owner : undefined;
}

/** True while a running process holds the lock of a file, this process included. */
export function isLocked(file: string): boolean {
	return lockOwner(file) !== undefined;
}

/**
 * Runs `work` while holding the lock of a file, `<path>.lock`, waiting for other holders, this process included. Creates
 * the directory of the file.
 * @param waitMs maximum wait for the lock
 * @param staleMs age after which a lock counts as abandoned although its owner runs
 * @throws PiError `config_write_failed` if the lock is still held then, or cannot be created
 */
export async function withFileLock<T>(
	path: string,
	work: () => Promise<T>,
	waitMs = 10_000,
	staleMs = STALE_MS,
): Promise<T> {
	const deadline = monotonicMs() + waitMs;
	let lock = lockForChange(path, staleMs);
	while (lock === null) {
		if (monotonicMs() > deadline) {
			throw new PiError("config_write_failed", `Cannot change ${path}: another process holds ${lockPath(path)}`, {
				hint: "quit the other pi, or delete the lock file if no pi is running",
			});
		}
		await delay(POLL_MS * (0.5 + Math.random()));
		lock = lockForChange(path, staleMs);
	}
	try {
		return await work();
	} finally {
		lock.release();
	}
}

function lockForChange(path: string, staleMs: number): Lock | null {
	try {
		ensurePrivateDir(dirname(path));
		return tryLock(path, staleMs).lock;
	} catch (cause) {
		throw new PiError("config_write_failed", `Cannot change ${path}`, { cause });
	}
}

function tryLock(file: string, staleMs: number): Attempt {
	const path = lockPath(file);
	// The global, which Node loads at its first use: an import would load all of node:crypto before the first paint.
	const record = JSON.stringify({ ...thisProcess(), id: crypto.randomUUID() });
	let isCreated = false;
	for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
		isCreated = create(path, record) || isCreated;
		const held = read(path);
		// Checked again: a process that was slow to write its record may have lost the empty file to another process.
		if (isCreated && held === record) return { lock: { release: () => removeIf(path, record) } };
		if (held === undefined) continue;
		const owner = parseOwner(held);
		if (owner && isAlive(owner) && !isOlder(path, staleMs)) return { lock: null, owner };
		if (held === "" && attempt < MAX_ATTEMPTS / 2) pause(EMPTY_WAIT_MS);
		else removeIf(path, held);
	}
	return { lock: null, owner: null };
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
		tryUnlink(path);
		throw error;
	} finally {
		closeSync(descriptor);
	}
	return true;
}

/**
 * Removes the lock file if it still holds `record`. It is renamed first, which succeeds for one process only, and
 * checked again before it is deleted, so that a lock that another process has taken meanwhile is restored.
 */
function removeIf(path: string, record: string): void {
	if (read(path) !== record) return;
	const aside = `${path}.${process.pid}`;
	try {
		renameSync(path, aside);
	} catch {
		return; // another process was faster
	}
	// If this fails, the next process finds that the owner is dead.
	if (read(aside) === record) tryUnlink(aside);
	else renameSync(aside, path);
}

function read(path: string): string | undefined {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return undefined;
	}
}

function isOlder(path: string, ms: number): boolean {
	const stats = Number.isFinite(ms) ? statSync(path, { throwIfNoEntry: false }) : undefined;
	return stats !== undefined && Date.now() - stats.mtimeMs > ms;
}

/** @returns undefined for a record without a process id. A record without a host belongs to this host. */
function parseOwner(text: string): LockOwner | undefined {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		return undefined;
	}
	if (typeof value !== "object" || value === null) return undefined;
	const { pid, startTime, bootId, host }: Partial<Record<keyof LockOwner, unknown>> = value;
	if (typeof pid !== "number") return undefined;
	return {
		pid,
		startTime: typeof startTime === "number" ? startTime : null,
		bootId: typeof bootId === "string" ? bootId : null,
		host: typeof host === "string" ? host : thisProcess().host,
	};
}

function isAlive(owner: LockOwner): boolean {
	const self = thisProcess();
	if (owner.host !== self.host) return true; // processes of another machine cannot be checked from here
	if (owner.bootId !== null && self.bootId !== null && owner.bootId !== self.bootId) return false;
	if (!isRunning(owner.pid)) return false;
	const startTime = startTimeOf(owner.pid);
	return owner.startTime === null || startTime === null || owner.startTime === startTime;
}

let self: LockOwner | undefined;

function thisProcess(): LockOwner {
	self ??= { pid: process.pid, startTime: startTimeOf(process.pid), bootId: bootId(), host: hostname() };
	return self;
}

/** Field 22 of /proc/PID/stat, counted from after the command name, which may contain spaces and parentheses. */
function startTimeOf(pid: number): number | null {
	const stat = read(`/proc/${pid}/stat`);
	const ticks = Number(stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19]);
	return stat !== undefined && Number.isSafeInteger(ticks) ? ticks : null;
}

function bootId(): string | null {
	return read("/proc/sys/kernel/random/boot_id")?.trim() || null;
}

function locked(file: string, owner: LockOwner | null): PiError {
	if (owner === null) {
		return new PiError("log_locked", `Cannot lock ${file}: ${lockPath(file)} keeps changing`, { hint: "try again" });
	}
	if (owner.host !== thisProcess().host) {
		return new PiError("log_locked", `Session ${file} is in use by process ${owner.pid} on ${owner.host}`, {
			hint: `if that process no longer runs, delete ${lockPath(file)}`,
		});
	}
	const who = owner.pid === process.pid ? `this process (${owner.pid})` : `process ${owner.pid}`;
	return new PiError("log_locked", `Session ${file} is in use by ${who}`, {
		hint: "quit that process, or branch from the session",
	});
}

function pause(milliseconds: number): void {
	Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
