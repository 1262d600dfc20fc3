/** Starts the path of a bundled hook, which is not a file: `pi:stacking`. */
export const BUNDLED_PREFIX = "pi:";

/** Directories that say nothing about what a package is. */
const BUILD_DIRS: ReadonlySet<string> = new Set(["build", "dist", "lib", "out", "src"]);

/**
 * The name of a hook from its path: `stack` for `…/hooks/stack.ts`, `…/hooks/stack/index.ts`, `…/stack/dist/index.js` and
 * for the bundled hook `pi:stack`.
 */
export function hookName(path: string): string {
	if (path.startsWith(BUNDLED_PREFIX)) return path.slice(BUNDLED_PREFIX.length);
	const segments = path.split(/[\\/]/).filter(Boolean);
	const file = (segments.pop() ?? path).replace(/\.[cm]?[jt]s$/, "");
	if (file !== "index") return file;
	const folder = segments.pop() ?? file;
	return BUILD_DIRS.has(folder) ? (segments.pop() ?? folder) : folder;
}

/** The file name of a hook: `x.ts`, or `x/index.ts` for a folder. `hookGrants` and notices name hooks by it. */
export function hookFileName(path: string): string {
	const file = path.split(/[\\/]/).pop() ?? path;
	return /^index\.[jt]s$/.test(file) ? `${hookName(path)}/${file}` : file;
}
