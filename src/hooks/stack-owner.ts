import { packageRoot } from "../util/package-root.js";

/** A file by which a stack can be told to be somebody's. */
export interface OwnedFile {
	path: string;
	realPath: string;
}

/** The first of these files that a stack, or a line of one, names; undefined for none. */
export function fileInStack<F extends OwnedFile>(stack: string, files: readonly F[]): F | undefined {
	return files.find(({ path, realPath }) => stack.includes(path) || stack.includes(realPath));
}

/** True when what the stack shows was called by one of these files itself, not by pi on its behalf. */
export function isCalledBy(stack: string, files: readonly OwnedFile[]): boolean {
	const caller = stack.split("\n").find((line) => fileInStack(line, files) !== undefined || isOwnStack(line));
	return caller !== undefined && fileInStack(caller, files) !== undefined;
}

/** True when a stack names a file of pi itself or of a package that came with it. */
export function isOwnStack(stack: string): boolean {
	return stack.includes(packageRoot());
}
