import { existsSync } from "node:fs";
import { resolveUserPath } from "../../config/paths.js";
import { describeError, PiError } from "../../errors.js";
import {
	type EarlierImport,
	earlierImports,
	importKey,
	importSession,
	isChangedSince,
	lossesOf,
	type SessionImport,
} from "../../imports/import-session.js";
import type { FoundSession, Program } from "../../imports/program.js";
import {
	findSessions,
	programNamed,
	type SessionsAt,
	sessionsAt,
	titleOfProgram,
	titleOfPrograms,
	unreadableFiles,
} from "../../imports/programs.js";
import { plural } from "../../modes/format.js";
import type { SessionsSubcommand } from "../options.js";
import { printJson, printLines, printNotices, tableLines } from "../standard-io.js";
import type { SubcommandContext } from "./location.js";
import { filesOf, formatTime, idOfFile, PREVIEW, shortId } from "./printed-sessions.js";

type Source = { program: string; source: string };
/** A new session, the one that an earlier import has made, or why the import failed. */
type Outcome =
	| SessionImport
	| (Source & { importedBefore: string; changedSince: boolean })
	| (Source & { id: string; error: string });

/** Ids that an error names. */
const MAX_NAMED = 10;

/**
 * `pi sessions import [TARGET]`: lists sessions of other programs, or makes sessions of them.
 * @returns 1 when a session of a directory cannot be imported
 * @throws PiError `log_not_found`, `log_not_a_session`, `file_unreadable`, `log_write_failed`, `bad_arguments`
 */
export async function importSessions(
	command: Extract<SessionsSubcommand, { action: "import" }>,
	context: SubcommandContext,
): Promise<number> {
	const { location, io } = context;
	const from = command.from === undefined ? undefined : programNamed(command.from);
	const { sessions: found, isDirectory, otherFiles } = await sessionsOf(command.target, from, context);
	if (otherFiles > 0)
		printNotices(io, [`${plural(otherFiles, "other file")} with no session of ${titleOfPrograms(from)}`]);
	const earlier = earlierImports(location.sessionDir);
	const known = command.again ? new Map<string, EarlierImport>() : earlier;
	if (command.target === undefined || command.list) {
		const { paths, env, sessionDir } = location;
		const place = { cwd: paths.cwd, home: paths.home, env, sessionDir };
		if (command.target === undefined) printNotices(io, unreadableFiles(place, from));
		await printFound(found, earlier, context);
		return 0;
	}
	if (isDirectory) return (await importAll(found, known, context)) ? 1 : 0;
	await importOne(found, known, context);
	return 0;
}

/** Imports the newest session of a file. */
async function importOne(
	[session, ...others]: readonly FoundSession[],
	earlier: ReadonlyMap<string, EarlierImport>,
	context: SubcommandContext,
): Promise<void> {
	if (!session) return;
	const outcome = await outcomeOf(session, earlier, context);
	if (others.length > 0) {
		printNotices(context.io, [
			`the file has ${plural(others.length, "earlier session")}: --list shows them, and in its directory each has an id to import it by`,
		]);
	}
	if (context.options.json) await printJson(context.io, outcome);
	else await printLines(context.io, [...linesOf(outcome), openingLine(outcome, context)]);
}

/** Imports all sessions of a directory, the oldest first. @returns whether one cannot be imported */
async function importAll(
	found: readonly FoundSession[],
	earlier: ReadonlyMap<string, EarlierImport>,
	context: SubcommandContext,
): Promise<boolean> {
	const { io, options } = context;
	const outcomes: Outcome[] = [];
	for (const session of found.toReversed()) {
		const outcome = await outcomeOf(session, earlier, context).catch((error: unknown): Outcome => {
			if (!(error instanceof PiError)) throw error;
			const { program, path: source, id } = session;
			return { program, source, id, error: describeError(error) };
		});
		outcomes.push(outcome);
		if (!options.json && !("error" in outcome)) await printLines(io, [...linesOf(outcome), ""]);
	}
	const errors = outcomes.flatMap((outcome) => ("error" in outcome ? [outcome.error] : []));
	if (options.json) await printJson(io, outcomes);
	else if (errors.length < outcomes.length) await printLines(io, ["open one with pi --session <id>"]);
	if (errors.length > 0) {
		const count = `${errors.length} of ${plural(outcomes.length, "session")} could not be imported:`;
		printNotices(io, [count, ...errors.map((error) => `  ${error}`)]);
	}
	return errors.length > 0;
}

