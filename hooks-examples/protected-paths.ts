/**
 * Keeps the write and edit tools away from `.env` files, `.git` and `node_modules`, by whatever name they are reached:
 * `..`, absolute paths, `~`, links to files and to directories.
 *
 * What it cannot do: a bash command can write anywhere, and its text does not say where (see permission-gate.ts). Neither
 * can this hook see through hard links, or keep another program from swapping a directory for a link between its look
 * and the write. Where that matters, take the write permission away from the user that runs pi.
 */
import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";

/** Links followed one after another; more are a loop, which no tool can write through. */
const MAX_LINKS = 40;

/** Tells by one part of a path, in small letters, whether everything below it is protected. */
function isProtected(part: string): boolean {
	if (part === ".env.example") return false;
	return part === ".git" || part === "node_modules" || part === ".env" || part.startsWith(".env.");
}

export default function protectedPaths(pi: HookAPI): void {
	pi.on("tool_call", (event, ctx) => {
		if (event.toolName !== "write" && event.toolName !== "edit") return undefined;
		const path = String(event.input.path);
		const found = meanings(ctx.cwd, path)
			.flatMap((absolute) => [absolute, realPath(absolute)])
			.find((absolute) => partsBelow(ctx.cwd, absolute).some(isProtected));
		if (found === undefined) return undefined;
		ctx.ui.notify(`Kept ${event.toolName} away from the protected path ${path}`, "warning");
		return { block: true, reason: `${path} is protected: do not change it, ask the user to do so` };
	});
}

/** The files that a tool might mean: `~` is the home directory, and an `@` in front is how users mark files. */
function meanings(cwd: string, path: string): string[] {
	const expanded = path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : resolve(cwd, path);
	return path.startsWith("@") ? [expanded, ...meanings(cwd, path.slice(1))] : [expanded];
}

/** Links resolved as far as the path exists; also one that points at nothing yet, for a write would create that. */
function realPath(path: string, links = 0): string {
	if (existsSync(path)) return realpathSync(path);
	const parent = dirname(path);
	if (parent === path) return path;
	const here = join(realPath(parent, links), basename(path));
	const isLink = lstatSync(here, { throwIfNoEntry: false })?.isSymbolicLink() === true;
	return isLink && links < MAX_LINKS ? realPath(resolve(dirname(here), readlinkSync(here)), links + 1) : here;
}

/** Parts of the path, those above the working directory left out; file systems may not tell `.GIT` from `.git`. */
function partsBelow(cwd: string, path: string): string[] {
	const inside = relative(realPath(cwd), path);
	const isOutside = inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside);
	return (isOutside ? path : inside).toLowerCase().split(sep);
}
