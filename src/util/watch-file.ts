import { type FSWatcher, watch } from "node:fs";
import { basename, dirname } from "node:path";

/** Editors write a file in several steps; only the final state counts. ms. */
const REST_MS = 50;

/**
 * Calls back after a file has changed, appeared or gone, until the returned function is called. Runs no timer while
 * nothing changes and does not keep the process alive. Where changes cannot be observed, as on some network disks or in a
 * directory that does not exist, it does nothing.
 */
export function watchFile(path: string, onChange: () => void): () => void {
	let timer: NodeJS.Timeout | undefined;
	// The directory, not the file: editors replace the file with a new one.
	const watcher = watchDirectory(dirname(path), (name) => {
		if (name !== null && name !== basename(path)) return;
		clearTimeout(timer);
		timer = setTimeout(onChange, REST_MS).unref();
	});
	return () => {
		clearTimeout(timer);
		watcher?.close();
	};
}

function watchDirectory(dir: string, onChange: (name: string | null) => void): FSWatcher | null {
	try {
		const watcher = watch(dir, { persistent: false }, (_event, name) => onChange(name));
		watcher.on("error", () => watcher.close()); // the directory is gone, and its events with it
		return watcher;
	} catch {
		return null;
	}
}
