import type { BuiltContext, HiddenEntry, TracedMessage } from "../context/context-message.js";
import { estimateTokens } from "../context/tokens.js";
import { hookName } from "../hooks/discover.js";
import { isMessageEntry, messageText, type SessionEntry } from "../log/entry.js";

/** Characters of each message that are shown. */
const PREVIEW = 60;

/** The context as lines of text: what the model sees, where each message comes from, what is hidden by what. */
export function describeContext(
	context: BuiltContext,
	entries: readonly SessionEntry[],
	usage: { tokens: number; contextWindow: number },
): string[] {
	const share = usage.contextWindow > 0 ? ` of ${usage.contextWindow} (${percent(usage)} %)` : "";
	const lines = [`${context.messages.length} messages, about ${usage.tokens} tokens${share}`, ""];
	for (const message of context.messages) lines.push(describeMessage(message));
	if (context.hidden.length > 0) {
		lines.push("", `${context.hidden.length} entries are hidden:`);
		for (const hidden of context.hidden) lines.push(describeHidden(hidden, entries));
	}
	for (const { hook, rule, position } of context.problems) {
		lines.push("", `${hook ?? "the log"}: ${rule} at ${position}`);
	}
	return lines;
}

function describeMessage({ message, entryIndex, origin }: TracedMessage): string {
	const from =
		origin.kind === "hook"
			? `hook ${hookName(origin.hook)}`
			: origin.kind === "compaction"
				? "compaction"
				: origin.kind;
	const index = entryIndex === null ? "◆" : String(entryIndex);
	return `▎ ${index.padStart(4)}  ${message.role.padEnd(13)} ${String(estimateTokens(message)).padStart(6)} tok  ${preview(messageText(message))}${origin.kind === "entry" ? "" : `  (${from})`}`;
}

function describeHidden({ entryIndex, by }: HiddenEntry, entries: readonly SessionEntry[]): string {
	const entry = entries[entryIndex];
	const text = isMessageEntry(entry) ? preview(messageText(entry.message)) : (entry?.type ?? "");
	const role = isMessageEntry(entry) ? entry.message.role : "";
	return `┆ ${String(entryIndex).padStart(4)}  ${role.padEnd(13)} ${text}  (by ${by.kind === "hook" ? hookName(by.hook) : "compaction"})`;
}

function preview(text: string): string {
	const line = text.replace(/\s+/g, " ").trim();
	return line.length > PREVIEW ? `${line.slice(0, PREVIEW)}…` : line;
}

function percent({ tokens, contextWindow }: { tokens: number; contextWindow: number }): number {
	return Math.round((100 * tokens) / contextWindow);
}
