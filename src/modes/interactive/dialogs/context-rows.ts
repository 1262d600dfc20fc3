import { type ContextInspection, requestSize } from "../../../commands/inspection.js";
import type { Origin, TracedMessage } from "../../../context/context-message.js";
import { diffRequests } from "../../../context/diff-requests.js";
import { type EntrySource, entryMessage } from "../../../context/entry-message.js";
import { fullText, type LedgerHidden, type LedgerMessage } from "../../../context/ledger.js";
import { estimateTokens } from "../../../context/tokens.js";
import type { AppMessage } from "../../../log/entry.js";
import type { Theme } from "../../../tui/theme.js";
import { formatTokens, hookName, plural } from "../../format.js";
import { cleanLine } from "../lines.js";

/** A line of the context panel. Texts are as they came: clean them before they are drawn. */
export interface ContextRow {
	/** `in`, `out`, `summary` as the gutter of the transcript; the others compare two requests. */
	mark: "in" | "out" | "summary" | "added" | "removed" | "replaced" | "gap";
	/** Entry index; empty for a message that no single entry holds. */
	index: string;
	/** Role, tool or hook. */
	label: string;
	text: string;
	/** What a hook or a compaction has to do with it. */
	note: string;
	/** null for a row that is no message. */
	tokens: number | null;
	state: "cached" | "new" | "";
	/** Path of the hook that added, replaced or hid it. */
	hook: string | null;
	/** The whole text of the message. */
	full: string;
}

