import { readdirSync, type Stats } from "node:fs";
import { basename, delimiter, dirname, join, resolve, sep } from "node:path";
import { type Environment, resolveUserPath } from "../config/paths.js";
import { realPathOrNull, statOrNull } from "../util/fs.js";
import { isRecord } from "../util/is-record.js";
import { modulesRun } from "./python-imports.js";
import { type CollectedFiles, PythonModules } from "./python-modules.js";
import {
	fillShellText,
	fillVariables,
	isInterpreter,
	isLoaded,
	isPythonProgram,
	isShell,
	MAX_TEXT,
	manifestsOf,
	pathsOf,
	runsDirectories,
	wordsOf,
	wordsOfScript,
} from "./server-words.js";

/** What fills the variables of servers. */
export interface ServerContext {
	env: Environment;
	home: string;
}

/** Maximum number of directories from which paths and Python modules of servers start. */
const MAX_DIRS = 50;
/** Maximum number of paths that are looked up: about 0.5 s. */
const MAX_LOOKUPS = 200_000;
/** Data that servers read or write: no code, and changed by them. */
const DATA = /\.(?:log|txt|md|csv|tsv|jsonl|db|db3|sqlite3?|duckdb|parquet)$/i;
/** `name = "package.module:function"` in pyproject.toml. */
const ENTRY_POINT = /=\s{0,20}["']([A-Za-z_][\w.]{0,300}):[\w.]{1,300}["']/g;
/** Files with secrets, which are not read. */
const ENVIRONMENT = /^\.env(?:\.|$)/;

/** The variable with which commands of hooks name the project, in which they run. */
const PROJECT_DIR = /(["']?)\$(?:CLAUDE_PROJECT_DIR\b|\{CLAUDE_PROJECT_DIR\})\1/g;

/** Finds the files of a project that its MCP servers could run: those that their commands name, and Python modules. */
export class ServerCode {
	/** Directories in which the commands run, and from which their paths and Python modules start. */
	readonly #dirs = new Set<string>();
	readonly #looked = new Map<string, Stats | null>();
	/** Real paths of the files that commands name. */
	readonly #scripts = new Set<string>();
	/** Those of them that a shell runs unless they begin with `#!`. */
	readonly #shellScripts = new Set<string>();
	readonly #python: PythonModules;
	/** Programs of which it was noted that what they run is not checked. */
	readonly #noted = new Set<string>();
	/** Manifests whose scripts a server may run. */
	readonly #manifests = new Set<string>();

	/** @param root real path of the project */
	constructor(
		private readonly root: string,
		private readonly files: CollectedFiles,
		private readonly context: ServerContext,
	) {
		this.#python = new PythonModules(root, files, this.#dirs, (path) => this.look(path));
	}

	/** Adds the files of all servers that a configuration defines. @param config the text of a `.mcp.json` or `mcp.json` */
	addServers(config: string): void {
		let parsed: unknown;
		try {
			parsed = JSON.parse(config.replace(/^\ufeff/, ""));
		} catch {
			return; // it defines no servers
		}
		const servers = isRecord(parsed) && isRecord(parsed.mcpServers) ? Object.values(parsed.mcpServers) : [];
		for (const server of servers.filter(isRecord)) this.#addServer(server);
	}

	/** Adds the files that commands of hooks name. @param config the text of a file in the format of Claude Code's settings.json */
	addCommands(config: string): void {
		for (const command of commandsIn(config)) {
			const filled = command.replace(PROJECT_DIR, ".");
			this.#addServer({ command: "sh", args: ["-c", filled] });
		}
	}

	/**
	 * Adds the modules of the project that Python code imports.
	 * @param real real path of a file
	 * @param isPython whether it is known to be one in Python
	 */
	followPython(real: string, source: string, isPython: boolean): void {
		const dir = dirname(real);
		if (isPython && this.#scripts.has(real)) this.#python.addPath(dir);
		// A package's modules count once it is imported, as the standard library may do.
		else if (isPython && !basename(real).startsWith("__init__.")) this.#python.addDirectory(dir);
		this.#python.follow(dir, source);
		if (basename(real) === "pyproject.toml") this.#addEntryPoints(dir, source);
	}

	/** Adds the modules of a project that a program such as uv installs and starts. */
	#addEntryPoints(dir: string, project: string): void {
		for (const [, name = ""] of project.matchAll(ENTRY_POINT)) {
			for (const path of [dir, join(dir, "src")]) {
				if (!this.look(path)?.isDirectory()) continue;
				this.#python.addPath(path);
				this.#python.addImport({ level: 0, name, members: [] }, path);
			}
		}
	}

	/** What is at a path; null for nothing. Hostile files could name any number of paths: too many stop the collection. */
	look(path: string): Stats | null {
		const known = this.#looked.get(path);
		if (known !== undefined) return known;
		if (this.#looked.size >= MAX_LOOKUPS) {
			this.files.stop(`MCP servers whose files name more than ${MAX_LOOKUPS} paths`);
			return null;
		}
		const stats = statOrNull(path);
		this.#looked.set(path, stats);
		return stats;
	}

	/** Adds the files with code that texts in a script name, from its directory or where a server runs. */
	addFiles(bases: Iterable<string>, names: Iterable<string>): void {
		const dirs = new Set([...bases, ...this.#dirs]);
		for (const name of names) {
			if (this.files.isStopped()) return;
			if (name.split("/").includes("node_modules")) continue;
			for (const dir of dirs) this.#python.addFile(join(dir, name));
		}
	}

	/** Whether a file without `#!` is for a shell. @param real its real path */
	isShellScript(real: string): boolean {
		return this.#shellScripts.has(real);
	}

	/** Adds the files that a shell script names. */
	followShell(real: string, text: string): void {
		const dirs = new Set([dirname(real), ...this.#dirs]);
		this.#addWords(this.#readFile(real, text, wordsOfScript), dirs, { isScript: false, isOfShell: true });
	}

	/** Adds what a file such as .npmrc or a Makefile names. package.json has scripts, and pyproject.toml entry points. */
	followManifest(path: string, text: string): void {
		if (!this.#manifests.has(path) || /^(?:package\.json|pyproject\.toml|server\.js)$/.test(basename(path))) return;
		this.#addWords(this.#readFile(path, text, wordsOf), [dirname(path)]);
	}

	#readFile(path: string, text: string, split: (text: string) => string[]): string[] {
		if (text.length <= MAX_TEXT) return split(fillShellText(text, { PWD: this.root }).text);
		this.files.report(path, "other files", `not checked, because it is longer than ${MAX_TEXT} characters`);
		return [];
	}

	/** Adds what the scripts of a package.json name, if a server may run them. */
	addScripts(path: string, manifest: unknown): void {
		if (!this.#manifests.has(path) || !isRecord(manifest) || !isRecord(manifest.scripts)) return;
		const base = join(path, "..");
		for (const script of Object.values(manifest.scripts)) {
			if (typeof script === "string") this.#addWords(this.#readText(script, { PWD: base }, true), [base]);
		}
	}

	/** As it is started: with its variables filled. */
	#addServer({ cwd, command, args, env }: Record<string, unknown>): void {
		const { env: environment, home } = this.context;
		const fill = (text: string) => fillVariables(text, environment);
		const base = typeof cwd === "string" ? resolveUserPath(fill(cwd), this.root, home) : this.root;
		const own = isRecord(env) ? Object.entries(env).filter((entry): entry is [string, string] => isText(entry[1])) : [];
		const variables = Object.fromEntries(own.map(([name, value]) => [name, fill(value)]));
		const { PATH, ...others } = variables;
		const texts = [command, ...(Array.isArray(args) ? args : [])].filter(isText).map(fill);
		const [program = ""] = texts;
		if (program.startsWith("~/")) texts[0] = resolveUserPath(program, home, home);
		const known = { HOME: environment.HOME, PATH: environment.PATH, ...variables, PWD: base };
		const words = texts.flatMap((text, at) => {
			const isRun = /^-\w{0,10}c$/.test(texts[at - 1] ?? "") && texts.slice(0, at).some(isShell);
			return [text, ...this.#readText(text, known, isRun)];
		});
		const values = Object.values(others).flatMap((value) => [value, ...this.#readText(value, known, false)]);
		const dirs = this.#findDirs(base, [...words, ...values]);
		this.#addPrograms(base, PATH, environment.PATH ?? "", words);
		const isScript = this.#isInterpreter(texts[0] ?? "", base, PATH ?? environment.PATH ?? "");
		this.#addWords(words, dirs, { isScript, isOfShell: false });
		this.#addWords(values, dirs);
		const modules = modulesRun(words);
		if (words.some(isPythonProgram) || variables.PYTHONPATH !== undefined) {
			if (modules.length > 0 || words.some(isCode)) this.#python.addPath(base);
			this.#addPythonPaths([...words, ...values], dirs);
		}
		// Python code, as after -c.
		for (const text of texts) if (/\s/.test(text)) this.#python.follow(base, text);
		for (const name of modules) this.#python.addImport({ level: 0, name, members: [] }, base);
	}

	/** Adds the directories in which Python searches modules: those of scripts, and those that words name. */
	#addPythonPaths(words: readonly string[], dirs: Iterable<string>): void {
		const names = new Set(words.flatMap(pathsOf));
		for (const dir of dirs) {
			for (const name of names) {
				const path = resolve(dir, name);
				const stats = this.look(path);
				if (stats?.isDirectory()) this.#python.addPath(path);
				else if (stats?.isFile()) this.#python.addPath(dirname(realPathOrNull(path) ?? path));
			}
		}
	}

	/** The words in a text with several, as for a shell. @param isRun a shell runs it */
	#readText(text: string, variables: Environment, isRun: boolean): string[] {
		if (text.length > MAX_TEXT) {
			this.files.note(text.slice(0, 200), `not checked, because it is longer than ${MAX_TEXT} characters`);
			return [];
		}
		if (!/[\s;&|<>$`(){}"',]/.test(text)) return [];
		const filled = fillShellText(text, variables);
		if (isRun && filled.isComputed) this.files.note(text.slice(0, 200), "computed by a shell");
		return wordsOf(filled.text);
	}

	/** The directories from which paths of a server start: its own, and those that it names, such as that of uv --directory. */
	#findDirs(base: string, words: readonly string[]): Set<string> {
		const dirs = new Set([base]);
		for (const name of new Set(words.flatMap(pathsOf))) {
			const dir = resolve(base, name);
			if (this.look(dir)?.isDirectory() && this.files.isInside(dir)) dirs.add(dir);
			if (this.files.isStopped()) return dirs;
		}
		for (const dir of dirs) this.#dirs.add(dir);
		if (this.#dirs.size > MAX_DIRS) this.files.stop(`MCP servers that name more than ${MAX_DIRS} directories`);
		return dirs;
	}

	/** Adds programs of the project that are found by their names. @param own the server's PATH, @param inherited that of pi */
	#addPrograms(base: string, own: string | undefined, inherited: string, words: readonly string[]): void {
		for (const dir of this.#dirsIn(own ?? "", base)) {
			if (dir.split(sep).includes("node_modules")) {
				this.files.report(base, dir, "programs of packages, not checked");
				continue;
			}
			// What these start is found there, too.
			for (const name of namesIn(dir)) this.#python.addFile(join(dir, name));
		}
		if (own !== undefined) return;
		for (const dir of this.#dirsIn(inherited, base)) {
			for (const word of words) if (!word.includes(sep)) this.#python.addFile(join(dir, word));
		}
	}

	/** The directories of a PATH that are in the project. */
	#dirsIn(path: string, base: string): string[] {
		if (path === "" || path.length > MAX_TEXT) return [];
		const dirs = new Set(path.split(delimiter).map((dir) => resolve(base, dir)));
		return [...dirs].filter((dir) => this.look(dir)?.isDirectory() && this.files.isInside(dir));
	}

	/** Also through a link with another name. */
	#isInterpreter(command: string, base: string, path: string): boolean {
		if (isInterpreter(command)) return true;
		const dirs = command.includes(sep) ? [""] : path.slice(0, MAX_TEXT).split(delimiter);
		const found = dirs.map((dir) => resolve(base, dir, command)).find((file) => this.look(file)?.isFile());
		return found !== undefined && isInterpreter(realPathOrNull(found) ?? "");
	}

	/**
	 * Adds the files that words name. The first one after an interpreter is its script, whatever its name.
	 * @param from `isScript`: the words after the first one begin with a script; `isOfShell`: they are those of a shell script
	 */
	#addWords(
		words: readonly string[],
		dirs: Iterable<string>,
		{ isScript, isOfShell } = { isScript: false, isOfShell: false },
	): void {
		let expectsScript = isScript;
		// An option's file may come before the directory.
		let isForShell = true;
		let expectsDirectory = isScript && !isInterpreter(words[0] ?? "");
		for (const [at, word] of words.entries()) {
			const before = words[at - 1] ?? "";
			const use = {
				isScript: expectsScript && at > 0,
				isPackage: expectsDirectory || isLoaded(word, before),
				isForShell,
			};
			let isFile = false;
			for (const name of pathsOf(word)) isFile = this.#addArgument(name, dirs, use) || isFile;
			if (isFile && at > 0) expectsScript = false;
			if (isFile && at > 0 && !word.startsWith("-") && !before.startsWith("-")) expectsDirectory = false;
			if (isInterpreter(word)) expectsScript = true;
			isForShell = isOfShell || isShell(word) || (isForShell && expectsScript && !isInterpreter(word));
			if (runsDirectories(word)) expectsDirectory = true;
			const manifests = manifestsOf(word);
			if (!manifests) continue;
			for (const dir of dirs) {
				for (const name of manifests.files) this.#addManifest(join(dir, name));
			}
			if (manifests.isFollowed || this.#noted.has(word)) continue;
			this.#noted.add(word);
			this.files.note(word, "what it builds and runs is not checked");
		}
	}

	#addManifest(path: string): void {
		if (!this.look(path)?.isFile() || !this.files.isOwn(path)) return;
		this.#manifests.add(path);
		this.files.queue(path);
	}

	/**
	 * @param use `isScript`: it is code whatever its name; `isPackage`: a directory runs by its package.json; `isForShell`: a
	 * shell runs it unless it begins with `#!`
	 * @returns true if it names a file of the project
	 */
	#addArgument(
		name: string,
		dirs: Iterable<string>,
		use: { isScript: boolean; isPackage: boolean; isForShell: boolean },
	): boolean {
		let isFile = false;
		for (const dir of dirs) {
			if (this.files.isStopped()) return isFile;
			for (const path of this.files.candidates(resolve(dir, name))) {
				const isManifest = path.endsWith(`${sep}package.json`) && !name.endsWith("package.json");
				if ((isManifest && !use.isPackage) || !this.files.isOwn(path)) continue;
				isFile = true;
				if (ENVIRONMENT.test(basename(path))) this.files.report(dir, path, "not read: it may hold secrets");
				else if (DATA.test(path) && !use.isScript) this.files.report(dir, path, "data, not checked");
				else {
					const real = realPathOrNull(path) ?? path;
					this.#scripts.add(real);
					if (use.isForShell) this.#shellScripts.add(real);
					this.files.queue(path);
				}
			}
			this.#python.addFile(join(resolve(dir, name), "__main__.py"));
		}
		return isFile;
	}
}

/** Whether an option has Python read code from the next argument or the input, and search modules where it runs. */
function isCode(option: string): boolean {
	return /^-$|^-[A-Za-z]{0,10}[ci]$/.test(option);
}

function isText(value: unknown): value is string {
	return typeof value === "string" && value !== "";
}

function namesIn(dir: string): string[] {
	try {
		return readdirSync(dir).sort();
	} catch {
		return []; // nothing can be started from it either
	}
}

/** Every `command` in a file, wherever it is: rather too many than too few. */
function commandsIn(config: string): string[] {
	const commands: string[] = [];
	try {
		JSON.parse(config.replace(/^\ufeff/, ""), (key, value: unknown) => {
			if (key === "command" && isText(value)) commands.push(value);
			return value;
		});
	} catch {
		return []; // no command of it runs either
	}
	return commands;
}
