import { createHash } from "node:crypto";
import { type Dirent, lstatSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { errorText } from "../errors.js";
import type { CodeFile, UnresolvedImport } from "../trust/code-files.js";
import { readRegularFileSync } from "../util/fs.js";
import { TimeSlices } from "../util/time-slices.js";

/** The files of a package itself, without its dependencies. */
export interface PackageFiles {
	/** Real path of the package. */
	root: string;
	/** Sorted by `rel`. */
	files: CodeFile[];
	/** Files that cannot be read, and links that lead out of the package. */
	unresolved: UnresolvedImport[];
	/** Why the list is incomplete; such a package never runs. */
	incomplete?: string;
}

const MAX_FILES = 2000;
const MAX_FILE_BYTES = 8 * 1024 * 1024;
const MAX_TOTAL_BYTES = 64 * 1024 * 1024;
const SKIPPED = new Set(["node_modules", ".git", ".hg", ".svn"]);

/** Reads every file of a package, each once. Links inside the package are listed with their targets. @throws the system error if it does not exist */
export async function readPackageFiles(dir: string): Promise<PackageFiles> {
	const root = realpathSync(dir);
	const paths: string[] = [];
	const unresolved: UnresolvedImport[] = [];
	let incomplete: string | undefined;
	const visit = (at: string) => {
		for (const entry of entriesOf(at)) {
			if (incomplete !== undefined || SKIPPED.has(entry.name)) continue;
			const path = join(at, entry.name);
			if (entry.isDirectory()) visit(path);
			else if (entry.isSymbolicLink()) {
				const reason = linkProblem(root, path);
				if (reason === null) paths.push(path);
				else unresolved.push({ from: pathIn(root, path), specifier: readlinkSync(path), reason });
			} else if (entry.isFile()) paths.push(path);
			if (paths.length > MAX_FILES) incomplete = `more than ${MAX_FILES} files`;
		}
	};
	visit(root);
	const files: CodeFile[] = [];
	const slices = new TimeSlices();
	let total = 0;
	for (const path of incomplete === undefined ? paths : []) {
		const rel = pathIn(root, path);
		try {
			const bytes = readRegularFileSync(path, { maxBytes: MAX_FILE_BYTES });
			total += bytes.length;
			files.push({ rel, realPath: realpathSync(path), bytes, sha256: digest(bytes), size: bytes.length });
		} catch (error) {
			unresolved.push({ from: rel, specifier: rel, reason: errorText(error) });
		}
		if (slices.isOver) await slices.next();
		if (total > MAX_TOTAL_BYTES) {
			incomplete = `more than ${MAX_TOTAL_BYTES / 1024 / 1024} MB`;
			break;
		}
	}
	files.sort((a, b) => (a.rel < b.rel ? -1 : 1));
	return { root, files, unresolved, ...(incomplete === undefined ? {} : { incomplete }) };
}

/** SHA-256, hex. */
export function digest(bytes: Uint8Array | string): string {
	return createHash("sha256").update(bytes).digest("hex");
}

/** The entries of a directory in order of their names; none if it does not exist. */
export function entriesOf(dir: string): Dirent[] {
	try {
		return readdirSync(dir, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
	} catch {
		return []; // a missing directory contains nothing; one that cannot be read cannot be loaded from either
	}
}

/** Why a link is not followed; null for one to a file of the package. */
function linkProblem(root: string, path: string): string | null {
	try {
		const target = realpathSync(path);
		if (!target.startsWith(root + sep)) return "a link that leaves the package";
		if (lstatSync(target).isDirectory()) return "a link to a directory";
		return pathIn(root, target)
			.split("/")
			.some((name) => SKIPPED.has(name))
			? "a link to a dependency"
			: null;
	} catch {
		return `a broken link to ${resolve(dirname(path), readlinkSync(path))}`;
	}
}

/** A path relative to the package, with `/`. */
export function pathIn(root: string, path: string): string {
	return relative(root, path).split(sep).join("/");
}
