import { sep } from "node:path";
import type { PaletteItem } from "../../commands/command.js";
import type { CompletionItem } from "../../hooks/types.js";
import { COMMON_ARGUMENTS, NOT_GIT, search } from "../../tools/ripgrep.js";
import { type CompletionSource, createCompletion } from "../../tui/completion.js";
import type { ListFiles } from "../../tui/file-search.js";

/** More than these nobody finds by typing. */
const MAX_FILES = 500_000;

/** Where the palette gets its commands, once there is a session. */
export interface PaletteSource {
	palette(): readonly PaletteItem[];
	completeArguments(name: string, prefix: string): Promise<readonly CompletionItem[]>;
}

/** Feeds the editor's completion: commands from the session, files from a list. */
export class PaletteController {
	readonly completion: CompletionSource;
	#source: PaletteSource | undefined;

	/** @param listFiles tells paths relative to `cwd` */
	constructor(cwd: string, listFiles: ListFiles) {
		this.completion = createCompletion({
			cwd,
			listFiles,
			palette: () => this.#source?.palette() ?? [],
			completeArguments: async (name, prefix) => {
				const items = (await this.#source?.completeArguments(name, prefix)) ?? [];
				return items.filter((item) => typeof item?.value === "string");
			},
		});
	}

	/** Commands come from here from now on. */
	attach(source: PaletteSource): void {
		this.#source = source;
	}
}

/** Tells the files under a directory that are not ignored, relative to it and with `/`; none when they cannot be listed. */
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
