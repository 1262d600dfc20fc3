import { sep } from "node:path";
import type { PaletteItem } from "../../commands/command.js";
import type { CompletionItem } from "../../hooks/types.js";
import { COMMON_ARGUMENTS, NOT_GIT, search } from "../../tools/host/ripgrep.js";
import { type CompletionSource, createCompletion } from "../../tui/completion.js";
import type { ListFiles } from "../../tui/file-search.js";

/** Maximum number of files in the list; nobody finds more by typing. */
const MAX_FILES = 500_000;

/** Source of the palette's commands; a session. */
export interface PaletteSource {
	palette(): readonly PaletteItem[];
	completeArguments(name: string, prefix: string): Promise<readonly CompletionItem[]>;
	completeResource?(typed: string, signal: AbortSignal): Promise<readonly CompletionItem[]>;
}

/** Provides the editor's completions: commands of the session, files of the working directory. */
export class PaletteController {
	/** What the editor uses. */
	readonly completion: CompletionSource;
	/** pi's own completions. */
	readonly base: CompletionSource;
	#used: CompletionSource;
	#source: PaletteSource | undefined;

	/** @param listFiles lists paths relative to `cwd` */
	constructor(cwd: string, listFiles: ListFiles) {
		this.base = createCompletion({
			cwd,
			listFiles,
			palette: () => this.#source?.palette() ?? [],
			completeArguments: async (name, prefix) => {
				const items = (await this.#source?.completeArguments(name, prefix)) ?? [];
				return items.filter((item) => typeof item?.value === "string");
			},
			completeResource: async (typed, signal) => (await this.#source?.completeResource?.(typed, signal)) ?? [],
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

/** Lists the files under a directory that are not ignored, relative to it and with `/`; none when listing fails. */
export async function listFiles(cwd: string, onFile: (path: string) => void, signal: AbortSignal): Promise<void> {
	let count = 0;
	await search([...COMMON_ARGUMENTS, ...NOT_GIT, "--files"], {
		cwd,
		signal,
		separator: "\0",
		givesWay: true,
		onRecord: (record) => {
			onFile(sep === "/" ? record : record.replaceAll(sep, "/"));
			return ++count < MAX_FILES;
		},
	});
}
