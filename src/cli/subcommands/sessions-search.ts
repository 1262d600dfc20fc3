import { statSync } from "node:fs";
import { summarizeSession } from "../../log/catalog.js";
import { type EntryMatch, searchEntries } from "../../log/search.js";
import type { SessionsSubcommand } from "../options.js";
import { printJson, printLines, printNotices, tableLines } from "../standard-io.js";
import type { SubcommandContext } from "./location.js";
import { dirsOf, filesOf, headOf, idOfFile } from "./printed-sessions.js";

/** Entries printed per session. */
const MAX_SHOWN = 5;

/**
 * `pi sessions search TEXT`: prints the entries that contain a text, newest session first.
 * @returns 1 when nothing is found
 */
export async function searchSessions(
	{ text, all }: Extract<SessionsSubcommand, { action: "search" }>,
	{ location, options, io }: SubcommandContext,
): Promise<number> {
	const files = filesOf(dirsOf(location, all)).map((path) => ({ path, time: modifiedAt(path) }));
	const ids = files.map(({ path }) => idOfFile(path));
	const found: { path: string; matches: EntryMatch[] }[] = [];
	for (const { path } of files.sort((a, b) => b.time - a.time)) {
		const matches = await searchEntries(path, text);
		if (matches.length === 0) continue;
		if (options.json) found.push({ path, matches });
		else await printLines(io, [...(found.length > 0 ? [""] : []), headOf(path, ids), ...matchLines(matches)]);
		if (!options.json) found.push({ path, matches: [] });
	}
	if (options.json) {
		await printJson(
			io,
			found.map(({ path, matches }) => ({ ...summarizeSession(path), path, matches })),
		);
	} else if (found.length === 0) {
		const place = all ? "" : ` in ${location.sessionDir}`;
		printNotices(io, [
			`No session${place} contains ${JSON.stringify(text)}${all ? "" : " · --all searches all directories"}`,
		]);
	}
	return found.length === 0 ? 1 : 0;
}

/** The match is between two pairs of asterisks. */
function matchLines(matches: readonly EntryMatch[]): string[] {
	const rows = matches.slice(0, MAX_SHOWN).map(({ entryIndex, role, excerpt, from, to }) => {
		const marked = `${excerpt.slice(0, from)}**${excerpt.slice(from, to)}**${excerpt.slice(to)}`;
		return [`  ${entryIndex}`, role, marked];
	});
	const more = matches.length - rows.length;
	return [...tableLines(rows), ...(more > 0 ? [`  … and ${more} more entries`] : [])];
}

function modifiedAt(path: string): number {
	return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
