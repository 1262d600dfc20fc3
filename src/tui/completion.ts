import { join } from "node:path";
import { FileSearch, type FoundFile, type ListFiles } from "./file-search.js";
import { fuzzyMatch } from "./fuzzy.js";

/** A row of the completion popup. Its texts may be untrusted. */
export interface CompletionRow {
	/** Replaces the prefix. */
	readonly insert: string;
	readonly label: string;
	/** Shown dimmed after the label. */
	readonly hint?: string;
	readonly description?: string;
	/** Shown at the right. */
	readonly origin?: string;
	/** Indices into `label` of the letters that match the typed text. */
	readonly matched?: readonly number[];
	/** What Enter does: inserts or submits the row. With the last two only if it was chosen with the arrows: else the text as typed is submitted. */
	readonly enter: "insert" | "submit" | "insertChosen" | "submitTyped";
}

/** Completions of the text before the cursor. */
export interface Completion {
	readonly rows: readonly CompletionRow[];
	/** The end of the text before the cursor, which the selected row replaces. */
	readonly prefix: string;
	/** A line that remains visible while arguments are typed. */
	readonly usage?: { readonly name: string; readonly hint: string; readonly description: string };
}

/** The text to complete. */
export interface CompletionRequest {
	/** Text of the line before the cursor. */
	readonly before: string;
	/** Whether that line is the first of the text. */
	readonly firstLine: boolean;
	/** Whether Tab was pressed. */
	readonly forced: boolean;
	readonly signal: AbortSignal;
	/** Receives the results so far of a slow search. */
	onPartial?(completion: Completion): void;
}

/** Finds completions. Results that need no I/O are returned synchronously, so that no key can overtake them. */
export interface CompletionSource {
	complete(request: CompletionRequest): Completion | null | Promise<Completion | null>;
	/** Stops background work: the user closed the popup. */
	cancel(): void;
}

/** A slash command in the palette. */
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

/** The machine whose paths are completed. */
export interface CompletedFolders {
	readonly cwd: string;
	readonly home: string;
	/** The entries of a directory. May reject. */
	list(path: string): Promise<readonly FolderEntry[]>;
}

/** An entry of a directory. */
export interface FolderEntry {
	readonly name: string;
	/** True for a directory and for a link to one. */
	readonly isFolder: boolean;
}

/** The data that completions are made from. */
export interface CompletionSources {
	palette(): readonly PaletteEntry[];
	/** True for a name that Enter submits as typed although the palette lists only others. */
	isUnlistedCommand?(name: string): boolean;
	completeArguments(name: string, prefix: string): Promise<readonly ArgumentSuggestion[]>;
	/** Completes the text after `@` with resources of MCP servers. */
	completeResource?(typed: string, signal: AbortSignal): Promise<readonly ArgumentSuggestion[]>;
	/** Lists paths relative to the working directory. Called repeatedly. */
	listFiles: ListFiles;
	folders(): CompletedFolders;
}

