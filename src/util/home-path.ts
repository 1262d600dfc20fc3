import { sep } from "node:path";

/** A path with the home directory abbreviated to `~`. */
export function homePath(path: string, home: string): string {
	if (!home || home === sep) return path;
	if (path === home) return "~";
	return path.startsWith(home + sep) ? `~${path.slice(home.length)}` : path;
}

/** A path relative to `cwd` if it is inside, otherwise with `~`. */
export function displayPath(path: string, { cwd, home }: { cwd: string; home: string }): string {
	if (path === cwd) return ".";
	const base = cwd.endsWith(sep) ? cwd : cwd + sep;
	return path.startsWith(base) ? path.slice(base.length) : homePath(path, home);
}
