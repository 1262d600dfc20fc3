import { type AppMessage, messageText } from "../log/entry.js";
import type { BuiltContext, HiddenEntry, Origin, TracedMessage } from "./context-message.js";
import { bashExecutionText } from "./convert.js";
import { digestContext } from "./digest.js";
import { type EntrySource, entryMessage } from "./entry-message.js";
import { estimateTokens } from "./tokens.js";

/** A message of a request. Tokens are estimates. */
export interface LedgerMessage {
	/** From 0. */
	position: number;
	/** null when no single entry holds it. */
	entryIndex: number | null;
	role: string;
	tokens: number;
	/** The request before began with it and all before it, unchanged. Absent when that request is not known. */
	cached?: boolean;
	origin: { kind: Origin["kind"]; hook?: string };
	/** Tokens of the entry's own message, where a hook has put another one in its place. */
	replacedTokens?: number;
	text: string;
}

/** An entry with a message that is not in the request. */
export interface LedgerHidden {
	entryIndex: number;
	role: string;
	tokens: number;
	by: HiddenEntry["by"];
}

/** A request, message by message, and what is not in it. */
export interface Ledger {
	tokens: number;
	/** What the request before this one began with, unchanged. Absent when that is not known. */
	prefix?: { messages: number; tokens: number };
	messages: LedgerMessage[];
	/** By entry index, ascending. */
	hidden: LedgerHidden[];
	problems: { hook: string | null; rule: string; position: number }[];
}

/** What the model is given and why: `pi context --json` and `get_context`. */
export interface ContextReport extends Ledger {
	/** Path of the session; null when it is kept in memory. */
	session: string | null;
	/** Index of the last entry that counts. */
	at: number;
	hooks: { path: string; scope: string }[];
}

/** What a ledger is made of. */
export interface LedgerSource {
	context: BuiltContext;
	entries: EntrySource;
	/** Messages of the request before; empty when there was none, null when it is not known. */
	previous: readonly AppMessage[] | null;
}

/** Lays a computed context open. */
export function createLedger({ context, entries, previous }: LedgerSource): Ledger {
	const cached = previous === null ? null : countPrefix(previous, context.messages);
	const messages = context.messages.map(({ message, entryIndex, origin }, position): LedgerMessage => {
		const own = origin.kind === "hook" && entryIndex !== null ? entryMessage(entries.at(entryIndex)) : null;
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
		problems: context.problems.map(({ hook, rule, position }) => ({ hook, rule, position })),
	};
}

/** Puts a computed context into the form for programs. */
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

/** How many messages at the start are the same in both: what a provider's cache can hold. */
export function countPrefix(previous: readonly AppMessage[], current: readonly TracedMessage[]): number {
	const end = Math.min(previous.length, current.length);
	let count = 0;
	while (count < end && isSameMessage(previous[count], current[count]?.message)) count++;
	return count;
}

/** True for two messages that reach the model alike. */
export function isSameMessage(a: AppMessage | undefined, b: AppMessage | undefined): boolean {
	if (!a || !b) return false;
	return a === b || (a.role === b.role && digestContext([a]) === digestContext([b]));
}

/** What a hook adds to a context and keeps out of it. Tokens, estimated. */
export interface HookShare {
	added: number;
	removed: number;
}

/** What each hook does to a context, by its path; hooks that do nothing are left out. */
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

/** All text of a message, with what it calls. */
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
