import type { BuiltContext, HiddenEntry, Origin } from "../../context/context-message.js";
import { bashExecutionText } from "../../context/convert.js";
import { type EntrySource, entryMessage } from "../../context/entry-message.js";
import { estimateTokens } from "../../context/tokens.js";
import { type AppMessage, messageText } from "../../log/entry.js";

/** What the model is given and why: `pi context --json` and `get_context`. Tokens are estimates. */
export interface ContextReport {
	/** Path of the session; null when it is kept in memory. */
	session: string | null;
	/** Index of the last entry that counts. */
	at: number;
	hooks: { path: string; scope: string }[];
	tokens: number;
	/** What the request before this one began with, unchanged. Absent where that is not known. */
	prefix?: { messages: number; tokens: number };
	messages: ReportedMessage[];
	hidden: { entryIndex: number; role: string; tokens: number; by: HiddenEntry["by"] }[];
	problems: { hook: string | null; rule: string; position: number }[];
}

/** A message of the context. */
export interface ReportedMessage {
	/** From 0. */
	position: number;
	/** null when no single entry holds it. */
	entryIndex: number | null;
	role: string;
	tokens: number;
	/** It is part of `prefix`. */
	cached?: boolean;
	origin: { kind: Origin["kind"]; hook?: string };
	text: string;
}

/** What a report is made of. */
export interface ContextReportSource {
	session: string | null;
	context: BuiltContext;
	entries: EntrySource;
	hooks: readonly { path: string; scope: string }[];
	/** How many messages at the start were in the request before; null when that is not known. */
	cached: number | null;
}

/** Puts a computed context into a form for programs. */
export function createContextReport({ session, context, entries, hooks, cached }: ContextReportSource): ContextReport {
	const messages = context.messages.map(
		({ message, entryIndex, origin }, position): ReportedMessage => ({
			position,
			entryIndex,
			role: message.role,
			tokens: estimateTokens(message),
			...(cached === null ? {} : { cached: position < cached }),
			origin: origin.kind === "hook" ? { kind: origin.kind, hook: origin.hook } : { kind: origin.kind },
			text: fullText(message),
		}),
	);
	return {
		session,
		at: entries.length - 1,
		hooks: hooks.map(({ path, scope }) => ({ path, scope })),
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

function sumTokens(list: readonly { tokens: number }[]): number {
	return list.reduce((total, { tokens }) => total + tokens, 0);
}

/** All text of a message, with what it calls. */
function fullText(message: AppMessage): string {
	if (message.role === "bashExecution") return bashExecutionText(message);
	if (message.role !== "assistant") return messageText(message);
	const parts = message.content.flatMap((block) => {
		if (block.type === "text") return [block.text];
		return block.type === "toolCall" ? [`${block.name}(${JSON.stringify(block.arguments)})`] : [];
	});
	return parts.join("\n");
}
