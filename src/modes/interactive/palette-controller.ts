import type { PaletteItem } from "../../commands/command.js";
import type { CompletionItem } from "../../hooks/types.js";
import type { ToolHost } from "../../tools/machine/machine.js";
import { type CompletionSource, createCompletion } from "../../tui/completion.js";

/** Maximum number of files in the list; nobody finds more by typing. */
const MAX_FILES = 500_000;

/** Source of the palette's commands; a session. */
export interface PaletteSource {
	palette(): readonly PaletteItem[];
	isUnlistedCommand?(name: string): boolean;
	completeArguments(name: string, prefix: string): Promise<readonly CompletionItem[]>;
	readonly mcp?: { completeResource(typed: string, signal: AbortSignal): Promise<readonly CompletionItem[]> };
}

/** Provides the editor's completions: commands of the session, files of the working directory. */
export class PaletteController {
	/** What the editor uses. */
	readonly completion: CompletionSource;
	/** pi's own completions. */
	readonly base: CompletionSource;
	#used: CompletionSource;
	#source: PaletteSource | undefined;

	/** @param host the machine whose paths are completed; called each time */
	constructor(host: () => ToolHost) {
		this.base = createCompletion({
			folders: host,
			listFiles: (onFile, signal) => listFiles(host(), onFile, signal),
			palette: () => this.#source?.palette() ?? [],
			isUnlistedCommand: (name) => this.#source?.isUnlistedCommand?.(name) ?? false,
			completeArguments: async (name, prefix) => {
				const items = (await this.#source?.completeArguments(name, prefix)) ?? [];
				return items.filter((item) => typeof item?.value === "string");
			},
			completeResource: async (typed, signal) => (await this.#source?.mcp?.completeResource(typed, signal)) ?? [],
		});
		this.#used = this.base;
		this.completion = { complete: (request) => this.#used.complete(request), cancel: () => this.#used.cancel() };
	}

	/** Uses other completions from now on. */
	use(completions: CompletionSource): void {
		this.#used = completions;
	}

	attach(source: PaletteSource): void {
		this.#source = source;
	}
}

/** Lists the files under the working directory that are not ignored, relative to it and with `/`; none when listing fails. */
export async function listFiles(host: ToolHost, onFile: (path: string) => void, signal: AbortSignal): Promise<void> {
	let count = 0;
	const search = host.search({
		path: host.cwd,
		signal,
		givesWay: true,
		onFile(path) {
			onFile(path);
			return ++count < MAX_FILES;
		},
	});
	await search.catch(() => {}); // such as a working directory that was deleted
}
