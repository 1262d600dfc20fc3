import { existsSync, type Stats, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { PiError } from "../errors.js";
import { readRegularFileSync, realPathOrNull } from "../util/fs.js";

/** Directories of other projects and of version control. */
const IGNORED = ["node_modules", ".git"];

/**
 * The directory below which files belong to the project: the root of the repository that contains `cwd`, else
 * `cwd`. A repository in the home directory, such as one of settings, counts only if pi runs in the home directory.
 */
export function projectRoot({ cwd, home }: { cwd: string; home: string }): string {
	const start = resolve(cwd);
	for (let dir = start; dir !== resolve(home) && dir !== dirname(dir); dir = dirname(dir)) {
		if (existsSync(join(dir, ".git"))) return dir;
	}
	return start;
}

/**
 * Reads files that a project brings and that need no trust: others wrote them, and a link could name a file of the user,
 * such as one with keys, whose text would reach the model. With its links resolved, a file must be in the project, but not in
 * the agent directory, nor may a link lead into `node_modules` or `.git`.
 */
export class ProjectFiles {
	readonly #root: string;
	/** The root as its user names it. */
	readonly #named: string;
	readonly #private: string | null;

	/**
	 * @param root the directory that contains all files of the project
	 * @param agentDir files in it are the user's, even if it is in the project
	 */
	constructor(root: string, agentDir?: string) {
		this.#root = realPathOrNull(root) ?? resolve(root);
		this.#named = resolve(root);
		const own = agentDir === undefined ? null : realPathOrNull(agentDir);
		// Whoever works on files in the agent directory means these.
		this.#private = own !== null && segmentsInside(own, this.#root) === null ? own : null;
	}

	/** Why a file or directory does not count, as `a link to …`; null if it does, and if it does not exist. */
	refusal(path: string): string | null {
		const real = realPathOrNull(path);
		if (real === null) return null;
		const inside = segmentsInside(this.#root, real);
		const isPrivate = this.#private !== null && segmentsInside(this.#private, real) !== null;
		if (inside === null || isPrivate || isOfSystem(real)) {
			const kind = statSync(real, { throwIfNoEntry: false })?.isDirectory() ? "a directory" : "a file";
			return `a link to ${kind} outside the project`;
		}
		// A project that is itself in such a directory is one that the user works on.
		const named = segmentsInside(this.#named, resolve(path)) ?? segmentsInside(this.#root, resolve(path)) ?? [];
		const into = IGNORED.find((name) => inside.includes(name) && !named.includes(name));
		return into === undefined ? null : `a link into ${into}`;
	}

	/** Whether a path is in the project, as it is written. */
	contains(path: string): boolean {
		return [this.#named, this.#root].some((root) => segmentsInside(root, resolve(path)) !== null);
	}

	/** @throws PiError `file_unreadable` for a file that does not count */
	check(path: string): void {
		const refusal = this.refusal(path);
		if (refusal !== null) throw new PiError("file_unreadable", `${path}: ignored, because it is ${refusal}`);
	}

	/**
	 * Reads a file, which may be replaced at any time.
	 * @throws PiError `file_unreadable`, also for a file that does not count
	 */
	read(path: string, { maxBytes }: { maxBytes: number }): Buffer {
		const accept = ({ dev, ino }: Stats) => {
			this.check(path);
			// The path may have led elsewhere when the file was opened.
			const now = statSync(path, { throwIfNoEntry: false });
			if (now?.dev !== dev || now.ino !== ino) {
				throw new PiError("file_unreadable", `Cannot read ${path}: it was replaced meanwhile`);
			}
		};
		// A file out of the project is not even opened, because that may already have an effect.
		this.check(path);
		return readRegularFileSync(path, { maxBytes, accept });
	}
}

/** The names on the way from a directory to a path inside it; null for a path outside. */
export function segmentsInside(directory: string, path: string): string[] | null {
	const inside = relative(directory, path);
	if (isAbsolute(inside) || inside === ".." || inside.startsWith(`..${sep}`)) return null;
	return inside === "" ? [] : inside.split(sep);
}

/** Files of the kernel are regular ones to `stat`, and contain the environment of the process. */
function isOfSystem(path: string): boolean {
	return ["/proc", "/sys", "/dev"].some((directory) => {
		// Temporary directories of some machines are in the memory file system.
		return segmentsInside(directory, path) !== null && segmentsInside("/dev/shm", path) === null;
	});
}
