import { plainMessages } from "../context/build-context.js";
import type { BuiltContext } from "../context/context-message.js";
import { digestContext } from "../context/digest.js";
import { readRecordedRequest } from "../context/recorded-request.js";
import { activeReplacement } from "../context/replacement.js";
import { estimateAll } from "../context/tokens.js";
import { type ContextRecord, isMessageEntry, RESERVED_ENTRY_TYPES, type SessionEntry } from "../log/entry.js";
import type { SessionLog } from "../log/session-log.js";

/** How large a request is; tokens are estimates. */
export interface RequestSize {
	messages: number;
	tokens: number;
}

/** The last request is not what it would be with the hooks of now. */
export interface ContextDifference {
	/** Index of its reply. */
	reply: number;
	sent: RequestSize;
	now: RequestSize;
	/** The log says message by message what it was. */
	canFreeze: boolean;
}

/** Entries in a session whose hook is not loaded, and what that changes. */
export interface MissingHooks {
	/** Types that no loaded hook knows, and how many entries of each there are; lines that cannot be read as `unreadable`. */
	types: ReadonlyMap<string, number>;
	/** null when the last request is as it was, when that is not known, and once it no longer matters. */
	difference: ContextDifference | null;
}

/** What is looked at. */
export interface MissingHooksQuery {
	log: SessionLog;
	/** True for types that a loaded hook declares or writes. */
	knowsType(type: string): boolean;
	/** Computes a context with the hooks of now, beside the session's own. */
	tryContext(entries: readonly SessionEntry[]): Promise<BuiltContext>;
}

/** Finds entries whose hook is not loaded. @returns null when there are none */
export async function findMissingHooks(query: MissingHooksQuery): Promise<MissingHooks | null> {
	const types = countForeign(query);
	return types.size === 0 ? null : { types, difference: await findDifference(query) };
}

/** One sentence: which entries there are, and what their hooks would change. */
export function describeMissingHooks({ types, difference }: MissingHooks): string {
	const list = listTypes(types);
	const line = `The session has entries that no loaded hook knows: ${list}; they are kept and not used`;
	if (!difference) return line;
	return `${line} · the last request had ${size(difference.sent)}; without their hooks it has ${size(difference.now)}`;
}

/** Such as `stack_pop (2), pin (1)`. */
export function listTypes(types: ReadonlyMap<string, number>): string {
	return [...types].map(([type, count]) => `${type} (${count})`).join(", ");
}

function size({ messages, tokens }: RequestSize): string {
	return `${messages} ${messages === 1 ? "message" : "messages"}, about ${tokens} tokens`;
}

function countForeign({ log, knowsType }: MissingHooksQuery): Map<string, number> {
	const counts = new Map<string, number>();
	for (const [type, count] of log.countTypes()) {
		const name = type === "opaque" ? "unreadable" : type;
		if (!RESERVED_ENTRY_TYPES.has(name) && !knowsType(name)) counts.set(name, count);
	}
	return counts;
}

async function findDifference(query: MissingHooksQuery): Promise<ContextDifference | null> {
	const { entries } = query.log;
	const reply = entries.findLastIndex((entry) => isMessageEntry(entry) && entry.message.role === "assistant");
	const last = entries[reply];
	const record = isMessageEntry(last) ? last.context : undefined;
	// What a compaction or a freeze has replaced since is no longer what the model is given.
	if (!record || (activeReplacement(entries)?.entryIndex ?? -1) > reply) return null;
	const now = await recompute(query, reply, record);
	if (!now) return null;
	const recorded = readRecordedRequest(entries, reply)?.map(({ message }) => message);
	const isExact = recorded !== undefined && digestContext(recorded) === record.digest;
	const tokens = isExact ? estimateAll(recorded) : record.tokens;
	return {
		reply,
		sent: { messages: record.messages, tokens },
		now: { messages: now.length, tokens: estimateAll(now) },
		canFreeze: isExact,
	};
}

/** The messages of the request with the hooks of now; null when they are what was sent. */
async function recompute({ log: { entries }, tryContext }: MissingHooksQuery, reply: number, record: ContextRecord) {
	let last = null;
	// A hook may have saved entries while the reply was on its way: the request is that of some point before it.
	for (let end = reply; end > 0; end--) {
		const messages = plainMessages(await tryContext(Object.freeze(entries.slice(0, end))));
		if (digestContext(messages) === record.digest) return null;
		last ??= messages;
		if (isMessageEntry(entries[end - 1])) break;
	}
	return last;
}
