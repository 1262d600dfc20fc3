import type { CompactionPreview } from "../../../commands/compaction-request.js";
import { diffRequests } from "../../../context/diff-requests.js";
import { hookName } from "../../../hooks/hook-name.js";

import type { ContextRow } from "./context-row.js";
import { tracedRow } from "./context-rows.js";

/** The effect of a compaction, message by message, in the order of the conversation. */
export interface CompactionRows {
	/** `out`: dropped; `summary`: the summary that replaces them; all others: kept. */
	rows: readonly ContextRow[];
	dropped: { messages: number; tokens: number };
	kept: { messages: number; tokens: number };
	/** Names of the hooks that keep or change messages, and the number of these messages. */
	byHooks: { names: readonly string[]; messages: number };
}

/**
 * Compares the request before and after the compaction, which includes the messages that hooks add or keep.
 * @param firstKept index of the first entry that the compaction keeps
 * @param hasSummary false while the preview has a placeholder, whose size is meaningless
 */
export function compactionRows(
	{ before, after }: CompactionPreview,
	firstKept: number,
	hasSummary: boolean,
): CompactionRows {
	const [old, now] = [before.messages, after.messages];
	const rows: ContextRow[] = [];
	const byHooks: string[] = [];
	for (const change of diffRequests(old, now)) {
		const gone = change.previous === null ? undefined : old[change.previous];
		const here = change.current === null ? undefined : now[change.current];
		if (change.kind === "removed" && gone) rows.push({ ...tracedRow(gone, gone.entryIndex, old), mark: "out" });
		if (!here) continue;
		const row = tracedRow(here, here.entryIndex, now);
		if (here.origin.kind === "compaction") {
			rows.push({
				...row,
				mark: "summary",
				label: "summary",
				text: "inserted here",
				tokens: hasSummary ? row.tokens : null,
			});
			continue;
		}
		const isCovered = here.entryIndex !== null && here.entryIndex < firstKept;
		const hook = here.origin.kind === "hook" && (isCovered || change.kind !== "kept") ? here.origin.hook : null;
		if (hook === null) rows.push(row);
		else {
			const name = hookName(hook);
			byHooks.push(name);
			rows.push({ ...row, note: isCovered ? `kept by ${name}` : `changed by ${name}`, hook });
		}
	}
	return {
		rows,
		dropped: sumOf(rows.filter(({ mark }) => mark === "out")),
		kept: sumOf(rows.filter(({ mark }) => mark === "in")),
		byHooks: { names: [...new Set(byHooks)], messages: byHooks.length },
	};
}

function sumOf(rows: readonly ContextRow[]): { messages: number; tokens: number } {
	return { messages: rows.length, tokens: rows.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0) };
}
