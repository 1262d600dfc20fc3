import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { possiblePaths } from "../path.js";

/** The absolute path on this machine that a path from a model means, as `resolvePath`. */
export function localPath(cwd: string, path: string): string {
	const paths = possiblePaths({ cwd, home: homedir() }, path);
	return paths.find(existsSync) ?? paths.at(-1) ?? path;
}
