import type { BranchRow } from "../commands/pickers.js";
import type { BuiltContext } from "../context/context-message.js";
import { type EntrySource, entryMessage } from "../context/entry-message.js";
import { estimateTokens } from "../context/tokens.js";
import { isUserMessageEntry, messageText } from "../log/entry.js";

/** The messages of the user, oldest first, with what a branch from each leaves behind. Reads every message. */
export function branchRows(entries: EntrySource, context: BuiltContext): BranchRow[] {
	const seen = new Set(
		context.messages.flatMap(({ entryIndex, origin }) =>
			entryIndex === null || origin.kind === "compaction" ? [] : [entryIndex],
		),
	);
	const rows: BranchRow[] = [];
	let messagesAfter = 0;
	let tokensAfter = 0;
	for (let entryIndex = entries.length - 1; entryIndex > 0; entryIndex--) {
		const entry = entries.at(entryIndex);
		const message = entryMessage(entry);
		if (message) tokensAfter += estimateTokens(message);
		if (isUserMessageEntry(entry)) {
			const text = messageText(entry.message);
			const at = entry.message.timestamp;
			rows.push({ entryIndex, text, at, messagesAfter, tokensAfter, isInContext: seen.has(entryIndex) });
		}
		if (message) messagesAfter++;
	}
	return rows.reverse();
}
