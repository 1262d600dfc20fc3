import { PiError } from "../../errors.js";
import type { ShellCallEnd } from "./shell-call.js";
import { EXIT_ERRORS, EXIT_KINDS } from "./shell-scripts.js";

/** What was tried with a file. */
export type Access = "read" | "write";

const REASONS: Readonly<Record<string, string>> = {
	ENOENT: "no such file",
	EACCES: "permission denied",
	ENOTDIR: "not a directory",
	EISDIR: "it is a directory",
	ELOOP: "its symbolic links form a loop",
};

/** Why a directory cannot be the working directory. @param code that of the script */
export function describeDirectory(path: string, code: number): string {
	const name = EXIT_ERRORS.get(code);
	if (name === "EACCES") return `you have no permission to enter the directory ${path}`;
	return name === "ENOTDIR" || EXIT_KINDS.has(code)
		? `${path} is not a directory`
		: `the directory ${path} does not exist`;
}

/** The error of a script that nobody ended; undefined if it succeeded. */
export function failureOf(host: string, end: ShellCallEnd, path: string, access: Access): Error | undefined {
	if (end.status === null) return new PiError("host_unreachable", describeLoss(host, end));
	const code = Number(end.status);
	if (code === 0) return undefined;
	const start = `Cannot ${access} ${path}`;
	const kind = EXIT_KINDS.get(code);
	if (kind !== undefined) return new PiError("file_unreadable", `${start}: it is ${kind}`);
	const name = EXIT_ERRORS.get(code);
	if (name === undefined) {
		return new PiError("file_unreadable", `${start}${end.problem === "" ? "" : `: ${end.problem}`}`);
	}
	return Object.assign(new Error(`${start}: ${REASONS[name]}`), { code: name });
}

/** Why a connection did not last until the end of a program. */
export function describeLoss(host: string, { problem }: ShellCallEnd): string {
	const reason = problem === "" ? "" : `: ${problem.split("\n").join(" ")}`;
	return `The connection to ${host} was lost${reason}`;
}
