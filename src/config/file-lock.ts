import { closeSync, linkSync, openSync, readFileSync, renameSync, statSync, unlinkSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { PiError } from "../errors.js";
import { ensurePrivateDir, errnoCode, isNotFound } from "../util/fs.js";

/** How long to wait for another process, and after which time its lock no longer counts. */
export interface FileLockOptions {
	/** ms. Default 10 s. */
	waitMs?: number;
	/** ms. Locks are held for one write or one network request; default 2 minutes. */
	staleMs?: number;
}

const POLL_MS = 20;

/**
 * Runs `work` while no other process holds the lock of `path` (`<path>.lock`, made with O_EXCL, naming the owner). The
 * lock of a process that is gone is taken over at once.
 * @throws PiError `config_write_failed` when the lock cannot be had
 */
export async function withFileLock<T>(
	path: string,
	work: () => Promise<T>,
	{ waitMs = 10_000, staleMs = 120_000 }: FileLockOptions = {},
): Promise<T> {
	const lock = `${path}.lock`;
	const owner = JSON.stringify({ pid: process.pid, id: crypto.randomUUID() });
	const deadline = performance.now() + waitMs;
	while (!tryLock(lock, owner, path)) {
		removeIfDead(lock, staleMs);
		if (performance.now() > deadline) {
			throw new PiError("config_write_failed", `Cannot change ${path}: another process holds ${lock}`, {
				hint: "end the other pi, or remove the lock file if there is none",
			});
		}
		await delay(POLL_MS * (0.5 + Math.random()));
	}
	try {
		return await work();
	} finally {
		// Taken over meanwhile: then it is another's now.
		if (readLock(lock) === owner) removeFile(lock);
	}
}

function tryLock(lock: string, owner: string, path: string): boolean {
	try {
		ensurePrivateDir(dirname(lock));
		const descriptor = openSync(lock, "wx", 0o600);
		try {
			writeSync(descriptor, owner);
		} finally {
			closeSync(descriptor);
		}
		return true;
	} catch (cause) {
		if (errnoCode(cause) === "EEXIST") return false;
		throw new PiError("config_write_failed", `Cannot change ${path}`, { cause });
	}
}

/**
 * Removes a lock whose owner is gone. It is moved aside first and looked at again: between reading and removing,
 * another process may have taken it over, and its lock must stand.
 */
function removeIfDead(lock: string, staleMs: number): void {
	const content = readLock(lock);
	if (content === null || !isDead(lock, content, staleMs)) return;
	const aside = `${lock}.${crypto.randomUUID()}`;
	try {
		renameSync(lock, aside);
		if (readLock(aside) !== content) linkSync(aside, lock);
	} catch {
		// Another process was faster; the next round sees what is there.
	}
	removeFile(aside);
}

function isDead(lock: string, content: string, staleMs: number): boolean {
	try {
		const age = Date.now() - statSync(lock).mtimeMs;
		const pid = ownerPid(content);
		// No pid yet: its owner is between making and writing it, unless it died there.
		return age > staleMs || (pid === null ? age > 5000 : !isAlive(pid));
	} catch {
		return false;
	}
}

function ownerPid(content: string): number | null {
	const pid = /"pid":(\d+)/.exec(content)?.[1];
	return pid === undefined ? null : Number(pid);
}

function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return errnoCode(error) !== "ESRCH";
	}
}

function readLock(lock: string): string | null {
	try {
		return readFileSync(lock, "utf8");
	} catch {
		return null;
	}
}

function removeFile(path: string): void {
	try {
		unlinkSync(path);
	} catch (error) {
		if (!isNotFound(error)) return; // it goes stale by itself
	}
}
