import { type Dirent, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describeError } from "../errors.js";
import { isBuiltIn } from "../themes/built-in.js";
import { type CheckedTheme, checkTheme } from "../themes/theme-file.js";
import { packageRoot } from "../util/package-root.js";
import { describeReread, readJsonObject } from "./json-file.js";
import { ProjectFiles } from "./project-files.js";

/** A theme that is a file, and is named after it. */
export interface FoundTheme {
	name: string;
	path: string;
	scope: "user" | "bundled" | "project" | "package";
	/** Where the file must be; absent: anywhere. */
	within?: ProjectFiles;
}

/** Directories with themes. */
export interface ThemeDirs {
	user: string;
	project: string;
	/** The directory in which all themes of the project are, with links resolved. Default: the one that contains `.pi`. */
	root?: string;
	/** Files of packages that may be used: the path to show and that of the file to read. */
	packages?: readonly { path: string; copy: string }[];
}

/** Theme names, which are safe in a path. */
const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;
const ENDING = ".json";

/**
 * Lists all theme files, sorted by name. The user's themes take precedence over those of pi, and these over those of the project and of
 * packages; files named like a built-in theme are ignored. Never throws: an unreadable directory contains no themes.
 */
export function listThemeFiles({ user, project, root, packages = [] }: ThemeDirs): FoundTheme[] {
	const found = new Map<string, FoundTheme>();
	const within = new ProjectFiles(root ?? dirname(dirname(project)), dirname(user));
	const dirs = { user, bundled: join(packageRoot(), "themes"), project } as const;
	for (const scope of ["user", "bundled", "project"] as const) {
		const dir = dirs[scope];
		for (const entry of entriesOf(dir)) {
			const name = entry.name.endsWith(ENDING) ? entry.name.slice(0, -ENDING.length) : "";
			if (!NAME.test(name) || entry.isDirectory() || isBuiltIn(name) || found.has(name)) continue;
			found.set(name, { name, path: join(dir, entry.name), scope, ...(scope === "project" && { within }) });
		}
	}
	for (const { path, copy } of packages) {
		const name = basename(path, ENDING);
		if (NAME.test(name) && !isBuiltIn(name) && !found.has(name))
			found.set(name, { name, path: copy, scope: "package" });
	}
	return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Reads a theme. Never throws: `problems` start with the file, followed by line and column if it is invalid JSON.
 * @param isReread whether the colors that were read before are kept if the file is unusable
 * @returns `theme`: null if the file is unusable
 */
export function loadThemeFile(
	{ path, within }: Pick<FoundTheme, "path" | "within">,
	isReread = false,
): { theme: CheckedTheme["theme"] | null; problems: string[] } {
	try {
		const value = readJsonObject(path, within && ((file, limits) => within.read(file, limits)));
		if (value === null) return { theme: null, problems: [`${path} does not exist`] };
		const { theme, problems } = checkTheme(value);
		return { theme, problems: problems.map((problem) => `${path}: ${problem}`) };
	} catch (error) {
		return { theme: null, problems: [isReread ? describeReread(error, "colors") : describeError(error)] };
	}
}

function entriesOf(dir: string): Dirent[] {
	try {
		return readdirSync(dir, { withFileTypes: true });
	} catch {
		return []; // usually missing; nothing but themes depends on it
	}
}
