import type { BuiltContext, TracedMessage } from "./context-message.js";
import { isSameMessage } from "./ledger.js";
import { sharedLength } from "./shared-length.js";
import { estimateTokens } from "./tokens.js";

/** The start of a request is not what the request before began with: the provider must read it anew. */
export interface CacheLoss {
	/** What changed it; `other` when that cannot be told. */
	by: { kind: "compaction" } | { kind: "hook"; hook: string } | { kind: "other" };
	/** Of the messages of the request before that can no longer be taken from the cache; estimated. */
	tokens: number;
	/** Position of the first message that differs. */
	position: number;
}

/** Finds what a request loses of the one before it. @returns null when it only adds something at the end */
export function findCacheLoss(previous: BuiltContext, current: BuiltContext): CacheLoss | null {
	const { messages } = previous;
	let position = sharedLength(messages, current.messages);
	while (isSameMessage(messages[position]?.message, current.messages[position]?.message)) position++;
	if (position === messages.length) return null;
	const tokens = messages.slice(position).reduce((sum, { message }) => sum + estimateTokens(message), 0);
	return { by: findCulprit(previous, current, position), tokens, position };
}

function findCulprit(previous: BuiltContext, current: BuiltContext, position: number): CacheLoss["by"] {
	const gone = previous.messages[position];
	const here = current.messages[position];
	return (
		hiderOf(gone, current) ?? adderOf(here) ?? adderOf(gone) ?? hiderOf(here, previous) ?? ({ kind: "other" } as const)
	);
}

/** What keeps the entry of a message out of a context. */
function hiderOf(traced: TracedMessage | undefined, { hidden }: BuiltContext): CacheLoss["by"] | null {
	if (!traced || traced.entryIndex === null) return null;
	const by = hidden.find(({ entryIndex }) => entryIndex === traced.entryIndex)?.by;
	if (!by) return null;
	if (by.kind === "hook") return by;
	return by.kind === "compaction" ? { kind: "compaction" } : { kind: "other" };
}

/** What put a message there that is no entry's own. */
function adderOf(traced: TracedMessage | undefined): CacheLoss["by"] | null {
	if (traced?.origin.kind === "hook") return { kind: "hook", hook: traced.origin.hook };
	return traced?.origin.kind === "compaction" ? { kind: "compaction" } : null;
}
