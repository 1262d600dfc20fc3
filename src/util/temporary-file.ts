import { promises, unlinkSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { isRunning } from "./is-running.js";

/** Process id and host of the writer. */
const NAME = /^\.pi-(\d+)-(.*)-[0-9a-f]{8}\.tmp$/;

function hostPart(): string {
	return hostname().replace(/[^\w.]/g, "_");
}

/** A new path next to a file, whose content it gets before it replaces the file. */
export function temporaryPath(target: string): string {
	const unique = crypto.randomUUID().slice(0, 8);
	return join(dirname(target), `.pi-${process.pid}-${hostPart()}-${unique}.tmp`);
}

/** Removes temporary files from a directory whose writers were killed. Never rejects. */
export async function removeAbandoned(directory: string): Promise<void> {
	const names = await promises.readdir(directory).catch(() => []); // the directory may be only writable
	const host = hostPart();
	for (const name of names) {
		const [, pid, writer] = NAME.exec(name) ?? [];
		if (pid === undefined || writer !== host || isRunning(Number(pid))) continue;
		try {
			unlinkSync(join(directory, name));
		} catch {
			// Another process was faster, or may remove it.
		}
	}
}
