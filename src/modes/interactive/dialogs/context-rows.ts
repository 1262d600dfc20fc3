import { type ContextInspection, cacheShares } from "../../../commands/inspection.js";
import { describeCause, describeChanged } from "../../../context/cache-loss.js";
import { describeCompaction } from "../../../context/compaction-steps.js";
import type { Origin, TracedMessage } from "../../../context/context-message.js";
import { diffRequests } from "../../../context/diff-requests.js";
import { type EntrySource, entryMessage } from "../../../context/entry-message.js";
import { cacheState, fullText, type LedgerHidden, type LedgerMessage } from "../../../context/ledger.js";
import { estimateTokens } from "../../../context/tokens.js";
import { hookName } from "../../../hooks/hook-name.js";
import { type AppMessage, isCompactionEntry, isSessionHeader, isSystemItemEntry } from "../../../log/entry.js";
import { describeCall } from "../../../tools/describe-call.js";
import type { Theme } from "../../../tui/theme.js";
import { displayPath, formatTokens, plural } from "../../format.js";
import { cleanLine } from "../clean-text.js";
import type { ContextRow } from "./context-row.js";
import { changedPreambleRows, preambleRows } from "./preamble-rows.js";

/** @returns the rows of a request, with hidden entries and their replacements in the order of the conversation */
export function contextRows(inspection: ContextInspection, withHidden: boolean): ContextRow[] {
	const { context, ledger } = inspection;
	const hidden = withHidden ? [...ledger.hidden] : [];
	const rows: ContextRow[] = preambleRows(inspection, withHidden);
	for (const [position, traced] of context.messages.entries()) {
		const { entryIndex } = traced;
		while (entryIndex !== null && hidden[0] && hidden[0].entryIndex < entryIndex) {
			const next = hidden.shift();
			if (next) rows.push(hiddenRow(inspection, next));
		}
		const row = messageRow(inspection, position);
		if (row) rows.push(row);
	}
	for (const rest of hidden) rows.push(hiddenRow(inspection, rest));
	return rows;
}

/** @returns the differences from the previous request; consecutive unchanged messages become one row */
export function diffRows(inspection: ContextInspection): ContextRow[] {
	const { context, previous } = inspection;
	const rows: ContextRow[] = changedPreambleRows(inspection);
	const before = previous?.messages ?? [];
	let kept = 0;
	const endKept = () => {
		if (kept > 0) rows.push(gap(`${plural(kept, "message")} unchanged`));
		kept = 0;
	};
	for (const { kind, previous: position, current } of diffRequests(before, context.messages)) {
		if (kind === "kept") {
			kept++;
			continue;
		}
		endKept();
		const old = position === null ? undefined : before[position];
		if (kind === "removed" && old) rows.push({ ...tracedRow(old, old.entryIndex, before), mark: "removed" });
		const row = current === null ? null : messageRow(inspection, current);
		if (!row) continue;
		const note = kind === "replaced" && old ? `was ${formatTokens(estimateTokens(old.message))}` : row.note;
		rows.push({ ...row, mark: kind === "replaced" ? "replaced" : "added", note });
	}
	endKept();
	return rows;
}

function gap(text: string): ContextRow {
	return { mark: "gap", index: "", label: "", text, note: "", tokens: null, state: "", hook: null, full: text };
}

function messageRow(inspection: ContextInspection, position: number): ContextRow | null {
	const { context, ledger } = inspection;
	const traced = context.messages[position];
	const message = ledger.messages[position];
	if (!traced || !message) return null;
	const row = {
		...tracedRow(traced, traced.entryIndex, context.messages),
		...contextFile(inspection.entries, traced.entryIndex),
		...omissionNote(traced),
	};
	const state = cacheState(message);
	if (traced.origin.kind === "compaction") {
		const entry = inspection.entries.at(traced.origin.entryIndex);
		const steps = isCompactionEntry(entry) ? describeCompaction(entry, inspection.entries) : [];
		const form = message.native ? "provider's own form" : "summary";
		const otherwise = message.native ? `${form}: ${row.text}` : row.text;
		const text = [coveredEntries(form, ledger.hidden) ?? otherwise, ...steps].join(" · ");
		return { ...row, state, mark: "summary", text };
	}
	if (traced.origin.kind === "freeze") return { ...row, state, mark: traced.entryIndex === null ? "summary" : "in" };
	if (traced.origin.kind === "shortened") return { ...row, state, note: replacedNote(message, "compaction") };
	if (traced.origin.kind !== "hook") return { ...row, state };
	const covered = hiddenHere(inspection, position, traced.origin.hook);
	const tokens = covered.reduce((sum, entry) => sum + entry.tokens, 0);
	if (covered.length > 0) {
		const note = `hides ${plural(covered.length, "entry", "entries")}, ${formatTokens(tokens)}`;
		return { ...row, state, mark: "summary", note };
	}
	return { ...row, state, note: replacedNote(message, hookName(traced.origin.hook)) };
}

