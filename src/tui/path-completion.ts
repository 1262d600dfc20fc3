import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Completion } from "./completion.js";

/** A path that is being typed. */
export interface TypedPath {
	/** The whole word, with what stands before the path and with its opening quote. */
	readonly word: string;
	/** The path itself. */
	readonly path: string;
	/** Stands before the path in what is inserted, such as `@`. */
	readonly sign?: string;
}

const MAX_ROWS = 200;

/** What is in a folder and goes on as typed: folders first. Hidden names only when their dot is typed. */
export async function completePath({ word, path, sign = "" }: TypedPath, cwd: string): Promise<Completion | null> {
	const slash = path.lastIndexOf("/") + 1;
	const folder = path === "~" ? "~/" : path.slice(0, slash);
	const start = path === "~" ? "" : path.slice(slash);
	const base = folderOf(folder, cwd);
	// A folder that cannot be read has nothing to offer.
	const entries = await readdir(base, { withFileTypes: true }).catch(() => []);
	const fitting = entries
		.filter(({ name }) => name.startsWith(start) && (start.startsWith(".") || !name.startsWith(".")))
		.sort((a, b) => a.name.localeCompare(b.name))
		.slice(0, MAX_ROWS);
	const found = await Promise.all(fitting.map(async (entry) => ({ entry, isFolder: await isFolder(entry, base) })));
	const rows = found
		.sort((a, b) => Number(b.isFolder) - Number(a.isFolder))
		.map(({ entry, isFolder }) => ({
			insert: quoted(sign, `${folder}${entry.name}`, isFolder),
			label: `${entry.name}${isFolder ? "/" : ""}`,
			matched: Array.from(start, (_, index) => index),
			submits: false,
		}));
	return rows.length > 0 ? { rows, prefix: word } : null;
}

/** A path as it is inserted: in quotes when it holds a blank, with the quote left open where it may go on. */
export function quoted(sign: string, path: string, isFolder: boolean): string {
	if (!/[\s"]/.test(path)) return `${sign}${path}${isFolder ? "/" : " "}`;
	return `${sign}"${path}${isFolder ? "/" : '" '}`;
}

function folderOf(folder: string, cwd: string): string {
	if (folder.startsWith("~/")) return join(homedir(), folder.slice(2));
	return folder.startsWith("/") ? folder : join(cwd, folder);
}

async function isFolder(entry: Dirent, base: string): Promise<boolean> {
	if (!entry.isSymbolicLink()) return entry.isDirectory();
	// A link that leads nowhere is a file to us.
	return stat(join(base, entry.name)).then(
		(stats) => stats.isDirectory(),
		() => false,
	);
}
