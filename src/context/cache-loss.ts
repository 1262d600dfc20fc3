import type { BuiltContext, TracedMessage } from "./context-message.js";
import { isSameMessage } from "./ledger.js";
import { sharedLength } from "./shared-length.js";
import { estimateTokens } from "./tokens.js";

/** A request that does not start like the previous one, so that the provider must process it again. */
export interface CacheLoss {
	/** What changed the start; `other` when unknown. */
	by: { kind: "compaction" } | { kind: "hook"; hook: string } | { kind: "other" };
	/** Estimated tokens of the previous request that are no longer cached. */
	tokens: number;
	/** Position of the first message that differs. */
	position: number;
}

/** Compares a request with the previous one. @returns null when messages were only added at the end */
export function findCacheLoss(previous: BuiltContext, current: BuiltContext): CacheLoss | null {
	const { messages } = previous;
	let position = sharedLength(messages, current.messages);
	while (isSameMessage(messages[position]?.message, current.messages[position]?.message)) position++;
	if (position === messages.length) return null;
	const tokens = messages.slice(position).reduce((sum, { message }) => sum + estimateTokens(message), 0);
	return { by: findCulprit(previous, current, position), tokens, position };
}

function findCulprit(previous: BuiltContext, current: BuiltContext, position: number): CacheLoss["by"] {
	const before = previous.messages[position];
	const after = current.messages[position];
	return hiderOf(before, current) ?? adderOf(after) ?? adderOf(before) ?? hiderOf(after, previous) ?? { kind: "other" };
}

/** Finds what hides the entry of a message from a context; null for nothing. */
function hiderOf(traced: TracedMessage | undefined, { hidden }: BuiltContext): CacheLoss["by"] | null {
	if (!traced || traced.entryIndex === null) return null;
	const by = hidden.find(({ entryIndex }) => entryIndex === traced.entryIndex)?.by;
	if (!by) return null;
	if (by.kind === "hook") return by;
	return by.kind === "compaction" ? { kind: "compaction" } : { kind: "other" };
}

/** Finds what added a message that is not from an entry; null for nothing. */
function adderOf(traced: TracedMessage | undefined): CacheLoss["by"] | null {
	if (traced?.origin.kind === "hook") return { kind: "hook", hook: traced.origin.hook };
	return traced?.origin.kind === "compaction" ? { kind: "compaction" } : null;
}
