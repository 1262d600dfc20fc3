import { randomUUID } from "node:crypto";
import { entryTimestamp, type SessionHeader } from "./entry.js";
import { freezeDeep } from "./freeze.js";

/** The header of a new session, or of a damaged one with what is left of its fields. */
export function newHeader(
	cwd: string,
	known: Partial<Pick<SessionHeader, "id" | "timestamp" | "branchedFrom">> = {},
): SessionHeader {
	const { id = randomUUID(), timestamp = entryTimestamp(), branchedFrom } = known;
	return freezeDeep({
		type: "session",
		version: 1,
		id,
		timestamp,
		cwd,
		...(branchedFrom !== undefined && { branchedFrom }),
	});
}
