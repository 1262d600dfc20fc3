/**
 * Blocks the write and edit tools on `.env` files, `.git` and `node_modules`, also through `..`, absolute paths, `~`, and
 * links to files and directories.
 *
 * Limits: a bash command can write anywhere, and its text does not show where (see permission-gate.ts). The hook cannot
 * detect hard links, or another program that replaces a directory with a link between the check and the write. For stronger
 * protection, remove the write permission of the user who runs pi.
 */
import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";

/** Maximum length of a chain of links; a longer one is a loop, which no tool can write through. */
const MAX_LINKS = 40;

/** True if a path segment, in lowercase, protects everything below it. */
function isProtected(segment: string): boolean {
	if (segment === ".env.example") return false;
	return segment === ".git" || segment === "node_modules" || segment === ".env" || segment.startsWith(".env.");
}

export default function protectedPaths(pi: HookAPI): void {
	pi.on("tool_call", (event, ctx) => {
		if (event.toolName !== "write" && event.toolName !== "edit") return undefined;
		const path = String(event.input.path);
		const found = possiblePaths(ctx.cwd, path)
			.flatMap((absolute) => [absolute, realPath(absolute)])
			.find((absolute) => segmentsBelow(ctx.cwd, absolute).some(isProtected));
		if (found === undefined) return undefined;
		ctx.ui.notify(`Blocked ${event.toolName} on the protected path ${path}`, "warning");
		return { block: true, reason: `${path} is protected: do not change it; ask the user to change it` };
	});
}

/** The paths that a tool may resolve `path` to: `~` is the home directory, and users mark files with a leading `@`. */
function possiblePaths(cwd: string, path: string): string[] {
	const expanded = path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : resolve(cwd, path);
	return path.startsWith("@") ? [expanded, ...possiblePaths(cwd, path.slice(1))] : [expanded];
}

/** Resolves links as far as the path exists, including a link with a missing target, which a write would create. */
function realPath(path: string, links = 0): string {
	if (existsSync(path)) return realpathSync(path);
	const parent = dirname(path);
	if (parent === path) return path;
	const here = join(realPath(parent, links), basename(path));
	const isLink = lstatSync(here, { throwIfNoEntry: false })?.isSymbolicLink() === true;
	return isLink && links < MAX_LINKS ? realPath(resolve(dirname(here), readlinkSync(here)), links + 1) : here;
}

/** Path segments below the working directory, in lowercase because some file systems ignore case. */
function segmentsBelow(cwd: string, path: string): string[] {
	const inside = relative(realPath(cwd), path);
	const isOutside = inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside);
	return (isOutside ? path : inside).toLowerCase().split(sep);
}