/** What a compaction or hooks hid, and what stands in its place, is in the order of the conversation. */
export function contextRows(inspection: ContextInspection, withHidden: boolean): ContextRow[] {
	const { context, ledger } = inspection;
	const hidden = withHidden ? [...ledger.hidden] : [];
	const rows: ContextRow[] = [preambleRow(inspection)];
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

/** What stands before the messages. Nothing changes it but the user, so the cache has had it since the first request. */
function preambleRow({ at, preamble, previous }: ContextInspection): ContextRow {
	const { systemPrompt, tools, tokens } = preamble;
	const definitions = tools.map(
		({ name, description, parameters }) => `${name}: ${description}\n${JSON.stringify(parameters, null, 2)}`,
	);
	return {
		mark: "in",
		index: "",
		label: "system",
		text: `prompt and ${plural(tools.length, "tool")}`,
		note: at === null ? "" : "as it is now",
		tokens,
		state: previous ? "cached" : "new",
		hook: null,
		full: [systemPrompt, ...definitions].join("\n\n"),
	};
}

/** What differs from the last request; what is as it was is one row. */
export function diffRows(inspection: ContextInspection): ContextRow[] {
	const { context, previous } = inspection;
	const rows: ContextRow[] = [];
	let kept = 0;
	const endKept = () => {
		if (kept > 0) rows.push(gap(`${plural(kept, "message")} as before`));
		kept = 0;
	};
	for (const { kind, previous: before, current } of diffRequests(previous ?? [], context.messages)) {
		if (kind === "kept") {
			kept++;
			continue;
		}
		endKept();
		const old = before === null ? undefined : previous?.[before];
		if (kind === "removed" && old) rows.push({ ...tracedRow(old, old.entryIndex, previous ?? []), mark: "removed" });
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
	const row = tracedRow(traced, traced.entryIndex, context.messages);
	const state = message.cached === undefined ? "" : message.cached ? "cached" : "new";
	if (traced.origin.kind === "compaction") {
		return { ...row, state, mark: "summary", text: coveredEntries(ledger.hidden, row.text) };
	}
	if (traced.origin.kind === "freeze") return { ...row, state, mark: traced.entryIndex === null ? "summary" : "in" };
	if (traced.origin.kind !== "hook") return { ...row, state };
	const covered = hiddenHere(inspection, position, traced.origin.hook);
	const tokens = covered.reduce((sum, entry) => sum + entry.tokens, 0);
	if (covered.length > 0) {
		const note = `hides ${plural(covered.length, "entry", "entries")}, ${formatTokens(tokens)}`;
		return { ...row, state, mark: "summary", note };
	}
	return { ...row, state, note: replacedNote(message, traced.origin.hook) };
}

function replacedNote({ entryIndex, replacedTokens, tokens }: LedgerMessage, hook: string): string {
	if (entryIndex === null || replacedTokens === undefined) return `added by ${hookName(hook)}`;
	const verb = tokens < replacedTokens ? "cut" : "changed";
	return `${verb} by ${hookName(hook)} ${formatTokens(replacedTokens)} → ${formatTokens(tokens)}`;
}

/** The row of a message, as part of a request. */
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
				? callArgument(
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
		text: (message && callArgument(message, messagesBefore(entries, entryIndex))) ?? full,
		note: `hidden by ${by.kind === "hook" ? hookName(by.hook) : by.kind}`,
		tokens,
		state: "",
		hook: by.kind === "hook" ? by.hook : null,
		full,
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

/** What a tool was called with, for its result: the first text among the arguments. */
function callArgument(message: AppMessage, earlier: Iterable<AppMessage | null>): string | null {
	if (message.role !== "toolResult") return null;
	for (const other of earlier) {
		if (other?.role !== "assistant") continue;
		for (const block of other.content) {
			if (block.type !== "toolCall" || block.id !== message.toolCallId) continue;
			const text = Object.values(block.arguments).find((value) => typeof value === "string");
			return typeof text === "string" ? text : null;
		}
	}
	return null;
}

/** Messages of the entries before an index, the latest first. */
function* messagesBefore(entries: EntrySource, end: number): Generator<AppMessage | null> {
	for (let index = end - 1; index > 0; index--) yield entryMessage(entries.at(index));
}

function coveredEntries(hidden: readonly LedgerHidden[], otherwise: string): string {
	const covered = hidden.filter(({ by }) => by.kind === "compaction");
	const [first, last] = [covered[0], covered.at(-1)];
	return first && last ? `summary of entries ${first.entryIndex}–${last.entryIndex}` : otherwise;
}

/** What the hook hid just where its message stands; nothing when several of its messages stand there. */
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

/** How a request is looked at. */
export interface RequestAspect {
	/** Paths of hooks that are left out. */
	without: ReadonlySet<string>;
	asDiff: boolean;
}

/** Which request it is, in few words and in more. */
export function requestTitle(
	inspection: ContextInspection,
	{ without, asDiff }: RequestAspect,
	theme: Theme,
): { short: string; full: string } {
	const { short, full, rest } = requestName(inspection);
	if (without.size > 0) {
		const names = cleanLine([...without].map(hookName).join(", "));
		const past = inspection.at === null ? "" : ` · ${short}`;
		return {
			short: ` ${theme.warning(`Without ${names}${past}`)}`,
			full: ` ${theme.warning(`What if without ${names}${past}`)}`,
		};
	}
	if (asDiff) {
		const past = inspection.at === null ? "" : `: ${short}`;
		return { short: ` ${theme.bold(`Changes${past}`)}`, full: ` ${theme.bold(`Changes since the ${rest}${past}`)}` };
	}
	return { short: ` ${theme.bold(short)}`, full: ` ${theme.bold(full)}` };
}

function requestName({ at, requests }: ContextInspection): { short: string; full: string; rest: string } {
	if (at === null) return { short: "Next request", full: "Context of the next request", rest: "last request" };
	const place = requests.indexOf(at);
	const rest = "request before";
	if (place < 0) return { short: `Entry ${at}`, full: `Context at entry ${at}`, rest };
	const short = `Request ${place + 1} of ${requests.length}`;
	return { short, full: `${short}, up to entry ${at}`, rest };
}

/** Size and share of a request; the first facts matter most. @param change tokens that leaving hooks out adds */
export function requestFacts(inspection: ContextInspection, change: number): string[] {
	const { ledger, contextWindow, hooks, entries } = inspection;
	const { messages, hidden } = ledger;
	const shown = messages.filter(({ entryIndex }) => entryIndex !== null).length;
	const { tokens, cached } = requestSize(inspection);
	// All of it is said only of all of it.
	const share = `${tokens > 0 ? Math.floor((100 * cached) / tokens) : 0} % cached`;
	return [
		`${formatTokens(tokens)}${contextWindow > 0 ? ` of ${formatTokens(contextWindow)}` : ""}`,
		...(change === 0 ? [] : [`${change > 0 ? "+" : "−"}${formatTokens(Math.abs(change))}`]),
		share,
		plural(hooks.length, "hook"),
		entries.length > 1 ? `${shown} of ${shown + hidden.length} entries` : "no entries",
	];
}

/** What is not as it should be, a sentence each. Texts are as they came. */
export function requestWarnings({ loss, unstable, ledger }: ContextInspection): string[] {
	const lines: string[] = [];
	if (loss) {
		const { by } = loss;
		const who = by.kind === "hook" ? hookName(by.hook) : by.kind === "compaction" ? "compaction" : "a change";
		lines.push(`${who} changed the start: ${formatTokens(loss.tokens)} tokens are no longer cached`);
	}
	for (const hook of unstable) lines.push(`${hookName(hook)} is unstable: other messages for the same entries`);
	for (const { hook, rule, position } of ledger.problems) {
		lines.push(`${hook === null ? "the log" : hookName(hook)}: ${rule.replaceAll("_", " ")} at ${position}`);
	}
	return lines;
}
