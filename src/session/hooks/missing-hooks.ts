import { plainMessages } from "../../context/build-context.js";
import type { BuiltContext } from "../../context/context-message.js";
import { digestContext } from "../../context/digest.js";
import { coreOfReply, isSentPreamble, readRecordedPreamble } from "../../context/recorded-preamble.js";
import { readRecordedRequest } from "../../context/recorded-request.js";
import { activeReplacement } from "../../context/replacement.js";
import { estimateAll } from "../../context/tokens.js";
import { type ContextRecord, isMessageEntry, RESERVED_ENTRY_TYPES, type SessionEntry } from "../../log/entry.js";
import type { SessionLog } from "../../log/session-log.js";
import { sectionsForTools } from "../../resources/system-prompt.js";
import { plural } from "../../util/format-amounts.js";
import type { PastRequest, SessionContext } from "../session-context.js";

/** Size of a request; tokens are estimates. */
export interface RequestSize {
	messages: number;
	tokens: number;
}

/** How the last request differs from the one that the current hooks would build. */
export interface ContextDifference {
	/** Entry index of the reply to that request. */
	reply: number;
	sent: RequestSize;
	now: RequestSize;
	/** True when the system prompt or the tools differ. */
	isPreambleDifferent: boolean;
	/** True when the log records every message of the request. */
	canFreeze: boolean;
}

/** Entries in a session that pi ignores, because their hook is not loaded or their line is damaged, and the effect on the context. */
export interface MissingHooks {
	/** Number of entries by type, for types that no loaded hook knows. */
	types: ReadonlyMap<string, number>;
	/** Names of the bundled hooks that are off and own some of these entries. */
	turnedOff: readonly string[];
	/** Number of lines that are no entry. */
	damagedLines: number;
	/** null when the last request would be the same, was not recorded, or no longer matters. */
	difference: ContextDifference | null;
}

export interface MissingHooksQuery {
	log: SessionLog;
	/** True for types that a loaded hook declares or writes. */
	knowsType(type: string): boolean;
	/** The name of the bundled hook that owns entries of this type and is off; undefined if none is. */
	turnedOffHook(type: string): string | undefined;
	/**
	 * Computes a context with the current hooks, apart from the session's own.
	 * @param preamble system prompt and tools before hooks; undefined: the current ones
	 */
	tryContext(entries: readonly SessionEntry[], past: PastRequest): Promise<BuiltContext>;
	context: Pick<SessionContext, "pastFacts">;
}

/** Finds entries whose hook is not loaded, and damaged lines. @returns null when there are none */
export async function findMissingHooks(query: MissingHooksQuery): Promise<MissingHooks | null> {
	const { types, damagedLines } = countIgnored(query);
	if (types.size === 0 && damagedLines === 0) return null;
	const names = [...types.keys()].flatMap((type) => query.turnedOffHook(type) ?? []);
	return { types, turnedOff: [...new Set(names)], damagedLines, difference: await findDifference(query) };
}

/** One line for the user: the ignored entries, and their effect on the context. */
export function describeMissingHooks({ types, turnedOff, damagedLines, difference }: MissingHooks): string {
	const parts: string[] = [];
	if (turnedOff.length > 0) {
		parts.push(`${areOff(turnedOff)}, so pi ignores these entries of the session: ${listTypes(types)}; see /hooks`);
	} else if (types.size > 0) {
		parts.push(`No loaded hook knows these entries of the session: ${listTypes(types)}; pi keeps and ignores them`);
	}
	if (damagedLines > 0) parts.push(`${describeDamage(damagedLines)}; details: pi sessions check`);
	if (difference) {
		const { sent, now, isPreambleDifferent } = difference;
		const ignored = types.size === 0 && damagedLines === 1 ? "it" : "them";
		const without = `without ${damagedLines === 0 ? "their hooks" : `${ignored},`}`;
		const prompt = isPreambleDifferent ? " and another system prompt or other tools" : "";
		parts.push(`the last request had ${size(sent)}; ${without} it would have ${size(now)}${prompt}`);
	}
	return parts.join(" · ");
}

