import { PiError } from "../errors.js";
import { atomicWriteFile } from "../util/fs.js";
import { type ExportHtmlOptions, exportHtml } from "./html.js";

/**
 * Writes a session as one HTML file, for this user alone: it may hold what nobody else is to see.
 * @throws PiError `export_failed`
 */
export async function exportToFile(path: string, options: ExportHtmlOptions): Promise<void> {
	try {
		await atomicWriteFile(path, exportHtml(options), { mode: 0o600 });
	} catch (cause) {
		throw new PiError("export_failed", `Cannot write ${path}`, { cause, hint: "choose another file" });
	}
}
