import { createHash, type Hash } from "node:crypto";
import type { AppMessage } from "../log/entry.js";
import type { ContextMessage } from "./context-message.js";
import { convertToLlm } from "./convert.js";
import { sharedLength } from "./shared-length.js";

const digests = new WeakMap<AppMessage, string>();

/**
 * SHA-256, hex, of a context as it is sent: roles, contents, call ids. Excludes timestamps, usage and tool details, which
 * are not sent. Caches the hashes of frozen messages.
 */
export function digestContext(messages: readonly AppMessage[]): string {
	const hash = createHash("sha256");
	for (const message of messages) hash.update(digestMessage(message));
	return hash.digest("hex");
}

/** Number of messages between two saved hash states. */
const CHECKPOINT_EVERY = 256;

/** Digests successive contexts, hashing only the part that differs from the previous one. */
export class RunningDigest {
	/** Saved hash states with their number of messages, ascending. */
	readonly #checkpoints: { length: number; hash: Hash }[] = [];
	#seen: readonly ContextMessage[] = [];

	/** @param context deeply frozen @returns the same as `digestContext` */
	update(context: readonly ContextMessage[]): string {
		const shared = sharedLength(this.#seen, context);
		this.#seen = context;
		while ((this.#checkpoints.at(-1)?.length ?? 0) > shared) this.#checkpoints.pop();
		const start = this.#checkpoints.at(-1);
		const hash = start?.hash.copy() ?? createHash("sha256");
		for (let at = start?.length ?? 0; at < context.length; at += CHECKPOINT_EVERY) {
			const part = context.slice(at, at + CHECKPOINT_EVERY);
			hash.update(part.map(({ message }) => digestMessage(message)).join(""));
			this.#checkpoints.push({ length: at + part.length, hash: hash.copy() });
		}
		this.#thinOut();
		return hash.digest("hex");
	}

	/** Drops states that are close together, as left by requests that each add little. */
	#thinOut(): void {
		const last = this.#checkpoints.at(-1);
		const before = this.#checkpoints.at(-3);
		if (last && before && last.length - before.length < CHECKPOINT_EVERY) this.#checkpoints.splice(-2, 1);
	}
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
	// A message that is not frozen may change.
	if (Object.isFrozen(message)) digests.set(message, digest);
	return digest;
}
