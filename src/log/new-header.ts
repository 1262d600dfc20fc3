import { randomUUID } from "node:crypto";
import { readGitBranch } from "../util/git-branch.js";
import { entryTimestamp, type SessionHeader, type SessionOrigin } from "./entry.js";
import { freezeDeep } from "./freeze.js";

/** The header of a new session, or of a damaged one with what is left of its fields. */
export function newHeader(
	cwd: string,
	known: SessionOrigin & Partial<Pick<SessionHeader, "id" | "timestamp">> = {},
): SessionHeader {
	const { id = randomUUID(), timestamp = entryTimestamp(), branchedFrom, importedFrom } = known;
	const branch = importedFrom === undefined ? readGitBranch(cwd) : null;
	return freezeDeep({
		type: "session",
		version: 1,
		id,
		timestamp,
		cwd,
		...(branch !== null && { branch }),
		...(branchedFrom !== undefined && { branchedFrom }),
		...(importedFrom !== undefined && { importedFrom }),
	});
}
