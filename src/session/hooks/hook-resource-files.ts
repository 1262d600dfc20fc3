import { isDeepStrictEqual } from "node:util";
import { describeError } from "../../errors.js";
import type { ResourcePaths } from "../../hooks/hook-resources.js";
import type { Resources } from "../../services/service-types.js";

/** Adds the skills, prompts and themes of hooks to those of the session, and takes them away when their hook is unloaded. */
export class HookResourceFiles {
	#paths: ResourcePaths = { skills: [], prompts: [], themes: [] };
	/** Settles when all changes so far are read, in order. */
	#read: Promise<void> = Promise.resolve();

	/** @param onRead called after files have been read */
	constructor(
		private readonly resources: Pick<Resources, "useHooks">,
		private readonly warn: (line: string) => void,
		private readonly onRead: () => void,
	) {}

	/** Uses these from now on; `ready` waits until they are read. */
	update(paths: ResourcePaths): void {
		if (isDeepStrictEqual(paths, this.#paths)) return;
		this.#paths = paths;
		this.#read = this.#read.then(() => this.#apply(paths));
	}

	/** Resolves when all files are read. */
	ready(): Promise<void> {
		return this.#read;
	}

	async #apply(paths: ResourcePaths): Promise<void> {
		try {
			for (const line of await this.resources.useHooks(paths)) this.warn(line);
			this.onRead();
		} catch (error) {
			this.warn(`The resources of hooks cannot be used: ${describeError(error)}`);
		}
	}
}