async function outcomeOf(
	session: FoundSession,
	earlier: ReadonlyMap<string, EarlierImport>,
	{ location: { sessionDir, paths } }: SubcommandContext,
): Promise<Outcome> {
	const before = earlier.get(importKey(session));
	if (!before) return importSession(session, { dir: sessionDir, cwd: paths.cwd });
	const { program, path: source } = session;
	return { program, source, importedBefore: before.path, changedSince: isChangedSince(session, before) };
}

/** The sessions that a target means, newest first. */
async function sessionsOf(
	target: string | undefined,
	from: Program | undefined,
	{ location: { paths, env, sessionDir } }: SubcommandContext,
): Promise<SessionsAt> {
	const place = { cwd: paths.cwd, home: paths.home, env, sessionDir };
	const here = { isDirectory: false, otherFiles: 0 };
	if (target === undefined) return { ...here, sessions: await findSessions(place, from) };
	const path = resolveUserPath(target, paths.cwd, paths.home);
	if (existsSync(path) || /[/\\.]/.test(target)) return sessionsAt(path, from);
	const all = await findSessions(place, from);
	const exact = all.filter(({ id }) => id === target);
	const found = exact.length > 0 ? exact : all.filter(({ id }) => id.startsWith(target));
	if (found.length === 1) return { ...here, sessions: found };
	throw notOne(target, found);
}

/** The error for an id that no session has, or several. */
function notOne(target: string, found: readonly FoundSession[]): PiError {
	const quoted = JSON.stringify(target);
	if (found.length === 0) {
		return new PiError("log_not_found", `There is no session ${quoted} of another program in this directory`, {
			hint: "pi sessions import lists them; a file or a directory works too",
		});
	}
	const count = `${found.length} sessions of other programs in this directory`;
	const ids = found.map(({ id }) => id);
	// The same session can be in several files.
	if (new Set(ids).size < ids.length) {
		const paths = found.map(({ path }) => path).slice(0, MAX_NAMED);
		return new PiError("log_not_found", `${count} have the id ${quoted}`, {
			hint: `name the file: ${paths.join(", ")}`,
		});
	}
	return new PiError("log_not_found", `${count} have ids that begin with ${quoted}`, {
		hint: `use more characters of the id: ${ids.slice(0, MAX_NAMED).join(", ")}`,
	});
}

async function printFound(
	found: readonly FoundSession[],
	earlier: ReadonlyMap<string, EarlierImport>,
	{ options, io }: SubcommandContext,
): Promise<void> {
	const listed = found.map((session) => {
		const before = earlier.get(importKey(session));
		return {
			session,
			importedBefore: before?.path ?? null,
			changedSince: before !== undefined && isChangedSince(session, before),
		};
	});
	if (options.json) {
		await printJson(
			io,
			listed.map(({ session, ...imported }) => ({ ...session, ...imported })),
		);
	} else if (found.length === 0) printNotices(io, ["No sessions of other programs began in this directory"]);
	else {
		const ids = found.map(({ id }) => id);
		const rows = listed.map(({ session, importedBefore, changedSince }) => [
			...[titleOfProgram(session.program), shortId(session.id, ids), formatTime(session.modifiedAt)],
			importedBefore === null ? "" : changedSince ? "changed since" : "yes",
			session.title.slice(0, PREVIEW),
		]);
		await printLines(io, tableLines([["program", "id", "modified (UTC)", "imported", "name or text"], ...rows]));
		printNotices(io, ["pi sessions import <id> makes a session of one; their own files are not changed"]);
	}
}

function linesOf(outcome: Outcome): string[] {
	if ("error" in outcome) return [outcome.error];
	if ("importedBefore" in outcome) {
		const { source, importedBefore, changedSince } = outcome;
		if (!changedSince) return [`imported before: ${source}`, `id        ${idOfFile(importedBefore)}`];
		return [
			`imported before, and continued since: ${source}`,
			`id        ${idOfFile(importedBefore)}`,
			"--again imports it as it is now",
		];
	}
	const { path, id, program, entries } = outcome;
	return [
		`file      ${path}`,
		`id        ${id}`,
		`imported  ${plural(entries, "entry", "entries")} of ${titleOfProgram(program)}`,
		...lossesOf(outcome).map(([word, what]) => `${word.padEnd(8)}  ${what}`),
	];
}

function openingLine(outcome: Outcome, { location: { sessionDir } }: SubcommandContext): string {
	const id = "importedBefore" in outcome ? idOfFile(outcome.importedBefore) : outcome.id;
	const isSame = "importedBefore" in outcome && !outcome.changedSince;
	const opening = `open it with pi --session ${shortId(id, filesOf(sessionDir).map(idOfFile))}`;
	return isSame ? `${opening}, or import it once more with --again` : opening;
}
