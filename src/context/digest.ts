import { createHash } from "node:crypto";
import type { AppMessage } from "../log/entry.js";
import { convertToLlm } from "./convert.js";

const digests = new WeakMap<AppMessage, string>();

/**
 * SHA-256, hex, of a context as the model is given it: roles, contents, call ids. Timestamps, usage and tool details do
 * not count: they are not sent. Messages that were hashed before are not hashed again.
 */
export function digestContext(messages: readonly AppMessage[]): string {
	const hash = createHash("sha256");
	for (const message of messages) hash.update(digestMessage(message));
	return hash.digest("hex");
}

function digestMessage(message: AppMessage): string {
	const known = digests.get(message);
	if (known !== undefined) return known;
	const sent = convertToLlm([message]).map((converted) =>
		converted.role === "toolResult"
			? [converted.role, converted.toolCallId, converted.toolName, converted.isError, converted.content]
			: [converted.role, converted.content],
	);
	const digest = createHash("sha256").update(JSON.stringify(sent)).digest("base64");
	// A message that may still change must be hashed again.
	if (Object.isFrozen(message)) digests.set(message, digest);
	return digest;
}
