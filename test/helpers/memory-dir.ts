import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

/** Linux' file system in memory, of every distribution. */
const MEMORY = "/dev/shm";
/** Tests need a tenth of it; Docker's default of 64 MB is too small. */
const NEEDED_BYTES = 2 ** 30;

/**
 * Creates a directory in memory for the temporary files of a run, and removes it when this process exits. Tests create and
 * remove tens of thousands of small files: on a disk that takes a tenth of the CPU time of a run, and waits.
 * @returns undefined where there is no such file system, and if `TMPDIR` names another place
 */
export function createMemoryDir(): string | undefined {
	if (process.platform !== "linux" || process.env.TMPDIR || !isUsable()) return undefined;
	for (const name of readdirSync(MEMORY)) if (isLeftOver(name)) remove(join(MEMORY, name));
	const dir = join(MEMORY, `pi-${process.pid}`);
	try {
		mkdirSync(dir, { recursive: true, mode: 0o700 });
	} catch {
		return undefined; // not writable
	}
	process.once("exit", () => remove(dir));
	return dir;
}

function isUsable(): boolean {
	try {
		const [, , type, options = ""] =
			readFileSync("/proc/mounts", "utf8")
				.split("\n")
				.map((line) => line.split(" "))
				.findLast(([, place]) => place === MEMORY) ?? [];
		// Tests run programs that they write.
		if (type !== "tmpfs" || /\b(?:noexec|ro)\b/.test(options)) return false;
		const { bavail, bsize } = statfsSync(MEMORY);
		return bavail * bsize >= NEEDED_BYTES;
	} catch {
		return false;
	}
}

/** Whether a directory belongs to a run that was killed. */
function isLeftOver(name: string): boolean {
	const pid = /^pi-(\d+)$/.exec(name)?.[1];
	if (pid === undefined) return false;
	try {
		process.kill(Number(pid), 0);
		return false;
	} catch (error) {
		return error instanceof Error && "code" in error && error.code === "ESRCH";
	}
}

function remove(dir: string): void {
	try {
		rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
	} catch {
		// Of another user, or a process of a test still writes: the next run removes it.
	}
}
