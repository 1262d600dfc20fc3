import { existsSync } from "node:fs";
import { basename, isAbsolute, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** The prompt that files are dropped on. */
export interface DropTarget {
	cwd: string;
	/** Name of the machine on which tools work, if it does not have the files of this one. */
	elsewhere: string | null;
	/** Reports what the user must know. */
	hint(text: string): void;
	/** Text in the editor. */
	draft: string;
	/** Attaches an image. @returns its mark; null when the file is not an image */
	addImage(path: string): string | null;
}

/** Limits of a paste that counts as dropped files: number of paths, and characters. */
const MAX_PATHS = 20;
const MAX_LENGTH = 8000;
/** A shell word: in single quotes, in double quotes, or with backslash escapes. */
const WORD = /\s*(?:'([^']*)'|"((?:[^"\\]|\\.)*)"|((?:[^\s\\'"]|\\.)+))(?=\s|$)/y;

/**
 * Replaces pasted file paths with image marks and file mentions.
 * @returns the text to insert; null for any other text, and in commands, which accept plain paths
 */
export function dropFiles(pasted: string, { cwd, elsewhere, hint, draft, addImage }: DropTarget): string | null {
	if (/^\s*[!/]/.test(draft)) return null;
	const paths = droppedPaths(pasted);
	if (paths === null) return null;
	const before = /\S$/.test(draft) ? " " : "";
	const nameOf = (path: string) => {
		if (elsewhere === null) return mentionOf(path, cwd);
		hint(`${basename(path)} is not on ${elsewhere}`);
		return quotedPath(path);
	};
	return `${before}${paths.map((path) => addImage(path) ?? nameOf(path)).join(" ")} `;
}

/**
 * Parses a pasted text that consists only of absolute paths of existing files, in the forms that terminals insert for
 * dropped files (escaped, quoted, or `file://`).
 * @returns null for any other text
 */
export function droppedPaths(pasted: string): string[] | null {
	const text = pasted.trim();
	if (text.length > MAX_LENGTH || !/^['"]?(?:\/|file:\/\/|[A-Za-z]:\\)/.test(text)) return null;
	// On Windows a backslash separates folders, so the text holds a single path.
	const words = process.platform === "win32" ? [text.replace(/^(['"])(.*)\1$/, "$2")] : splitWords(text);
	if (words === null || words.length > MAX_PATHS) return null;
	const paths = words.map(pathOf);
	return paths.every((path) => path !== null && isAbsolute(path) && existsSync(path))
		? paths.filter((path) => path !== null)
		: null;
}

/** Formats an `@` mention: relative when the path is inside `cwd`, quoted when it contains spaces or quotes. */
export function mentionOf(path: string, cwd: string): string {
	const below = relative(cwd, resolve(path));
	const isBelow = below !== "" && below !== ".." && !below.startsWith(`..${sep}`) && !isAbsolute(below);
	const shown = isBelow ? below.replaceAll(sep, "/") : path;
	return `@${quotedPath(shown)}`;
}

function quotedPath(path: string): string {
	return /[\s"]/.test(path) ? `"${path}"` : path;
}

function splitWords(text: string): string[] | null {
	const words: string[] = [];
	WORD.lastIndex = 0;
	while (WORD.lastIndex < text.length) {
		const match = WORD.exec(text);
		if (!match) return null;
		const [, single, double, plain = ""] = match;
		words.push(single ?? (double ?? plain).replace(/\\(.)/g, "$1"));
	}
	return words;
}

function pathOf(word: string): string | null {
	if (!word.startsWith("file://")) return word;
	try {
		return fileURLToPath(word);
	} catch {
		return null; // a file on another host, or a malformed URL
	}
}
