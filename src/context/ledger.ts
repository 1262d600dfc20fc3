import { type AppMessage, messageText } from "../log/entry.js";
import type { BuiltContext, HiddenEntry, Origin, TracedMessage } from "./context-message.js";
import { bashExecutionText } from "./convert.js";
import { describeProblem } from "./describe-problem.js";
import { digestContext } from "./digest.js";
import { type EntrySource, entryMessage } from "./entry-message.js";
import { estimateTokens } from "./tokens.js";

/** A message of a request. Tokens are estimates. */
export interface LedgerMessage {
	/** From 0. */
	position: number;
	/** null when it is not from a single entry. */
	entryIndex: number | null;
	role: string;
	tokens: number;
	/** True when the previous request started with the same messages up to this one. Absent when that request is unknown. */
	cached?: boolean;
	origin: { kind: Origin["kind"]; hook?: string };
	/** Tokens of the entry's own message, if a hook replaced it or a compaction shortened it. */
	replacedTokens?: number;
	text: string;
}

/** An entry whose message is not in the request. */
export interface LedgerHidden {
	entryIndex: number;
	role: string;
	tokens: number;
	by: HiddenEntry["by"];
}

/** All messages of a request, and the hidden entries. */
export interface Ledger {
	tokens: number;
	/** The start that is shared with the previous request. Absent when that request is unknown. */
	prefix?: { messages: number; tokens: number };
	messages: LedgerMessage[];
	/** By entry index, ascending. */
	hidden: LedgerHidden[];
	/** `reason`: the rule and its position as a sentence. */
	problems: { hook: string | null; rule: string; position: number; reason: string }[];
}

/** The output of `pi context --json` and `get_context`. */
export interface ContextReport extends Ledger {
	/** Path of the session; null when it is kept in memory. */
	session: string | null;
	/** Index of the last entry that was used. */
	at: number;
	hooks: { path: string; scope: string }[];
}

export interface LedgerSource {
	context: BuiltContext;
	entries: EntrySource;
	/** Messages of the previous request; empty when there was none, null when unknown. */
	previous: readonly AppMessage[] | null;
}

/** Lists the messages and hidden entries of a computed context. */
export function createLedger({ context, entries, previous }: LedgerSource): Ledger {
	const cached = previous === null ? null : countPrefix(previous, context.messages);
	const messages = context.messages.map(({ message, entryIndex, origin }, position): LedgerMessage => {
		const isReplaced = origin.kind === "hook" || origin.kind === "shortened";
		const own = isReplaced && entryIndex !== null ? entryMessage(entries.at(entryIndex)) : null;
		return {
			position,
			entryIndex,
			role: message.role,
			tokens: estimateTokens(message),
			...(cached === null ? {} : { cached: position < cached }),
			origin: origin.kind === "hook" ? { kind: origin.kind, hook: origin.hook } : { kind: origin.kind },
			...(own === null ? {} : { replacedTokens: estimateTokens(own) }),
			text: fullText(message),
		};
	});
	return {
		tokens: sumTokens(messages),
		...(cached === null ? {} : { prefix: { messages: cached, tokens: sumTokens(messages.slice(0, cached)) } }),
		messages,
		hidden: context.hidden.map(({ entryIndex, by }) => {
			const message = entryMessage(entries.at(entryIndex));
			return { entryIndex, role: message?.role ?? "", tokens: message ? estimateTokens(message) : 0, by };
		}),
		problems: context.problems.map((problem) => {
			const { hook, rule, position } = problem;
			return { hook, rule, position, reason: describeProblem(problem) };
		}),
	};
}

/** Creates the report of a computed context for programs. */
export function createContextReport(
	source: LedgerSource & { session: string | null; hooks: readonly { path: string; scope: string }[] },
): ContextReport {
	return {
		session: source.session,
		at: source.entries.length - 1,
		hooks: source.hooks.map(({ path, scope }) => ({ path, scope })),
		...createLedger(source),
	};
}

/** Number of equal messages at the start of both lists, which the provider may have cached. */
export function countPrefix(previous: readonly AppMessage[], current: readonly TracedMessage[]): number {
	const end = Math.min(previous.length, current.length);
	let count = 0;
	while (count < end && isSameMessage(previous[count], current[count]?.message)) count++;
	return count;
}

/** True for two messages that are sent alike. */
export function isSameMessage(a: AppMessage | undefined, b: AppMessage | undefined): boolean {
	if (!a || !b) return false;
	return a === b || (a.role === b.role && digestContext([a]) === digestContext([b]));
}

/** Estimated tokens that a hook adds to a context and removes from it. */
export interface HookShare {
	added: number;
	removed: number;
}

/** The share of each hook in a context, by path. Hooks without effect are omitted. */
export function hookShares(ledger: Pick<Ledger, "messages" | "hidden">): Map<string, HookShare> {
	const shares = new Map<string, HookShare>();
	const add = (hook: string | undefined, added: number, removed: number) => {
		if (hook === undefined) return;
		const share = shares.get(hook) ?? { added: 0, removed: 0 };
		shares.set(hook, { added: share.added + added, removed: share.removed + removed });
	};
	for (const { origin, tokens, replacedTokens = 0 } of ledger.messages) add(origin.hook, tokens, replacedTokens);
	for (const { by, tokens } of ledger.hidden) if (by.kind === "hook") add(by.hook, 0, tokens);
	return shares;
}

/** The full text of a message, including its tool calls. */
export function fullText(message: AppMessage): string {
	if (message.role === "bashExecution") return bashExecutionText(message);
	if (message.role !== "assistant") return messageText(message);
	const parts = message.content.flatMap((block) => {
		if (block.type === "text") return [block.text];
		return block.type === "toolCall" ? [`${block.name}(${JSON.stringify(block.arguments)})`] : [];
	});
	return parts.join("\n");
}

function sumTokens(list: readonly { tokens: number }[]): number {
	return list.reduce((total, { tokens }) => total + tokens, 0);
}
