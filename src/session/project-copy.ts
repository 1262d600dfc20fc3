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
import { basename, dirname, join, parse, relative, sep } from "node:path";
import type { ProjectCode } from "../config/project-code.js";
import { ensurePrivateDir } from "../util/fs.js";

/** Path in the copy → contents, or where a link leads. */
type Plan = Map<string, Buffer | string>;

/** Copies that nobody used for so long are removed. */
const MAX_AGE_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * Writes the bytes of a project's code to a directory of its own under `baseDir` (0700), named after the contents. In it
 * each file stands at its whole real path, so that relative imports among the files work and find nothing else; packages
 * are still found where the project has them, through links to its `node_modules`. Equal code gets the same directory,
 * which is put right when it does not hold exactly this.
 * @returns the path of each file's copy, by the file's real path
 * @throws the system's error when it cannot be written
 */
export function copyProjectCode(code: ProjectCode, baseDir: string): ReadonlyMap<string, string> {
	const plan = planCopy(code);
	const target = join(baseDir, nameOf(code));
	ensurePrivateDir(baseDir);
	chmodSync(baseDir, 0o700); // it may have been there before
	if (!holds(target, plan)) {
		removeOld(baseDir);
		putInPlace(write(baseDir, plan), target, plan);
	}
	const now = new Date();
	utimesSync(target, now, now);
	return new Map(code.files.map(({ realPath }) => [realPath, join(target, placeOf(realPath))]));
}

function planCopy({ root, files }: ProjectCode): Plan {
	const plan: Plan = new Map();
	for (const { realPath, bytes } of files) plan.set(placeOf(realPath), bytes);
	for (const { rel, realPath } of files) {
		const place = placeOf(join(root, rel));
		if (!plan.has(place)) plan.set(place, relative(dirname(place), placeOf(realPath)));
	}
	for (const dir of new Set(files.flatMap(({ realPath }) => parentsOf(realPath)))) {
		const place = join(placeOf(dir), "node_modules");
		// Where a file was imported from inside, that file alone is part of the copy.
		const isTaken = [...plan.keys()].some((path) => path.startsWith(place + sep));
		if (!isTaken && basename(dir) !== "node_modules" && isDirectory(join(dir, "node_modules"))) {
			plan.set(place, join(dir, "node_modules"));
		}
	}
	return plan;
}

function nameOf({ root, files }: ProjectCode): string {
	const setup = [root, ...files.map(({ rel, realPath, sha256 }) => [rel, realPath, sha256])];
	return createHash("sha256").update(JSON.stringify(setup)).digest("hex").slice(0, 32);
}

/** An absolute path as a relative one; a drive letter becomes a directory. */
function placeOf(path: string): string {
	const { root } = parse(path);
	return join(root.replace(/[^a-z0-9]/gi, ""), relative(root, path));
}

function parentsOf(path: string): string[] {
	const dir = dirname(path);
	return dir === path ? [] : [dir, ...parentsOf(dir)];
}

/** Whether a directory holds exactly what is planned. */
function holds(dir: string, plan: Plan): boolean {
	let count = 0;
	const visit = (at: string): boolean =>
		readdirSync(join(dir, at), { withFileTypes: true }).every((entry) => {
			const place = join(at, entry.name);
			if (entry.isDirectory()) return visit(place);
			count++;
			const wanted = plan.get(place);
			if (typeof wanted === "string") return entry.isSymbolicLink() && readlinkSync(join(dir, place)) === wanted;
			return wanted !== undefined && entry.isFile() && readFileSync(join(dir, place)).equals(wanted);
		});
	try {
		return visit("") && count === plan.size;
	} catch {
		return false; // not there, or not readable: it is written anew
	}
}

function write(baseDir: string, plan: Plan): string {
	const dir = mkdtempSync(join(baseDir, "new-"));
	for (const [place, content] of plan) {
		const path = join(dir, place);
		mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
		if (typeof content === "string")
			symlinkSync(content, path, basename(path) === "node_modules" ? "junction" : "file");
		else writeFileSync(path, content, { mode: 0o600, flag: "wx" });
	}
	return dir;
}

function putInPlace(made: string, target: string, plan: Plan): void {
	rmSync(target, { recursive: true, force: true });
	try {
		renameSync(made, target);
	} catch (error) {
		rmSync(made, { recursive: true, force: true });
		// Another pi may have been faster with the same code.
		if (!holds(target, plan)) throw error;
	}
}

function removeOld(baseDir: string): void {
	for (const name of readdirSync(baseDir)) {
		const path = join(baseDir, name);
		try {
			if (Date.now() - statSync(path).mtimeMs > MAX_AGE_MS) rmSync(path, { recursive: true, force: true });
		} catch {
			// Another pi removed it, or it cannot be removed: an old copy does no harm.
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
