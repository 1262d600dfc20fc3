import { type FSWatcher, watch } from "node:fs";
import { basename, dirname } from "node:path";
import type { Paths } from "./paths.js";
import { updateSettings } from "./settings.js";
import { type FoundTheme, listThemeFiles, loadThemeFile } from "./theme-files.js";

/** An editor writes a file in several steps: what they end in counts. ms. */
const REST_MS = 50;

/** The themes on this machine, and the user's choice among them. */
export class ThemeLibrary {
	constructor(
		private readonly paths: Pick<Paths, "agentDir" | "themes"> & { project: Pick<Paths["project"], "themes"> },
	) {}

	/** Themes of the user and of the project, read anew. */
	list(): FoundTheme[] {
		return listThemeFiles({ user: this.paths.themes, project: this.paths.project.themes });
	}

	/** See `loadThemeFile`. */
	load(path: string): ReturnType<typeof loadThemeFile> {
		return loadThemeFile(path);
	}

	/** Calls back after the file has changed, until the function that it returns is called. Asks for nothing meanwhile. */
	watch(path: string, onChange: () => void): () => void {
		let timer: NodeJS.Timeout | undefined;
		const close = () => {
			clearTimeout(timer);
			watcher?.close();
		};
		// The directory, not the file: editors put a new file in place of the old one.
		const watcher = watchDirectory(dirname(path), (name) => {
			if (name !== null && name !== basename(path)) return;
			clearTimeout(timer);
			timer = setTimeout(onChange, REST_MS);
		});
		return close;
	}

	/**
	 * Keeps the user's choice in settings.json; undefined takes it out.
	 * @throws PiError `config_write_failed`
	 */
	async save(name: string | undefined): Promise<void> {
		await updateSettings(this.paths.agentDir, { theme: name });
	}
}

/** @returns null where changes cannot be heard of, as on some network disks: the file is then read at the next start */
function watchDirectory(dir: string, onChange: (name: string | null) => void): FSWatcher | null {
	try {
		const watcher = watch(dir, { persistent: false }, (_event, name) => onChange(name));
		watcher.on("error", () => watcher.close()); // the directory is gone: so is what there was to hear
		return watcher;
	} catch {
		return null;
	}
}