/** The label and text of an entry that added a context file; nothing for other entries. */
function contextFile(entries: EntrySource, entryIndex: number | null): { label?: string; text?: string } {
	const entry = entryIndex === null ? undefined : entries.at(entryIndex);
	if (!isSystemItemEntry(entry) || entry.item.kind !== "context_file") return {};
	const header = entries.at(0);
	const cwd = isSessionHeader(header) ? header.cwd : "";
	return { label: "file", text: displayPath(entry.source, { cwd, home: "" }) };
}

function omissionNote({ omittedImages }: TracedMessage): { note?: string } {
	return omittedImages === undefined ? {} : { note: `${plural(omittedImages, "image")} omitted` };
}

function replacedNote({ entryIndex, replacedTokens, tokens }: LedgerMessage, by: string): string {
	if (entryIndex === null || replacedTokens === undefined) return `added by ${by}`;
	const verb = tokens < replacedTokens ? "cut" : "changed";
	return `${verb} by ${by} ${formatTokens(replacedTokens)} → ${formatTokens(tokens)}`;
}

/** @returns the row of a message in a request */
export function tracedRow(
	{ message, origin }: TracedMessage,
	entryIndex: number | null,
	request: readonly TracedMessage[],
): ContextRow {
	const full = fullText(message);
	return {
		mark: "in",
		index: entryIndex === null ? "" : String(entryIndex),
		label: entryIndex === null ? originLabel(origin, message) : roleLabel(message),
		text:
			(message.role === "toolResult"
				? callSubject(
						message,
						request.map((other) => other.message),
					)
				: null) ?? full,
		note: "",
		tokens: estimateTokens(message),
		state: "",
		hook: origin.kind === "hook" ? origin.hook : null,
		full,
	};
}

function hiddenRow({ entries }: ContextInspection, { entryIndex, tokens, by }: LedgerHidden): ContextRow {
	const message = entryMessage(entries.at(entryIndex));
	const full = message ? fullText(message) : "";
	return {
		mark: "out",
		index: String(entryIndex),
		label: message ? roleLabel(message) : "",
		text: (message && callSubject(message, messagesBefore(entries, entryIndex))) ?? full,
		note: `hidden by ${by.kind === "hook" ? hookName(by.hook) : by.kind}`,
		tokens,
		state: "",
		hook: by.kind === "hook" ? by.hook : null,
		full,
		...contextFile(entries, entryIndex),
	};
}

function originLabel(origin: Origin, message: AppMessage): string {
	if (origin.kind === "hook") return hookName(origin.hook);
	return origin.kind === "compaction" || origin.kind === "freeze" ? origin.kind : roleLabel(message);
}

function roleLabel(message: AppMessage): string {
	if (message.role === "toolResult") return message.toolName;
	return message.role === "bashExecution" ? "shell" : message.role;
}

/** @returns what the call that a tool result answers is about; null if the result says more */
function callSubject(message: AppMessage, earlier: Iterable<AppMessage | null>): string | null {
	if (message.role !== "toolResult") return null;
	for (const other of earlier) {
		if (other?.role !== "assistant") continue;
		for (const block of other.content) {
			if (block.type !== "toolCall" || block.id !== message.toolCallId) continue;
			const { kind, brief } = describeCall({ name: block.name, args: block.arguments, result: message });
			// Of other tools, arguments without a text say less than the result.
			const isClear = kind !== "other" || Object.values(block.arguments).some((value) => typeof value === "string");
			return isClear && brief !== "" ? brief : null;
		}
	}
	return null;
}

/** Yields the messages of the entries before an index, latest first. */
function* messagesBefore(entries: EntrySource, end: number): Generator<AppMessage | null> {
	for (let index = end - 1; index > 0; index--) yield entryMessage(entries.at(index));
}

function coveredEntries(form: string, hidden: readonly LedgerHidden[]): string | null {
	const covered = hidden.filter(({ by }) => by.kind === "compaction");
	const [first, last] = [covered[0], covered.at(-1)];
	return first && last ? `${form} of entries ${first.entryIndex}–${last.entryIndex}` : null;
}

