import { randomUUID } from "node:crypto";
import { entryTimestamp, type SessionHeader, type SessionOrigin } from "./entry.js";
import { freezeDeep } from "./freeze.js";

/** The header of a new session, or of a damaged one with what is left of its fields. */
export function newHeader(
	cwd: string,
	known: SessionOrigin & Partial<Pick<SessionHeader, "id" | "timestamp">> = {},
): SessionHeader {
	const { id = randomUUID(), timestamp = entryTimestamp(), branchedFrom, importedFrom } = known;
	return freezeDeep({
		type: "session",
		version: 1,
		id,
		timestamp,
		cwd,
		...(branchedFrom !== undefined && { branchedFrom }),
		...(importedFrom !== undefined && { importedFrom }),
	});
}
