import { parseGlob } from "../tools/glob.js";
import { trimEndOf } from "../util/trim.js";

const SPECIAL = /[*?[{]/;

/** True for a pattern; false for a plain path. */
export function isGlob(text: string): boolean {
	return SPECIAL.test(text);
}

/** Longer than any path. */
const MAX_PATTERN = 4096;

/** A path of a manifest or filter without `./` before it and slashes after it. */
export function cleanPath(path: string): string {
	return trimEndOf(path.replace(/^\.\//, ""), "/");
}

/**
 * Tests paths with `/` against a pattern of `parseGlob`. A pattern without a slash matches names in every folder, and a pattern
 * that matches a folder matches everything in it.
 */
export function createMatcher(pattern: string): (path: string) => boolean {
	if (pattern.length > MAX_PATTERN) return () => false;
	const text = cleanPath(pattern);
	const item = text.includes("/") ? text : `**/${text}`;
	const globs = [parseGlob(item), parseGlob(`${item}/**`)];
	return (path) => globs.some((glob) => glob.matches(path));
}
