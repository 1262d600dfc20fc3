import { type FSWatcher, readFileSync, type Stats, statSync, watch } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** Maximum size of a `.git` file or `HEAD`, bytes. */
const MAX_BYTES = 4096;

/**
 * Reads the current branch of the repository that contains `cwd`, without starting a program.
 * @returns the branch, or the first 7 digits of the commit when HEAD is detached; null outside a repository
 */
export function readGitBranch(cwd: string): string | null {
	const gitDir = findGitDir(cwd);
	const head = gitDir ? readSmall(join(gitDir, "HEAD")) : null;
	if (head === null) return null;
	const ref = /^ref: refs\/heads\/(.+)$/.exec(head);
	if (ref?.[1]) return ref[1];
	return /^[0-9a-f]{40,64}$/.test(head) ? head.slice(0, 7) : null;
}

/**
 * Calls `onChange` when another branch may have been checked out. Does not keep the process alive. Never calls outside a
 * repository or where files cannot be watched.
 * @returns stops watching
 */
export function watchGitBranch(cwd: string, onChange: () => void): () => void {
	const gitDir = findGitDir(cwd);
	if (gitDir === null) return () => {};
	let watcher: FSWatcher | null = null;
	const stop = () => watcher?.close();
	try {
		// Watch the directory: git replaces the file, and a watch on the old file does not report that.
		watcher = watch(gitDir, { persistent: false }, (_kind, name) => {
			if (name === null || name === "HEAD") onChange();
		});
		watcher.on("error", stop);
	} catch {
		// Watching fails when the system runs out of watches. The label is then updated after each turn only.
	}
	return stop;
}

function findGitDir(cwd: string): string | null {
	for (let folder = resolve(cwd); ; folder = dirname(folder)) {
		const git = join(folder, ".git");
		const kind = kindOf(git);
		if (kind?.isDirectory()) return git;
		if (kind?.isFile()) {
			// In work trees and submodules, the `.git` file contains the path of the directory.
			const target = /^gitdir: (.+)$/.exec(readSmall(git) ?? "");
			return target?.[1] ? resolve(folder, target[1]) : null;
		}
		if (folder === dirname(folder)) return null;
	}
}

/** @returns undefined for a path that does not exist or cannot be read, such as a link to itself */
function kindOf(path: string): Stats | undefined {
	try {
		return statSync(path);
	} catch {
		return undefined; // only a label depends on it
	}
}

function readSmall(path: string): string | null {
	const kind = kindOf(path);
	try {
		return kind?.isFile() && kind.size <= MAX_BYTES ? readFileSync(path, "utf8").trim() : null;
	} catch {
		return null; // treat an unreadable file as missing: only a label depends on it
	}
}
