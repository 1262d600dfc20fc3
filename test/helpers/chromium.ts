import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** Path of an installed Chromium; null if none is on the path. */
export function findChromium(): string | null {
	const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
	for (const path of folders.flatMap((folder) => NAMES.map((name) => join(folder, name)))) {
		try {
			accessSync(path, constants.X_OK);
			return path;
		} catch {
			// Not there.
		}
	}
	return null;
}
