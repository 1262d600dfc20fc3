import { isAbsolute, relative, sep } from "node:path";
import { PiError } from "../../errors.js";
import { realPathOrNull } from "../../util/fs.js";
import type { ToolHost } from "./machine.js";

/**
 * Directories of the machine where pi runs that tools on another machine can read, such as that of saved output. Links are
 * resolved now: a link that a program creates later does not make other directories readable.
 */
export class ReadableDirectories {
	readonly #paths: readonly string[];
	readonly #realPaths: readonly string[];

	constructor(paths: Iterable<string>) {
		this.#paths = [...new Set(paths)];
		// Nothing in a missing directory can be read yet.
		this.#realPaths = this.#paths.map((path) => realPathOrNull(path) ?? path);
	}

	/** True for a path as tools name it. */
	names(path: string): boolean {
		return [...this.#paths, ...this.#realPaths].some((directory) => isInside(directory, path));
	}

	/** True for a path without links. */
	contains(realPath: string): boolean {
		return this.#realPaths.some((directory) => isInside(directory, realPath));
	}
}

/**
 * A host on which paths in some directories are those of this machine, to read only: the only place that decides about it.
 * Commands do not see them.
 */
export function withReadable(host: ToolHost, local: ToolHost, readable: () => ReadableDirectories): ToolHost {
	/** The path on this machine; null if it is one of the host. */
	const localPath = async (path: string): Promise<string | null> => {
		const directories = readable();
		if (!directories.names(path)) return null;
		const realPath = await local.realPath(path);
		return directories.contains(realPath) ? realPath : null;
	};
	return {
		name: host.name,
		...(host.note === undefined ? {} : { note: host.note }),
		...(host.sharesFiles === undefined ? {} : { sharesFiles: host.sharesFiles }),
		cwd: host.cwd,
		home: host.home,
		tmpDir: host.tmpDir,
		...(host.agentDir === undefined ? {} : { agentDir: host.agentDir }),
		platform: host.platform,
		exec: (command, options) => host.exec(command, options),
		async openFile(path, options) {
			const here = await localPath(path);
			return here === null ? host.openFile(path, options) : local.openFile(here, options);
		},
		async writeFile(path, data, options) {
			if (!readable().names(path)) return host.writeFile(path, data, options);
			throw new PiError(
				"file_unreadable",
				`Cannot write ${path}: it is on the user's machine, where tools on ${host.name} can only read it`,
			);
		},
		async stat(path, options) {
			const here = await localPath(path);
			return here === null ? host.stat(path, options) : local.stat(here, options);
		},
		async list(path, options) {
			const here = await localPath(path);
			return here === null ? host.list(path, options) : local.list(here, options);
		},
		async realPath(path) {
			return (await localPath(path)) ?? host.realPath(path);
		},
		async search(request) {
			const path = await localPath(request.path);
			return path === null ? host.search(request) : local.search({ ...request, path });
		},
		dispose: () => host.dispose(),
	};
}

/** True for the directory itself, too. */
export function isInside(directory: string, path: string): boolean {
	const inside = relative(directory, path);
	return inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
}
