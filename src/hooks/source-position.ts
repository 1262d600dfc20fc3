import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { HookError, type HookErrorSource, type PiErrorCode, type SourcePosition } from "../errors.js";
import { packageRoot } from "../util/package-root.js";
import type { Position, SourceLocator } from "./source-locator.js";

/** A file of a hook or tool, and the compiler that loaded it. */
export interface HookSource {
	/** Path to show to the user. */
	path: string;
	/** Path in stack traces. */
	realPath: string;
	/** Absent for files that were not compiled. */
	compiler?: SourceLocator;
}

/** A hook whose handlers were registered at known places. */
export interface RegisteringHook extends HookSource {
	/** An error created where each handler was registered. */
	readonly places: WeakMap<object, Error>;
}

/** A syntax error in a file of a hook or tool. */
export class CompileError extends Error {
	/** @param place of the error, with the path of the compiled file */
	constructor(
		message: string,
		readonly place: SourcePosition,
	) {
		super(`syntax error: ${message}`);
	}
}

/** A line of a stack trace: what comes before the position, the file and the position. */
const FRAME = /^(\s+at (?:async )?(?:.*\()?)((?:file:\/\/)?[^()\n]+?):(\d+):(\d+)(\)?)$/;

/** @param handler the handler that failed; its registration is the place of an error without a position */
export function createHookError(
	code: PiErrorCode,
	hook: RegisteringHook,
	event: string,
	cause: unknown,
	handler?: object,
): HookError {
	return new HookError(code, hook.path, event, cause, sourceOfError(cause, hook, handler && hook.places.get(handler)));
}

/** Where an error comes from in the source of a hook. @param registered created where the handler was registered */
export function sourceOfError(error: unknown, hook: HookSource, registered?: Error): HookErrorSource {
	return { place: positionOfError(error, hook) ?? positionOfError(registered, hook), trace: traceOf(error, hook) };
}

/** The innermost position of an error in the hook's own source; null if the error names none. */
export function positionOfError(error: unknown, hook: HookSource): SourcePosition | null {
	// Positions of a bundled hook in the minified program mean nothing to a reader.
	if (!(error instanceof Error) || hook.realPath.startsWith(join(packageRoot(), "dist") + sep)) return null;
	// The stack of a syntax error shows only who imports the file.
	if (error instanceof CompileError) return { ...error.place, file: shownPath(error.place.file, hook) };
	for (const line of stackOf(error).split("\n")) {
		const frame = readFrame(line, hook);
		if (frame) return frame.place;
	}
	return positionInMessage(error, hook);
}

/** The stack trace of an error, with positions in the sources; null if it has none. */
function traceOf(error: unknown, hook: HookSource): string | null {
	if (!(error instanceof Error) || error.stack === undefined) return null;
	const lines = stackOf(error)
		.split("\n")
		.filter((line) => !isLoaderFrame(line, hook));
	return lines.map((line) => readFrame(line, hook)?.text ?? line).join("\n");
}

/** A frame in the hook's own source, with its position there. */
function readFrame(line: string, hook: HookSource): { place: SourcePosition; text: string } | null {
	const [, start = "", location, row, column, end = ""] = FRAME.exec(line) ?? [];
	if (location === undefined) return null;
	const file = pathOf(location);
	if (!isOwnFile(file, hook) || isLoaderFrame(line, hook)) return null;
	const place = positionIn(file, { line: Number(row), column: Number(column) }, hook);
	return { place, text: `${start}${place.file}:${place.line}:${place.column}${end}` };
}

/** True for a frame in the code that pi puts in front of a compiled file, on its first line: it has no place in the source. */
function isLoaderFrame(line: string, hook: HookSource): boolean {
	const [, , location, row] = FRAME.exec(line) ?? [];
	return location !== undefined && row === "1" && hook.compiler?.has(pathOf(location)) === true;
}

/** True for files of the hook: those in its folder and those that were compiled with it, without installed packages. */
function isOwnFile(file: string, hook: HookSource): boolean {
	if (file === hook.realPath || file === hook.path || hook.compiler?.has(file)) return true;
	const folder = dirname(hook.realPath) + sep;
	if (!file.startsWith(folder) || file.slice(folder.length).includes(`node_modules${sep}`)) return false;
	return folder.startsWith(packageRoot()) || !file.startsWith(packageRoot());
}

/** Errors of Node's parser name the position in their message, or at the start of their stack. */
function positionInMessage(error: Error, hook: HookSource): SourcePosition | null {
	for (const text of [error.message, stackOf(error)]) {
		const [, file, row, column = 1] = /(?:^|\s)(\/[^\s:]+|[A-Za-z]:\\[^\s:]+):(\d+)(?::(\d+))?/.exec(text) ?? [];
		if (file !== undefined && isOwnFile(file, hook))
			return positionIn(file, { line: Number(row), column: Number(column) }, hook);
	}
	return null;
}

/** A position in a file of the hook, as it was compiled, as the user knows it. */
function positionIn(file: string, position: Position, hook: HookSource): SourcePosition {
	const source = hook.compiler?.has(file) ? hook.compiler.sourcePosition(file, position) : position;
	return { file: shownPath(file, hook), ...source };
}

/** The path that the user knows of a file in a stack trace. */
function shownPath(file: string, hook: HookSource): string {
	if (file === hook.realPath) return hook.path;
	const root = copyRoot(hook);
	return root !== "" && file.startsWith(root) ? file.slice(root.length) : file;
}

/** The directory that holds the trusted copy of a project's file under its full path; empty for other files. */
export function copyRoot({ path, realPath }: Pick<HookSource, "path" | "realPath">): string {
	return realPath.endsWith(path) ? realPath.slice(0, -path.length) : "";
}

function pathOf(location: string): string {
	if (!location.startsWith("file://")) return location;
	try {
		return fileURLToPath(location.replace(/\?.*$/, ""));
	} catch {
		return location;
	}
}

/** Handlers can throw anything, also errors whose `stack` is not a text or cannot be read. */
function stackOf(error: Error): string {
	try {
		return String(error.stack ?? "");
	} catch {
		return "";
	}
}
