import { parseGlob } from "../tools/glob.js";
import { trimEndOf } from "../util/trim.js";

const SPECIAL = /[*?[{]/;

/** True for a pattern; false for a plain path. */
export function isGlob(text: string): boolean {
	return SPECIAL.test(text);
}

/**
 * Tests paths with `/` against a pattern of `parseGlob`. A pattern without a slash matches names in every folder, and a pattern
 * that matches a folder matches everything in it.
 */
export function createMatcher(pattern: string): (path: string) => boolean {
	const text = trimEndOf(pattern.replace(/^\.\//, ""), "/");
	const item = text.includes("/") ? text : `**/${text}`;
	const globs = [parseGlob(item), parseGlob(`${item}/**`)];
	return (path) => globs.some((glob) => glob.matches(path));
}
