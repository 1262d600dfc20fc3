import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { FileSearch } from "./file-search.js";
import { fuzzyMatch } from "./fuzzy.js";

/** A row of the completion popup. Texts may come from anywhere. */
export interface CompletionRow {
	/** Takes the place of the prefix. */
	readonly insert: string;
	readonly label: string;
	/** Stands behind the label, dim. */
	readonly hint?: string;
	readonly description?: string;
	/** Stands at the right. */
	readonly origin?: string;
	/** Indices into `label` of the letters that match what was typed. */
	readonly matched?: readonly number[];
	/** Enter on it also submits. */
	readonly submits: boolean;
}

/** What fits the text before the cursor. */
export interface Completion {
	readonly rows: readonly CompletionRow[];
	/** The end of the text before the cursor that a row takes the place of. */
	readonly prefix: string;
	/** A line that stays while arguments are typed. */
	readonly usage?: { readonly name: string; readonly hint: string; readonly description: string };
}

/** Where the cursor stands. */
export interface CompletionRequest {
	/** Text of the line before the cursor. */
	readonly before: string;
	/** True on the first line of the text. */
	readonly firstLine: boolean;
	/** Tab was pressed. */
	readonly forced: boolean;
	readonly signal: AbortSignal;
}

/** Finds completions. What is at hand comes at once, so that no key can overtake it. */
export interface CompletionSource {
	complete(request: CompletionRequest): Completion | null | Promise<Completion | null>;
}

/** A slash command as the palette shows it. */
export interface PaletteEntry {
	/** Without the slash. */
	readonly name: string;
	readonly description: string;
	readonly argumentHint?: string;
	readonly origin: string;
}

/** A suggestion for an argument. */
export interface ArgumentSuggestion {
	readonly value: string;
	readonly label?: string;
	readonly description?: string;
}

/** Where completions come from. */
export interface CompletionSources {
	palette(): readonly PaletteEntry[];
	completeArguments(name: string, prefix: string): Promise<readonly ArgumentSuggestion[]>;
	/** Paths relative to `cwd`, with `/`. Called anew from time to time. */
	listFiles(): Promise<readonly string[]>;
	/** Directory that relative paths start from. */
	cwd: string;
}

const MAX_FILES = 20;
const COMMAND = /^\/(\S*)$/;
const ARGUMENTS = /^\/(\S+) (.*)$/;
const FILE = /(?:^|[\s(])(@(?:"([^"]*)|([^\s"]*)))$/;
const PATH = /(?:^|\s)("([^"]*)|[^\s"]*)$/;

/** Commands and their arguments, files after `@`, and paths on Tab. */
export function createCompletion(sources: CompletionSources): CompletionSource {
	const files = new FileSearch(() => sources.listFiles());
	return {
		complete(request) {
			const command = request.firstLine ? COMMAND.exec(request.before) : null;
			if (command) return completeCommand(sources.palette(), command[1] ?? "");
			const file = FILE.exec(request.before);
			if (file) return completeFile(files, file[1] ?? "", file[2] ?? file[3] ?? "", request.signal);
			const call = request.firstLine ? ARGUMENTS.exec(request.before) : null;
			if (call) return completeCall(sources, call[1] ?? "", call[2] ?? "", request);
			return request.forced ? completePath(request.before, sources.cwd) : null;
		},
	};
}

function completeCommand(palette: readonly PaletteEntry[], typed: string): Completion | null {
	const rows = palette
		.flatMap((entry) => {
			const match = fuzzyMatch(typed, entry.name);
			return match ? [{ entry, match }] : [];
		})
		.sort((a, b) => (typed ? b.match.score - a.match.score : 0))
		.map(({ entry, match }) => ({
			insert: `/${entry.name} `,
			label: `/${entry.name}`,
			hint: entry.argumentHint,
			description: entry.description,
			origin: entry.origin,
			matched: match.positions.map((position) => position + 1),
			submits: true,
		}));
	return rows.length > 0 ? { rows, prefix: `/${typed}` } : null;
}

async function completeCall(
	sources: CompletionSources,
	name: string,
	typed: string,
	request: CompletionRequest,
): Promise<Completion | null> {
	const entry = sources.palette().find((candidate) => candidate.name === name);
	if (!entry) return request.forced ? completePath(request.before, sources.cwd) : null;
	const usage = { name: `/${name}`, hint: entry.argumentHint ?? "", description: entry.description };
	const suggestions = await sources.completeArguments(name, typed);
	if (suggestions.length === 0 && request.forced) {
		const paths = await completePath(request.before, sources.cwd);
		if (paths) return { ...paths, usage };
	}
	return {
		usage,
		prefix: typed,
		rows: suggestions.map(({ value, label, description }) => ({
			insert: value,
			label: label ?? value,
			description,
			matched: fuzzyMatch(typed, label ?? value)?.positions,
			submits: true,
		})),
	};
}

async function completeFile(
	files: FileSearch,
	prefix: string,
	query: string,
	signal: AbortSignal,
): Promise<Completion | null> {
	const found = await files.search(query, MAX_FILES, signal);
	const rows = found.map(({ path, positions }) => ({
		insert: `@${/[\s"]/.test(path) ? `"${path}"` : path} `,
		label: path,
		matched: positions,
		submits: false,
	}));
	return rows.length > 0 ? { rows, prefix } : null;
}

async function completePath(before: string, cwd: string): Promise<Completion | null> {
	const match = PATH.exec(before);
	const prefix = match?.[1] ?? "";
	const typed = match?.[2] ?? prefix;
	const slash = typed.lastIndexOf("/") + 1;
	const folder = typed.slice(0, slash);
	const start = typed.slice(slash);
	const base = folder.startsWith("~/")
		? join(homedir(), folder.slice(2))
		: folder.startsWith("/")
			? folder
			: join(cwd, folder);
	// A folder that cannot be read has nothing to offer.
	const entries = await readdir(base, { withFileTypes: true }).catch(() => []);
	const rows = entries
		.filter((entry) => entry.name.startsWith(start) && (start.startsWith(".") || !entry.name.startsWith(".")))
		.sort((a, b) => Number(b.isDirectory()) - Number(a.isDirectory()) || a.name.localeCompare(b.name))
		.slice(0, MAX_FILES)
		.map((entry) => {
			const isFolder = entry.isDirectory();
			const path = `${folder}${entry.name}${isFolder ? "/" : ""}`;
			const quoted = /\s/.test(path) ? `"${path}${isFolder ? "" : '"'}` : path;
			return { insert: isFolder ? quoted : `${quoted} `, label: `${entry.name}${isFolder ? "/" : ""}`, submits: false };
		});
	return rows.length > 0 ? { rows, prefix } : null;
}
