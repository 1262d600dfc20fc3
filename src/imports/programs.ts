import { accessSync, constants, realpathSync, type Stats, statSync } from "node:fs";
import { setImmediate as nextTick } from "node:timers/promises";
import { PiError } from "../errors.js";
import { unopened } from "../log/open-error.js";
import { aider } from "./aider.js";
import { claude } from "./claude.js";
import { codex } from "./codex.js";
import { gemini } from "./gemini.js";
import { opencode } from "./opencode.js";
import type { FoundSession, ImportPlace, Program, ProgramName } from "./program.js";
import { filesIn, headRecords, notASession } from "./records.js";
import { tree } from "./tree.js";
import { readTreePath } from "./tree-file.js";

/** The programs whose sessions pi can import. The first that knows a file reads it. */
export const PROGRAMS: readonly Program[] = [tree, claude, codex, opencode, gemini, aider];

/** What other programs call a file with sessions. */
const SESSION_FILES = /(\.jsonl|\.json|opencode\.db|\.aider\.chat\.history\.md)$/;

/** @throws PiError `bad_arguments` for a program that pi does not know */
export function programNamed(name: string): Program {
	const program = PROGRAMS.find((known) => known.name === name);
	if (program) return program;
	const names = PROGRAMS.map((known) => known.name).join(", ");
	throw new PiError("bad_arguments", `Cannot import from ${JSON.stringify(name)}: pi knows ${names}`);
}

/** The name of a program for people. */
export function titleOfProgram(name: ProgramName): string {
	return programNamed(name).title;
}

/**
 * Finds the sessions of other programs in a directory, newest first.
 * @param from only those of this program
 */
export async function findSessions(place: ImportPlace, from?: Program, signal?: AbortSignal): Promise<FoundSession[]> {
	const found = new Map<string, FoundSession>();
	for (const program of from ? [from] : PROGRAMS) {
		for (const cwd of new Set([place.cwd, realPath(place.cwd)])) {
			for (const path of program.files({ ...place, cwd })) {
				signal?.throwIfAborted();
				const began = program.list(path).filter((session) => session.cwd === null || session.cwd === cwd);
				for (const session of began) found.set(`${session.path} ${session.id}`, session);
				await nextTick();
			}
		}
	}
	return [...found.values()].sort((a, b) => b.modifiedAt - a.modifiedAt);
}

/** Why files in which there may be sessions of a directory cannot be read: a line each. */
export function unreadableFiles(place: ImportPlace, from?: Program): string[] {
	const programs = from ? [from] : PROGRAMS;
	return programs.flatMap((program) =>
		program.unreadable ? program.files(place).flatMap((path) => program.unreadable?.(path) ?? []) : [],
	);
}

/** What is in a file or directory. */
export interface SessionsAt {
	/** Newest first, at least one. */
	sessions: FoundSession[];
	isDirectory: boolean;
	/** Number of files of the directory that have a name as for sessions, but hold none. */
	otherFiles: number;
}

/**
 * The sessions in a file, or in all files of a directory and those below it.
 * @throws PiError `log_not_found`, `file_unreadable`; `log_not_a_session` if no program knows the file
 */
export function sessionsAt(path: string, from?: Program): SessionsAt {
	const stats = statSync(path, { throwIfNoEntry: false });
	if (!stats) throw new PiError("log_not_found", `There is no session file ${path}`);
	const isDirectory = stats.isDirectory();
	const files = isDirectory ? filesIn(path, SESSION_FILES, true) : [path];
	const programs = from ? [from] : PROGRAMS;
	const lists = files.map((file) => programs.map((program) => program.list(file)).find((list) => list.length > 0));
	const sessions = lists.flatMap((list) => list ?? []).sort((a, b) => b.modifiedAt - a.modifiedAt);
	if (sessions.length > 0) return { sessions, isDirectory, otherFiles: lists.filter((list) => !list).length };
	const reason = programs.map((program) => program.unreadable?.(path) ?? null).find((why) => why !== null);
	if (reason !== undefined) throw new PiError("log_not_a_session", reason);
	if (!isDirectory) explainFile(path, stats, from);
	throw new PiError("log_not_a_session", `Cannot import ${path}: it holds no session of ${titleOfPrograms(from)}`, {
		hint: "pi sessions import --help names the programs",
	});
}

/** Throws what is wrong with a file in which no program finds a session, if there is more to say than that. */
function explainFile(path: string, { size }: Stats, from: Program | undefined): void {
	if (size === 0) throw notASession(path, "it is empty");
	try {
		accessSync(path, constants.R_OK);
	} catch (error) {
		throw unopened(path, error);
	}
	// Its reader says best what is wrong with a file that nearly is in the tree format.
	if ((from === undefined || from === tree) && headRecords(path)[0]?.type === "session") readTreePath(path);
}

/** The name of a program, or of all, for errors about files without sessions. */
export function titleOfPrograms(from: Program | undefined): string {
	return from ? from.title : "any program that pi knows";
}

function realPath(path: string): string {
	try {
		return realpathSync(path);
	} catch {
		return path;
	}
}