const MAX_PATHS = 200;
const MAX_FILES = 20;
const COMMAND = /^\/(\S*)$/;
const ARGUMENTS = /^\/(\S+) (.*)$/;
const FILE = /(?:^|[\s(])(@(?:"([^"]*)|([^\s"]*)))$/;
/** After `@`: a path to complete segment by segment, not by fuzzy search. */
const EXPLICIT_PATH = /^(?:~?\/|\.\.?\/)/;
const PATH = /(?:^|\s)("([^"]*)|[^\s"]*)$/;

/** Commands and their arguments, files after `@`, and paths on Tab. */
export function createCompletion(sources: CompletionSources): CompletionSource {
	const files = new FileSearch((onFile, signal) => sources.listFiles(onFile, signal));
	return {
		complete(request) {
			const command = request.firstLine ? COMMAND.exec(request.before) : null;
			const commands = command ? completeCommand(sources, command[1] ?? "") : null;
			if (commands) return commands;
			const file = FILE.exec(request.before);
			if (file) {
				const [, word = "", inQuotes, plain] = file;
				const query = inQuotes ?? plain ?? "";
				const typed = { word, path: query, sign: "@" };
				return withNamed(typed, sources.folders(), request, (current) =>
					EXPLICIT_PATH.test(query)
						? completePath(typed, sources.folders())
						: completeMention(files, sources, { word, query }, current),
				);
			}
			const call = request.firstLine ? ARGUMENTS.exec(request.before) : null;
			if (call) return completeCall(sources, call[1] ?? "", call[2] ?? "", request);
			return request.forced ? pathBefore(request.before, sources.folders()) : null;
		},
		cancel: () => files.cancel(),
	};
}

function completeCommand(sources: CompletionSources, typed: string): Completion | null {
	const enter = sources.isUnlistedCommand?.(typed) ? "submitTyped" : "submit";
	const entries = sources.palette();
	const named = entries
		.flatMap((entry) => {
			const match = fuzzyMatch(typed, entry.name);
			return match ? [{ entry, match }] : [];
		})
		.sort((a, b) => (typed ? b.match.score - a.match.score : 0));
	const isNamed = new Set(named.map(({ entry }) => entry));
	const described = entries.filter((entry) => !isNamed.has(entry) && hasWord(entry.description, typed));
	const rows = [
		...named.map(({ entry, match }) => commandRow(entry, match.positions, enter)),
		// Nobody means to run a command whose name they did not type.
		...described.map((entry) => commandRow(entry, [], enter === "submit" ? "insert" : enter)),
	];
	return rows.length > 0 ? { rows, prefix: `/${typed}` } : null;
}

function commandRow(entry: PaletteEntry, positions: readonly number[], enter: CompletionRow["enter"]): CompletionRow {
	return {
		insert: `/${entry.name} `,
		label: `/${entry.name}`,
		hint: entry.argumentHint,
		description: entry.description,
		origin: entry.origin,
		matched: positions.map((position) => position + 1),
		enter,
	};
}

/** True if a word of the text begins like this. Of fewer than three letters, too many do. */
function hasWord(text: string, beginning: string): boolean {
	if (beginning.length < 3) return false;
	const wanted = beginning.toLowerCase();
	return text
		.toLowerCase()
		.split(/[^\p{L}\p{N}]+/u)
		.some((word) => word.startsWith(wanted));
}

async function completeCall(
	sources: CompletionSources,
	name: string,
	typed: string,
	request: CompletionRequest,
): Promise<Completion | null> {
	const entry = sources.palette().find((candidate) => candidate.name === name);
	if (!entry) return request.forced ? pathBefore(request.before, sources.folders()) : null;
	const usage = { name: `/${name}`, hint: entry.argumentHint ?? "", description: entry.description };
	const suggestions = await sources.completeArguments(name, typed);
	if (suggestions.length === 0 && request.forced) {
		const paths = await pathBefore(request.before, sources.folders());
		if (paths) return { ...paths, usage };
	}
	return {
		usage,
		prefix: typed,
		rows: suggestions.map(
			({ value, label, description }): CompletionRow => ({
				insert: value,
				label: label ?? value,
				description,
				matched: fuzzyMatch(typed, label ?? value)?.positions,
				enter: "submitTyped",
			}),
		),
	};
}

/** A resource of an MCP server is `name:…`. */
const RESOURCE = /^[\w-]+:/;

/** Completes what is typed after `@`: resources of MCP servers, or files. */
async function completeMention(
	files: FileSearch,
	sources: CompletionSources,
	{ word, query }: { word: string; query: string },
	request: CompletionRequest,
): Promise<Completion | null> {
	const found = (await sources.completeResource?.(query, request.signal)) ?? [];
	const rows = found.slice(0, MAX_FILES).map(({ value, description }): CompletionRow => {
		const isServer = value.endsWith(":");
		const isQuoted = /[\s"]/.test(value);
		const text = isQuoted ? `@"${value}` : `@${value}`;
		return {
			insert: isServer ? text : `${text}${isQuoted ? '"' : ""} `,
			label: value,
			description,
			matched: fuzzyMatch(query, value)?.positions,
			enter: "insert",
		};
	});
	if (rows.length > 0 && RESOURCE.test(query)) return { rows, prefix: word };
	const some = { ...request, onPartial: (partial: Completion) => request.onPartial?.(withRows(rows, partial)) };
	const ofFiles = await completeFile(files, word, query, some);
	return ofFiles ? withRows(rows, ofFiles) : rows.length > 0 ? { rows, prefix: word } : null;
}

function withRows(rows: readonly CompletionRow[], completion: Completion): Completion {
	return rows.length > 0 ? { ...completion, rows: [...rows, ...completion.rows] } : completion;
}

async function completeFile(
	files: FileSearch,
	prefix: string,
	query: string,
	{ signal, onPartial }: CompletionRequest,
): Promise<Completion | null> {
	const toCompletion = (found: readonly FoundFile[]): Completion => ({
		prefix,
		rows: found.map(({ path, positions }): CompletionRow => {
			const isFolder = path.endsWith("/");
			return {
				insert: quoted("@", isFolder ? path.slice(0, -1) : path, isFolder),
				label: path,
				matched: positions,
				enter: "insert",
			};
		}),
	});
	const found = await files.search(query, {
		limit: MAX_FILES,
		signal,
		onPartial: (some) => onPartial?.(toCompletion(some)),
	});
	return found.length > 0 ? toCompletion(found) : null;
}

/** Completes the path that ends at the cursor. */
function pathBefore(before: string, folders: CompletedFolders): Promise<Completion | null> {
	const [, word = "", inQuotes] = PATH.exec(before) ?? [];
	return completePath({ word, path: inQuotes ?? word }, folders);
}

/** A path that is being typed. */
interface TypedPath {
	/** The complete word: sign, opening quote and path. */
	readonly word: string;
	readonly path: string;
	/** Inserted before the path, such as `@`. */
	readonly sign?: string;
}

/**
 * Completes a path after `@`. If it names a file or folder already, that one is the first row, and Enter submits the text as
 * typed: another file, which only matches better, must not replace it. Without other rows, nothing is offered except on Tab.
 */
async function withNamed(
	typed: TypedPath,
	folders: CompletedFolders,
	request: CompletionRequest,
	complete: (request: CompletionRequest) => Promise<Completion | null>,
): Promise<Completion | null> {
	const entry = await findNamed(typed.path, folders);
	if (!entry) return complete(request);
	const { sign = "", path, word } = typed;
	const insert = quoted(sign, path.replace(/\/$/, ""), entry.isFolder);
	const label = entry.isFolder && !path.endsWith("/") ? `${path}/` : path;
	const matched = Array.from({ length: path.length }, (_, index) => index);
	const named = ({ rows, ...completion }: Completion): Completion => {
		const others = rows.filter((row) => row.insert !== insert);
		// Below a typed folder follow its entries.
		const own = path.endsWith("/") ? [] : [{ insert, label, matched }];
		return { ...completion, rows: [...own, ...others].map((row) => ({ ...row, enter: "insertChosen" })) };
	};
	const onPartial = (partial: Completion) => request.onPartial?.(named(partial));
	const all = named((await complete({ ...request, onPartial })) ?? { rows: [], prefix: word });
	const hasOthers = all.rows.some((row) => row.insert !== insert);
	return hasOthers || (request.forced && all.rows.length > 0) ? all : null;
}

/** The file or folder of this path; undefined if none exists. */
async function findNamed(path: string, folders: CompletedFolders): Promise<Pick<FolderEntry, "isFolder"> | undefined> {
	const slash = path.lastIndexOf("/") + 1;
	if (path === "") return undefined;
	const name = path.slice(slash);
	// An unreadable folder has no entries.
	const entries = await folders.list(folderOf(path.slice(0, slash), folders)).catch(() => null);
	return name === "" ? (entries ? { isFolder: true } : undefined) : entries?.find((entry) => entry.name === name);
}

/** Lists the entries of a folder that start with the typed name, folders first; hidden ones only when the dot is typed. */
async function completePath(
	{ word, path, sign = "" }: TypedPath,
	folders: CompletedFolders,
): Promise<Completion | null> {
	const slash = path.lastIndexOf("/") + 1;
	const folder = path === "~" ? "~/" : path.slice(0, slash);
	const start = path === "~" ? "" : path.slice(slash);
	// An unreadable folder has no completions.
	const entries = await folders.list(folderOf(folder, folders)).catch(() => []);
	const rows = entries
		.filter(({ name }) => name.startsWith(start) && (start.startsWith(".") || !name.startsWith(".")))
		.sort((a, b) => a.name.localeCompare(b.name))
		.slice(0, MAX_PATHS)
		.sort((a, b) => Number(b.isFolder) - Number(a.isFolder))
		.map(
			({ name, isFolder }): CompletionRow => ({
				insert: quoted(sign, `${folder}${name}`, isFolder),
				label: `${name}${isFolder ? "/" : ""}`,
				matched: Array.from({ length: start.length }, (_, index) => index),
				enter: "insert",
			}),
		);
	return rows.length > 0 ? { rows, prefix: word } : null;
}

/** The text to insert for a path: quoted when it contains whitespace, with the quote left open after a folder. */
function quoted(sign: string, path: string, isFolder: boolean): string {
	if (!/[\s"]/.test(path)) return `${sign}${path}${isFolder ? "/" : " "}`;
	return `${sign}"${path}${isFolder ? "/" : '" '}`;
}

function folderOf(folder: string, { cwd, home }: CompletedFolders): string {
	if (folder.startsWith("~/")) return join(home, folder.slice(2));
	return folder.startsWith("/") ? folder : join(cwd, folder);
}
