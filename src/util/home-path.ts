import { sep } from "node:path";

/** A path with the home directory abbreviated to `~`. */
export function homePath(path: string, home: string): string {
	if (!home || home === sep) return path;
	if (path === home) return "~";
	return path.startsWith(home + sep) ? `~${path.slice(home.length)}` : path;
}
