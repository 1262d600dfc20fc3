import { constants, promises, readlinkSync, realpathSync, type Stats } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { PiError } from "../../errors.js";
import { atomicWriteFile, fileKind, notADirectory, openRegularFile } from "../../util/fs.js";
import { type ProcessResult, spawnGroup } from "../../util/process.js";
import type { HostEntry, HostExecOptions, HostFile, HostStat, OpenFileOptions, ToolHost } from "./machine.js";
import { spawnShell } from "./spawn-shell.js";

/** Maximum number of directories and links resolved for one path; more are a loop. */
const MAX_STEPS = 200;

/** This machine. @param home the user's home directory, if it is not that of the process */
export function createLocalMachine(cwd: string, home: string = homedir(), agentDir?: string): ToolHost {
	return {
		...(agentDir === undefined ? {} : { agentDir }),
		name: "",
		cwd,
		home,
		tmpDir: tmpdir(),
		platform: process.platform,
		exec: (command, options = {}) => exec(command, { ...options, cwd: options.cwd ?? cwd }),
		openFile,
		async writeFile(path, data, { signal } = {}) {
			signal?.throwIfAborted();
			const existing = await promises.stat(path).catch(() => undefined); // the write reports the error
			if (existing && !existing.isFile()) {
				throw new PiError("file_unreadable", `Cannot write ${path}: it is ${fileKind(existing)}`);
			}
			await createDirectory(dirname(path));
			await atomicWriteFile(path, data);
			return { created: existing === undefined, realPath: realPathOf(path) };
		},
		stat: async (path) => toHostStat(await promises.stat(path)),
		list,
		realPath: async (path) => realPathOf(path),
		async search(request) {
			const isFile = !(await promises.stat(request.path)).isDirectory();
			if (isFile && !request.lines) {
				throw Object.assign(new Error(`${request.path} is not a directory`), { code: "ENOTDIR" });
			}
			// ripgrep finds nothing in what it cannot read, and waits for a FIFO.
			if (isFile) await (await openFile(request.path)).close();
			else await promises.access(request.path, constants.R_OK | constants.X_OK);
			// Not needed for the first paint.
			const { ripgrepArguments, runSearch, searchOptions } = await import("./ripgrep.js");
			const args = [...ripgrepArguments(request), isFile ? join(".", basename(request.path)) : "./"];
			const cwd = isFile ? dirname(request.path) : request.path;
			return runSearch(
				(options) => startRipgrep(args, { cwd, ...options }),
				searchOptions(request, () => isFile),
			);
		},
		dispose: async () => {},
	};
}

/** Creates a directory and its missing parents. @throws an error that names a parent that is not a directory */
async function createDirectory(path: string): Promise<void> {
	try {
		await promises.mkdir(path, { recursive: true });
	} catch (error) {
		for (let parent = path; parent !== dirname(parent); parent = dirname(parent)) {
			const stats = await promises.stat(parent).catch(() => undefined); // missing, or inside something else
			if (stats && !stats.isDirectory()) throw notADirectory(parent, stats);
		}
		throw error;
	}
}

function exec(command: string | readonly string[], options: HostExecOptions & { cwd: string }): Promise<ProcessResult> {
	if (typeof command === "string") {
		const { onOutput, ...others } = options;
		return spawnShell(command, { ...others, onOutput: (chunk) => onOutput?.(chunk, "stdout") });
	}
	const [program = "", ...args] = command;
	return spawnGroup(program, args, options);
}

let located: Promise<string> | undefined;

/** Starts the ripgrep installed with pi, else `rg` on the PATH. */
export async function startRipgrep(
	args: readonly string[],
	options: Pick<HostExecOptions, "cwd" | "signal" | "onOutput">,
): Promise<ProcessResult> {
	located ??= locate();
	const result = await spawnGroup(await located, args, { ...options, announcedByShell: true });
	if (result.failure === undefined) return result;
	const failure = `The tools grep and find need ripgrep, which failed to start (${result.failure}). Use grep or find with bash; the user can install the package "ripgrep".`;
	return { ...result, failure };
}

async function locate(): Promise<string> {
	try {
		return (await import("@vscode/ripgrep")).rgPath;
	} catch {
		return "rg";
	}
}

async function openFile(path: string, { offset = 0, signal }: OpenFileOptions = {}): Promise<HostFile> {
	const { file, size } = await openRegularFile(path);
	let position = offset;
	return {
		size,
		async read(into) {
			signal?.throwIfAborted();
			const { bytesRead } = await file.read(into, 0, into.length, position);
			position += bytesRead;
			return bytesRead;
		},
		close: () => file.close(),
	};
}

function toHostStat(stats: Stats): HostStat {
	const kind = stats.isDirectory() ? "directory" : stats.isFile() ? "file" : "other";
	return { kind, size: Number(stats.size) };
}

async function list(path: string): Promise<HostEntry[]> {
	const entries = await promises.readdir(path, { withFileTypes: true });
	return Promise.all(
		entries.map(async (entry): Promise<HostEntry> => {
			const { name } = entry;
			if (entry.isDirectory()) return { name, kind: "directory", isFolder: true };
			if (!entry.isSymbolicLink()) return { name, kind: entry.isFile() ? "file" : "other", isFolder: false };
			const full = join(path, name);
			// A link may be broken, and may have been deleted meanwhile.
			const [target, stats] = await Promise.all([
				promises.readlink(full).catch(() => undefined),
				promises.stat(full).catch(() => undefined),
			]);
			return {
				name,
				kind: "link",
				isFolder: stats?.isDirectory() === true,
				...(target === undefined ? {} : { target }),
			};
		}),
	);
}

/** Resolves links as far as the path exists, including broken links. */
function realPathOf(path: string, stepsLeft = MAX_STEPS): string {
	try {
		return realpathSync(path);
	} catch {
		const parent = dirname(path);
		if (parent === path || stepsLeft === 0) return path;
		const directory = realPathOf(parent, stepsLeft - 1);
		const file = join(directory, basename(path));
		const target = linkTarget(file);
		return target === undefined ? file : realPathOf(resolve(directory, target), stepsLeft - 1);
	}
}

function linkTarget(path: string): string | undefined {
	try {
		return readlinkSync(path);
	} catch {
		return undefined; // missing, or not a link
	}
}
