import { existsSync } from "node:fs";
import { resolveUserPath } from "../../config/paths.js";
import { PiError } from "../../errors.js";
import { earlierImports, importKey, importSession, type SessionImport } from "../../imports/import-session.js";
import type { FoundSession, Program } from "../../imports/program.js";
import { findSessions, programNamed, sessionsAt, titleOfProgram, unreadableFiles } from "../../imports/programs.js";
import { plural } from "../../modes/format.js";
import type { SessionsSubcommand } from "../options.js";
import { printJson, printLines, printNotices, tableLines } from "../standard-io.js";
import type { SubcommandContext } from "./location.js";
import { filesOf, formatTime, idOfFile, PREVIEW, shortId } from "./session-rows.js";

/** Either a new session, or the one that an earlier import has made. */
type Outcome = SessionImport | { program: string; source: string; importedBefore: string };

/**
 * `pi sessions import [TARGET]`: lists sessions of other programs, or makes sessions of them.
 * @throws PiError `log_not_found`, `log_not_a_session`, `file_unreadable`, `log_write_failed`, `bad_arguments`
 */
export async function importSessions(
	command: Extract<SessionsSubcommand, { action: "import" }>,
	context: SubcommandContext,
): Promise<number> {
	const { location, options, io } = context;
	const from = command.from === undefined ? undefined : programNamed(command.from);
	const found = await sessionsOf(command.target, from, context);
	const earlier = earlierImports(location.sessionDir);
	if (command.target === undefined || command.list) {
		const { paths, env, sessionDir } = location;
		const place = { cwd: paths.cwd, home: paths.home, env, sessionDir };
		if (command.target === undefined) printNotices(io, unreadableFiles(place, from));
		await printFound(found, earlier, context);
		return 0;
	}
	const isDirectory = new Set(found.map(({ path }) => path)).size > 1;
	const chosen = isDirectory ? found : found.slice(0, 1);
	const outcomes: Outcome[] = [];
	for (const session of chosen) {
		const importedBefore = command.again ? undefined : earlier.get(importKey(session));
		const { program, path: source } = session;
		if (importedBefore !== undefined) outcomes.push({ program, source, importedBefore });
		else outcomes.push(await importSession(session, { dir: location.sessionDir, cwd: location.paths.cwd }));
	}
	if (chosen.length < found.length) {
		const others = plural(found.length - chosen.length, "earlier session");
		printNotices(io, [
			`the file has ${others}: --list shows them, and in its directory each has an id to import it by`,
		]);
	}
	if (options.json) await printJson(io, outcomes.length === 1 ? outcomes[0] : outcomes);
	else
		await printLines(
			io,
			outcomes.flatMap((outcome, index) => [...(index > 0 ? [""] : []), ...linesOf(outcome, context)]),
		);
	return 0;
}

/** The sessions that a target means, newest first. */
async function sessionsOf(
	target: string | undefined,
	from: Program | undefined,
	{ location: { paths, env, sessionDir } }: SubcommandContext,
): Promise<FoundSession[]> {
	const place = { cwd: paths.cwd, home: paths.home, env, sessionDir };
	if (target === undefined) return findSessions(place, from);
	const path = resolveUserPath(target, paths.cwd, paths.home);
	if (existsSync(path) || /[/\\.]/.test(target)) return sessionsAt(path, from);
	const found = (await findSessions(place, from)).filter(({ id }) => id.startsWith(target));
	if (found.length === 1) return found;
	const count = found.length === 0 ? "No session of another program" : `${found.length} sessions of other programs`;
	throw new PiError(
		"log_not_found",
		`${count} in this directory has an id that begins with ${JSON.stringify(target)}`,
		{
			hint: "pi sessions import lists them; a file or a directory works too",
		},
	);
}

async function printFound(
	found: readonly FoundSession[],
	earlier: ReadonlyMap<string, string>,
	{ options, io }: SubcommandContext,
): Promise<void> {
	if (options.json) {
		await printJson(
			io,
			found.map((session) => ({ ...session, importedBefore: earlier.get(importKey(session)) ?? null })),
		);
	} else if (found.length === 0) printNotices(io, ["No sessions of other programs began in this directory"]);
	else {
		const ids = found.map(({ id }) => id);
		const rows = found.map((session) => [
			...[titleOfProgram(session.program), shortId(session.id, ids), formatTime(session.modifiedAt)],
			earlier.has(importKey(session)) ? "yes" : "",
			session.title.slice(0, PREVIEW),
		]);
		await printLines(io, tableLines([["program", "id", "modified (UTC)", "imported", "name or text"], ...rows]));
		printNotices(io, ["pi sessions import <id> makes a session of one; their own files are not changed"]);
	}
}

function linesOf(outcome: Outcome, { location: { sessionDir } }: SubcommandContext): string[] {
	const ids = filesOf(sessionDir).map(idOfFile);
	if ("importedBefore" in outcome) {
		const id = shortId(idOfFile(outcome.importedBefore), ids);
		return [
			`imported before: ${outcome.source}`,
			`open it with pi --session ${id}, or import it once more with --again`,
		];
	}
	const { path, id, program, entries, leftOut, damaged, isCut, kept } = outcome;
	const omitted = Object.entries(leftOut).sort(([, a], [, b]) => b - a);
	const count = Object.values(kept).reduce((sum, number) => sum + number, 0);
	return [
		`file      ${path}`,
		`id        ${id}`,
		`imported  ${plural(entries, "entry", "entries")} of ${titleOfProgram(program)}`,
		...(omitted.length > 0 ? [`omitted   ${omitted.map(([what, n]) => `${what} (${n})`).join(", ")}`] : []),
		...(damaged > 0 ? [`skipped   ${plural(damaged, "line")} that cannot be read`] : []),
		...(isCut ? ["missing   the beginning: the parent of the first imported entry is not in the file"] : []),
		...(count > 0
			? [
					`unknown   ${plural(count, "entry", "entries")} kept as custom entries: ${Object.entries(kept)
						.map(([type, n]) => `${n} ${type}`)
						.join(", ")}`,
				]
			: []),
		`open it with pi --session ${shortId(id, ids)}, or pi --continue`,
	];
}
