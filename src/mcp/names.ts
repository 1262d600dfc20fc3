import { createHash } from "node:crypto";

/** Maximum length of a tool name that all providers accept. */
const MAX_TOOL_NAME = 64;
const DIGEST_LENGTH = 6;

/** A name of a server, tool or prompt with `_` for everything but letters, digits, `_` and `-`. */
export function reduceName(name: string): string {
	return name.replace(/[^A-Za-z0-9_-]/gu, "_");
}

/**
 * The name under which the model calls a tool of a server: `<server>_<tool>`. The end of a name that is too long is replaced
 * by a digest, so that names with the same start remain different.
 */
export function toolName(server: string, tool: string): string {
	const name = `${server}_${reduceName(tool)}`;
	if (name.length <= MAX_TOOL_NAME) return name;
	const digest = createHash("sha256").update(tool).digest("hex").slice(0, DIGEST_LENGTH);
	return `${name.slice(0, MAX_TOOL_NAME - DIGEST_LENGTH - 1)}_${digest}`;
}
