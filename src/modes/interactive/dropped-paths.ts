import { existsSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** Where something is dropped. */
export interface DropPlace {
	cwd: string;
	/** What is in the editor. */
	draft: string;
	/** Attaches an image. @returns its mark, null when the file is none */
	addImage(path: string): string | null;
}

/** What a terminal has made of files that were dropped on it: at most so many, and no more text than this. */
const MAX_PATHS = 20;
const MAX_LENGTH = 8000;
/** A word: in single or double quotes, or with backslashes before what a shell would read. */
const WORD = /\s*(?:'([^']*)'|"((?:[^"\\]|\\.)*)"|((?:[^\s\\'"]|\\.)+))(?=\s|$)/y;

/**
 * What stands in the prompt for a pasted text that is the paths of files: an attached image, or a mention.
 * @returns null for any other text, and in commands, which take paths as they are
 */
export function dropFiles(pasted: string, { cwd, draft, addImage }: DropPlace): string | null {
	if (/^\s*[!/]/.test(draft)) return null;
	const paths = droppedPaths(pasted);
	if (paths === null) return null;
	const before = /\S$/.test(draft) ? " " : "";
	return `${before}${paths.map((path) => addImage(path) ?? mentionOf(path, cwd)).join(" ")} `;
}

/**
 * The files that a pasted text names, when that is all it does: absolute paths as terminals write them for files that
 * are dropped on them (escaped, quoted, or `file://`), each of something that exists.
 * @returns null for any other text
 */
export function droppedPaths(pasted: string): string[] | null {
	const text = pasted.trim();
	if (text.length > MAX_LENGTH || !/^['"]?(?:\/|file:\/\/|[A-Za-z]:\\)/.test(text)) return null;
	// On Windows a backslash is part of the path, and there is at most one.
	const words = process.platform === "win32" ? [text.replace(/^(['"])(.*)\1$/, "$2")] : splitWords(text);
	if (words === null || words.length > MAX_PATHS) return null;
	const paths = words.map(pathOf);
	return paths.every((path) => path !== null && isAbsolute(path) && existsSync(path))
		? paths.filter((path) => path !== null)
		: null;
}

/** How a path is mentioned in a prompt: `@`, from the working directory where it is below it, quoted where it must be. */
export function mentionOf(path: string, cwd: string): string {
	const below = relative(cwd, resolve(path));
	const isBelow = below !== "" && below !== ".." && !below.startsWith(`..${sep}`) && !isAbsolute(below);
	const shown = isBelow ? below.replaceAll(sep, "/") : path;
	return /[\s"]/.test(shown) ? `@"${shown}"` : `@${shown}`;
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
		return null; // of another machine, or not a URL at all
	}
}
