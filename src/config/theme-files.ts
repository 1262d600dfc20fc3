import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";
import { describeError } from "../errors.js";
import { isBuiltIn } from "../themes/built-in.js";
import { type CheckedTheme, checkTheme } from "../themes/theme-file.js";
import { readJsonObject } from "./json-file.js";

/** A theme of the user or of the project; its name is that of the file. */
export interface FoundTheme {
	name: string;
	path: string;
	scope: "user" | "project";
}

/** Directories with themes; those of the user come first. */
export interface ThemeDirs {
	user: string;
	project: string;
}

/** Names are safe to be parts of a path. */
const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;
const ENDING = ".json";

/**
 * Every theme that someone has written, by name. Of two with one name the user's counts. A name that pi itself uses
 * cannot be taken. Never throws: a directory that cannot be read has none.
 */
export function listThemeFiles({ user, project }: ThemeDirs): FoundTheme[] {
	const found = new Map<string, FoundTheme>();
	for (const [scope, dir] of [["user", user] as const, ["project", project] as const]) {
		for (const entry of entriesOf(dir)) {
			const name = entry.name.endsWith(ENDING) ? entry.name.slice(0, -ENDING.length) : "";
			if (!NAME.test(name) || entry.isDirectory() || isBuiltIn(name) || found.has(name)) continue;
			found.set(name, { name, path: join(dir, entry.name), scope });
		}
	}
	return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Reads a theme; problems begin with the file, and with line and column where it is no JSON. Never throws.
 * @returns as `theme` null when nothing of the file can be used
 */
export function loadThemeFile(path: string): { theme: CheckedTheme["theme"] | null; problems: string[] } {
	try {
		const value = readJsonObject(path);
		if (value === null) return { theme: null, problems: [`${path} is gone`] };
		const { theme, problems } = checkTheme(value);
		return { theme, problems: problems.map((problem) => `${path}: ${problem}`) };
	} catch (error) {
		return { theme: null, problems: [describeError(error)] };
	}
}

function entriesOf(dir: string): Dirent[] {
	try {
		return readdirSync(dir, { withFileTypes: true });
	} catch {
		// Mostly there is none. Without the right to read it there are no themes, and nothing else depends on it.
		return [];
	}
}