/** @returns the entries that a hook hid at the position of its message; none when several of its messages are there */
function hiddenHere({ context, ledger }: ContextInspection, position: number, hook: string): LedgerHidden[] {
	const { messages } = context;
	if (messages[position]?.entryIndex !== null) return [];
	let from = -1;
	let to = Number.POSITIVE_INFINITY;
	for (let at = position - 1; at >= 0 && from < 0; at--) {
		if (isOf(messages[at], hook)) return [];
		from = messages[at]?.entryIndex ?? -1;
	}
	for (let at = position + 1; at < messages.length && to === Number.POSITIVE_INFINITY; at++) {
		if (isOf(messages[at], hook)) return [];
		to = messages[at]?.entryIndex ?? to;
	}
	return ledger.hidden.filter(
		({ entryIndex, by }) => by.kind === "hook" && by.hook === hook && entryIndex > from && entryIndex < to,
	);
}

function isOf(traced: TracedMessage | undefined, hook: string): boolean {
	return traced?.entryIndex === null && traced.origin.kind === "hook" && traced.origin.hook === hook;
}

/** How a request is shown. */
export interface RequestDisplay {
	/** Paths of the omitted hooks. */
	without: ReadonlySet<string>;
	asDiff: boolean;
}

/** @returns a short and a long title of the request */
export function requestTitle(
	inspection: ContextInspection,
	{ without, asDiff }: RequestDisplay,
	theme: Theme,
): { short: string; full: string } {
	const { short, full, comparedTo } = requestName(inspection);
	if (without.size > 0) {
		const names = cleanLine([...without].map(hookName).join(", "));
		const past = inspection.at === null ? "" : ` · ${short}`;
		return {
			short: ` ${theme.warning(`Without ${names}${past}`)}`,
			full: ` ${theme.warning(`The request without ${names}${past}`)}`,
		};
	}
	if (asDiff) {
		const past = inspection.at === null ? "" : `: ${short}`;
		return {
			short: ` ${theme.bold(`Changes${past}`)}`,
			full: ` ${theme.bold(`Changes since the ${comparedTo}${past}`)}`,
		};
	}
	return { short: ` ${theme.bold(short)}`, full: ` ${theme.bold(full)}` };
}

function requestName({ at, requests }: ContextInspection): { short: string; full: string; comparedTo: string } {
	if (at === null) return { short: "Next request", full: "Context of the next request", comparedTo: "last request" };
	const position = requests.indexOf(at);
	const comparedTo = "previous request";
	if (position < 0) return { short: `Entry ${at}`, full: `Context at entry ${at}`, comparedTo };
	const short = `Request ${position + 1} of ${requests.length}`;
	return { short, full: `${short}, up to entry ${at}`, comparedTo };
}

/** @returns facts about a request, most important first @param change tokens added by omitting hooks */
export function requestFacts(inspection: ContextInspection, change: number): string[] {
	const { ledger, contextWindow, hooks, entries } = inspection;
	const { messages, hidden, tokens } = ledger;
	const cache = cacheShares(inspection);
	const shown = messages.filter(({ entryIndex }) => entryIndex !== null).length;
	return [
		`${formatTokens(tokens)}${contextWindow > 0 ? ` of ${formatTokens(contextWindow)}` : ""}`,
		...(change === 0 ? [] : [`${change > 0 ? "+" : "−"}${formatTokens(Math.abs(change))}`]),
		...(cache === null ? [] : [cache]),
		entries.length > 1 ? `${shown} of ${shown + hidden.length} entries` : "no entries",
		`${hooks.length === 0 ? "no hook" : plural(hooks.length, "hook")} can change it`,
	];
}

/** @returns one message for each problem of a request; the texts are untrusted */
export function requestWarnings({ loss, unstable, ledger }: ContextInspection): string[] {
	const lines: string[] = [];
	if (loss) {
		const { by } = loss;
		const who = by.kind === "hook" ? hookName(by.hook) : by.kind === "compaction" ? "compaction" : "a change";
		const what = loss.changed.kind === "message" ? "the start" : describeChanged(loss.changed);
		const after = describeCause(loss, hookName);
		lines.push(`${who} changed ${what}${after}: ${formatTokens(loss.resent)} tokens are sent again uncached`);
	}
	for (const hook of unstable) lines.push(`${hookName(hook)} is unstable: it returns a different request each time`);
	for (const { hook, reason } of ledger.problems) {
		lines.push(`${hook === null ? "the log" : hookName(hook)}: ${reason}`);
	}
	return lines;
}
