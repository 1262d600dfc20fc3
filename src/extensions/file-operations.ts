import { dirname, join, relative, resolve } from "node:path";
import type { HostEntry, HostFile, HostStat, SearchRequest, ToolHost } from "../tools/machine/machine.js";

/** Where a tool that an extension creates reads and writes files. Which members there are depends on the tool. */
export interface FileOperations {
	/** Throws for a file that cannot be used. */
	access?(path: string): Promise<void>;
	readFile?(path: string): MaybeAsync<string | Uint8Array>;
	writeFile?(path: string, content: string): Promise<void>;
	/** With missing parents. */
	mkdir?(path: string): Promise<void>;
	exists?(path: string): MaybeAsync<boolean>;
	stat?(path: string): MaybeAsync<{ isDirectory(): boolean }>;
	isDirectory?(path: string): MaybeAsync<boolean>;
	readdir?(path: string): MaybeAsync<readonly string[]>;
	/** @returns paths, absolute or from `cwd` */
	glob?(pattern: string, cwd: string, options: { ignore: string[]; limit: number }): MaybeAsync<readonly string[]>;
}

type MaybeAsync<T> = T | Promise<T>;

/** The most files that a search asks for; the find tool shows fewer. */
const MAX_FOUND = 20_001;
const IGNORED = ["**/node_modules/**", "**/.git/**"];

/** The members of a tool's host that work with the operations of an extension instead of the files of the session. */
export function fileHost(host: ToolHost, operations: FileOperations): Partial<ToolHost> {
	const kindOf = async (path: string): Promise<HostStat["kind"]> => {
		if (operations.exists && !(await operations.exists(path))) throw missing(path);
		if (operations.stat) return (await operations.stat(path)).isDirectory() ? "directory" : "file";
		if (operations.isDirectory) return (await operations.isDirectory(path)) ? "directory" : "file";
		if (operations.access) await operations.access(path);
		else if (!operations.exists) throw missing(path);
		return "file";
	};
	const entry = async (directory: string, name: string): Promise<HostEntry> => {
		// One that is gone since it was listed, or a broken link.
		const kind = await kindOf(join(directory, name)).catch(() => "other" as const);
		return { name, kind, isFolder: kind === "directory" };
	};
	return {
		async openFile(path, { offset = 0 } = {}) {
			if (!operations.readFile) throw missing(path);
			await operations.access?.(path);
			return fileOf(Buffer.from((await operations.readFile(path)) as Uint8Array), offset);
		},
		async writeFile(path, data) {
			if (!operations.writeFile) throw new Error(`Cannot write ${path}`);
			await operations.mkdir?.(dirname(path));
			await operations.writeFile(path, typeof data === "string" ? data : Buffer.from(data).toString("utf8"));
			return { created: !operations.readFile, realPath: path };
		},
		stat: async (path) => ({ kind: await kindOf(path), size: 0 }),
		async list(path) {
			if (!operations.readdir) return [];
			if ((await kindOf(path)) !== "directory")
				throw Object.assign(new Error(`${path} is a file`), { code: "ENOTDIR" });
			return Promise.all([...(await operations.readdir(path))].map((name) => entry(path, name)));
		},
		realPath: async (path) => path,
		async search(request) {
			if (request.lines || !operations.glob) return host.search(request);
			await kindOf(request.path);
			for (const file of await globAll(operations.glob, request)) {
				if (request.onFile?.(file) === false) return { status: "done", complete: false };
			}
			return { status: "done", complete: true };
		},
	};
}

/** The files of a search, relative to its directory. */
async function globAll(
	glob: NonNullable<FileOperations["glob"]>,
	{ path, names = ["*"] }: SearchRequest,
): Promise<Set<string>> {
	const found = await Promise.all(names.map((name) => glob(name, path, { ignore: IGNORED, limit: MAX_FOUND })));
	return new Set(found.flat().map((file) => relative(path, resolve(path, file))));
}

function fileOf(content: Buffer, offset: number): HostFile {
	let rest = content.subarray(offset);
	return {
		size: content.length,
		async read(into) {
			const count = Math.min(into.length, rest.length);
			into.set(rest.subarray(0, count));
			rest = rest.subarray(count);
			return count;
		},
		async close() {},
	};
}

function missing(path: string): Error {
	return Object.assign(new Error(`${path} does not exist`), { code: "ENOENT" });
}