/** The title of a question about how to continue. */
export function titleOfMissingHooks({ types, turnedOff, damagedLines }: MissingHooks): string {
	if (turnedOff.length > 0) return `${areOff(turnedOff)}, and this session has entries: ${listTypes(types)}`;
	return types.size > 0 ? `The hooks of ${listTypes(types)} are missing` : describeDamage(damagedLines);
}

function areOff(hooks: readonly string[]): string {
	return hooks.length === 1 ? `The hook ${hooks[0]} is off` : `The hooks ${hooks.join(", ")} are off`;
}

function describeDamage(lines: number): string {
	const verb = lines === 1 ? "is" : "are";
	return `${plural(lines, "line")} of the session file ${verb} damaged and ignored`;
}

/** A list such as `stack_pop (2), pin (1)`. */
export function listTypes(types: ReadonlyMap<string, number>): string {
	return [...types].map(([type, count]) => `${type} (${count})`).join(", ");
}

function size({ messages, tokens }: RequestSize): string {
	return `${plural(messages, "message")}, about ${tokens} tokens`;
}

function countIgnored({ log, knowsType }: MissingHooksQuery): Pick<MissingHooks, "types" | "damagedLines"> {
	const counts = new Map(log.countTypes());
	const damagedLines = counts.get("opaque") ?? 0;
	const types = new Map([...counts].filter(([type]) => !RESERVED_ENTRY_TYPES.has(type) && !knowsType(type)));
	return { types, damagedLines };
}

async function findDifference(query: MissingHooksQuery): Promise<ContextDifference | null> {
	const { entries } = query.log;
	const reply = entries.findLastIndex((entry) => isMessageEntry(entry) && entry.message.role === "assistant");
	const last = entries[reply];
	const record = isMessageEntry(last) ? last.context : undefined;
	// A later compaction or freeze has replaced that request.
	if (!record || (activeReplacement(entries)?.entryIndex ?? -1) > reply) return null;
	const now = await recompute(query, reply, record);
	if (!now) return null;
	const recorded = readRecordedRequest(entries, reply)?.map(({ message }) => message);
	const hasMessages = recorded !== undefined && digestContext(recorded) === record.digest;
	const tokens = hasMessages ? estimateAll(recorded) : record.tokens;
	const isPreambleDifferent = !hasSamePreamble(now, record);
	const preamble = readRecordedPreamble(entries, reply)?.sent ?? null;
	return {
		reply,
		sent: { messages: record.messages, tokens },
		now: { messages: now.messages.length, tokens: estimateAll(plainMessages(now)) },
		isPreambleDifferent,
		canFreeze: hasMessages && (!isPreambleDifferent || isSentPreamble(preamble, record)),
	};
}

/** The request with the current hooks; null when it equals the one sent. */
async function recompute(
	{ log: { entries }, tryContext, context }: MissingHooksQuery,
	reply: number,
	record: ContextRecord,
): Promise<BuiltContext | null> {
	let last: BuiltContext | null = null;
	const past = { preamble: coreOfReply(entries, reply, sectionsForTools), facts: context.pastFacts(reply) };
	// A hook may have saved entries during the reply, so the request may belong to an earlier point of the log.
	for (let end = reply; end > 0; end--) {
		const built = await tryContext(Object.freeze(entries.slice(0, end)), past);
		if (digestContext(plainMessages(built)) === record.digest && hasSamePreamble(built, record)) return null;
		last ??= built;
		if (isMessageEntry(entries[end - 1])) break;
	}
	return last;
}

function hasSamePreamble({ preamble }: BuiltContext, { system, tools }: ContextRecord): boolean {
	return [undefined, preamble.systemDigest].includes(system) && [undefined, preamble.toolsDigest].includes(tools);
}
