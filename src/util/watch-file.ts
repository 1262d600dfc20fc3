import { type FSWatcher, watch } from "node:fs";
import { basename, dirname } from "node:path";

/** Delay in ms: editors write a file in several steps, and only the final state matters. */
const REST_MS = 50;

/**
 * Calls `onChange` after a file was changed, created or deleted, until the returned function is called. Runs no timer
 * while nothing changes and does not keep the process alive. A no-op where the system cannot report changes, such as on
 * some network disks or in a missing directory.
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
		watcher.on("error", () => watcher.close()); // the directory was deleted
		return watcher;
	} catch {
		return null;
	}
}
