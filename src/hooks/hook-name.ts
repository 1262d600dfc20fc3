/** Starts the path of a bundled hook, which is not a file: `pi:stacking`. */
export const BUNDLED_PREFIX = "pi:";

/**
 * The name of a hook from its path: `stack` for `…/hooks/stack.ts`, for `…/hooks/stack/index.ts` and for the bundled hook
 * `pi:stack`.
 */
export function hookName(path: string): string {
	if (path.startsWith(BUNDLED_PREFIX)) return path.slice(BUNDLED_PREFIX.length);
	const segments = path.split(/[\\/]/).filter(Boolean);
	const file = (segments.pop() ?? path).replace(/\.[cm]?[jt]s$/, "");
	return file === "index" ? (segments.pop() ?? file) : file;
}

/** The file name of a hook: `x.ts`, or `x/index.ts` for a folder. `hookGrants` and notices name hooks by it. */
export function hookFileName(path: string): string {
	const file = path.split(/[\\/]/).pop() ?? path;
	return file === "index.ts" ? `${hookName(path)}/${file}` : file;
}
