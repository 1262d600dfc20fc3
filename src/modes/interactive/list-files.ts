import { sep } from "node:path";
import { COMMON_ARGUMENTS, NOT_GIT, search } from "../../tools/ripgrep.js";

/** More than these nobody finds by typing. */
const MAX_FILES = 500_000;

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
