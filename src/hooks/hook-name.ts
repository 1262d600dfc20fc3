/** Starts the path of a bundled hook, which is not a file: `pi:stacking`. */
export const BUNDLED_PREFIX = "pi:";

/** Directories that say nothing about what a package is. */
const BUILD_DIRS: ReadonlySet<string> = new Set(["build", "dist", "lib", "out", "src"]);

/** Names of files that say nothing about a package either. */
const ENTRY_FILES: ReadonlySet<string> = new Set(["extension", "hook", "index", "main"]);

/**
 * The name of a hook from its path: `stack` for `…/hooks/stack.ts`, `…/hooks/stack/index.ts`, `…/stack/dist/index.js` and
 * for the bundled hook `pi:stack`.
 */
export function hookName(path: string): string {
	if (path.startsWith(BUNDLED_PREFIX)) return path.slice(BUNDLED_PREFIX.length);
	const segments = path
		.replace(/^(?:npm|git):/, "")
		.split(/[\\/]/)
		.filter(Boolean);
	const file = (segments.pop() ?? path).replace(/\.[cm]?[jt]s$/, "");
	const folder = segments.pop() ?? file;
	if (BUILD_DIRS.has(folder) && ENTRY_FILES.has(file)) return segments.pop() ?? folder;
	return file === "index" ? folder : file;
}

/** The file name of a hook: `x.ts`, or `x/index.ts` for a folder. `hookGrants` and notices name hooks by it. */
export function hookFileName(path: string): string {
	const file = path.split(/[\\/]/).pop() ?? path;
	return /^index\.[jt]s$/.test(file) ? `${hookName(path)}/${file}` : file;
}
