import { packageRoot } from "../util/package-root.js";

/** A file that may appear in a stack trace. */
export interface OwnedFile {
	path: string;
	realPath: string;
}

/** The first of these files that a stack trace, or a line of it, names. */
export function fileInStack<F extends OwnedFile>(stack: string, files: readonly F[]): F | undefined {
	return files.find(({ path, realPath }) => stack.includes(path) || stack.includes(realPath));
}

/** True if the innermost caller is one of these files, not pi on its behalf. */
export function isCalledBy(stack: string, files: readonly OwnedFile[]): boolean {
	const caller = stack.split("\n").find((line) => fileInStack(line, files) !== undefined || isOwnStack(line));
	return caller !== undefined && fileInStack(caller, files) !== undefined;
}

/** True if a stack trace names a file of pi or of a package installed with it. */
export function isOwnStack(stack: string): boolean {
	return stack.includes(packageRoot());
}
