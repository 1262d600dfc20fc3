import { createHash } from "node:crypto";
import {
	chmodSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	readlinkSync,
	renameSync,
	rmSync,
	statSync,
	symlinkSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { basename, dirname, isAbsolute, join, parse, relative, sep } from "node:path";
import { ensurePrivateDir } from "../util/fs.js";
import type { ProjectCode } from "./code-files.js";

/** Path in the copy → contents of a file, or target of a link. */
type Plan = Map<string, Buffer | string>;

/** A `node_modules` directory whose modules the code may load. */
interface LinkedModules {
	path: string;
	/** Directories in it. Absent: all. */
	only?: readonly string[];
}

/** Copies that were not used for this long are removed. */
const MAX_AGE_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * Copies a project's code to a directory under `baseDir` (mode 0700) that is named after the contents. Each file keeps its
 * full real path below it, so relative imports among the files work and reach nothing else; links to the project's
 * `node_modules` make its packages available. Equal code shares a directory, which is rewritten unless it holds exactly
 * these files.
 * @param modules the only directories that are linked, or what is linked of them; default: every `node_modules` above a file
 * @returns the path of each file's copy, by the file's real path
 * @throws the system error when the copy cannot be written
 */
export function copyProjectCode(
	code: Pick<ProjectCode, "root" | "files">,
	baseDir: string,
	modules?: readonly LinkedModules[],
): ReadonlyMap<string, string> {
	const plan = planCopy(code, modules);
	const target = join(baseDir, nameOf(code));
	ensurePrivateDir(baseDir);
	chmodSync(baseDir, 0o700); // an existing directory keeps its mode otherwise
	if (!matchesPlan(target, plan)) {
		removeOldCopies(baseDir);
		install(writeCopy(baseDir, plan), target, plan);
	}
	const now = new Date();
	utimesSync(target, now, now);
	return new Map(code.files.map(({ realPath }) => [realPath, join(target, pathInCopy(realPath))]));
}

function planCopy({ root, files }: Pick<ProjectCode, "root" | "files">, modules?: readonly LinkedModules[]): Plan {
	const plan: Plan = new Map();
	for (const { realPath, bytes } of files) plan.set(pathInCopy(realPath), bytes);
	for (const { rel, realPath } of files) {
		const relativePath = pathInCopy(join(root, rel));
		if (!plan.has(relativePath)) plan.set(relativePath, relative(dirname(relativePath), pathInCopy(realPath)));
	}
	for (const dir of new Set(files.flatMap(({ realPath }) => parentsOf(realPath)))) {
		const relativePath = join(pathInCopy(dir), "node_modules");
		// Files imported from node_modules are in the copy themselves; a link would replace them.
		const isTaken = [...plan.keys()].some((path) => path.startsWith(relativePath + sep));
		const path = join(dir, "node_modules");
		const linked = modules?.find((one) => one.path === path);
		const mayLink = modules ? linked !== undefined : basename(dir) !== "node_modules";
		if (isTaken || !mayLink || !isDirectory(path)) continue;
		if (linked?.only) for (const name of linked.only) plan.set(join(relativePath, name), join(path, name));
		else plan.set(relativePath, path);
	}
	return plan;
}

function nameOf({ root, files }: Pick<ProjectCode, "root" | "files">): string {
	const setup = [root, ...files.map(({ rel, realPath, sha256 }) => [rel, realPath, sha256])];
	return createHash("sha256").update(JSON.stringify(setup)).digest("hex").slice(0, 32);
}

/** An absolute path as a relative one; a drive letter becomes a directory. */
function pathInCopy(path: string): string {
	const { root } = parse(path);
	return join(root.replace(/[^a-z0-9]/gi, ""), relative(root, path));
}

function parentsOf(path: string): string[] {
	const dir = dirname(path);
	return dir === path ? [] : [dir, ...parentsOf(dir)];
}

/** Whether a directory holds exactly the planned files and links. */
function matchesPlan(dir: string, plan: Plan): boolean {
	let count = 0;
	const visit = (at: string): boolean =>
		readdirSync(join(dir, at), { withFileTypes: true }).every((entry) => {
			const relativePath = join(at, entry.name);
			if (entry.isDirectory()) return visit(relativePath);
			count++;
			const wanted = plan.get(relativePath);
			if (typeof wanted === "string") return entry.isSymbolicLink() && readlinkSync(join(dir, relativePath)) === wanted;
			return wanted !== undefined && entry.isFile() && readFileSync(join(dir, relativePath)).equals(wanted);
		});
	try {
		return visit("") && count === plan.size;
	} catch {
		return false; // missing or unreadable: it is written again
	}
}

function writeCopy(baseDir: string, plan: Plan): string {
	const dir = mkdtempSync(join(baseDir, "new-"));
	for (const [relativePath, content] of plan) {
		const path = join(dir, relativePath);
		mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
		if (typeof content === "string") symlinkSync(content, path, isAbsolute(content) ? "junction" : "file");
		else writeFileSync(path, content, { mode: 0o600, flag: "wx" });
	}
	return dir;
}

function install(written: string, target: string, plan: Plan): void {
	rmSync(target, { recursive: true, force: true });
	try {
		renameSync(written, target);
	} catch (error) {
		rmSync(written, { recursive: true, force: true });
		// Another pi may have written the same code first.
		if (!matchesPlan(target, plan)) throw error;
	}
}

function removeOldCopies(baseDir: string): void {
	for (const name of readdirSync(baseDir)) {
		const path = join(baseDir, name);
		try {
			if (Date.now() - statSync(path).mtimeMs > MAX_AGE_MS) rmSync(path, { recursive: true, force: true });
		} catch {
			// Another pi removed it, or it cannot be removed: an old copy is harmless.
		}
	}
}

function isDirectory(path: string): boolean {
	try {
		return statSync(path).isDirectory();
	} catch {
		return false;
	}
}
