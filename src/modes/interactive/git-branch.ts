import { type FSWatcher, readFileSync, statSync, watch } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** Bytes that a `.git` file or `HEAD` can reasonably have. */
const MAX_BYTES = 4096;

/**
 * The branch that is checked out in the repository around `cwd`, or the beginning of the commit when none is; null
 * outside of a repository. Reads two small files and starts no program.
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
 * Calls back when another branch may have been checked out. It costs nothing while nothing happens, and does not keep the
 * program. Outside of a repository, and where files cannot be watched, it never calls.
 * @returns ends it
 */
export function watchGitBranch(cwd: string, onChange: () => void): () => void {
	const gitDir = findGitDir(cwd);
	if (gitDir === null) return () => {};
	let watcher: FSWatcher | null = null;
	const stop = () => watcher?.close();
	try {
		// The directory, not the file: git puts a new file in its place, which a watch of the old one does not see.
		watcher = watch(gitDir, { persistent: false }, (_kind, name) => {
			if (name === null || name === "HEAD") onChange();
		});
		watcher.on("error", stop);
	} catch {
		// No watch to be had, such as when the system has no more: the label is then as old as the last turn.
	}
	return stop;
}

function findGitDir(cwd: string): string | null {
	for (let folder = resolve(cwd); ; folder = dirname(folder)) {
		const git = join(folder, ".git");
		const kind = statSync(git, { throwIfNoEntry: false });
		if (kind?.isDirectory()) return git;
		if (kind?.isFile()) {
			// Work trees and submodules say where the directory is.
			const target = /^gitdir: (.+)$/.exec(readSmall(git) ?? "");
			return target?.[1] ? resolve(folder, target[1]) : null;
		}
		if (folder === dirname(folder)) return null;
	}
}

function readSmall(path: string): string | null {
	try {
		const kind = statSync(path);
		return kind.isFile() && kind.size <= MAX_BYTES ? readFileSync(path, "utf8").trim() : null;
	} catch {
		return null; // unreadable is as good as absent: only a label depends on it
	}
}
