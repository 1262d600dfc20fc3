import { type ContextInspection, cacheShares, describeTools, type HookStatus } from "../commands/inspection.js";
import { describeShadow, type ShadowFigures } from "../commands/shadow-figures.js";
import { type CacheLoss, describeCause, describeChanged } from "../context/cache-loss.js";
import type { ContextProblem } from "../context/context-message.js";
import { describeProblem } from "../context/describe-problem.js";
import { entryMessage } from "../context/entry-message.js";
import {
	cacheState,
	fullText,
	groupTools,
	type LedgerMessage,
	type LedgerSection,
	type LedgerTool,
	NATIVE,
} from "../context/ledger.js";
import type { HookError } from "../errors.js";
import { hookName } from "../hooks/hook-name.js";
import { listFurtherNames } from "../hooks/registered-names.js";
import { plural } from "../util/format-amounts.js";
import type { AgentSessionEvent } from "./events.js";

/** Maximum number of characters shown of each message. */
const PREVIEW = 60;

/** The next request as lines of text: each tool, section and message with its origin, and what hooks hide. */
export function describeContext(inspection: ContextInspection): string[] {
	const { context, ledger, entries, loss, contextWindow, unstable } = inspection;
	const { tokens, tools, systemPrompt, messages, hidden, removed, problems } = ledger;
	const cache = cacheShares(inspection);
	const share = contextWindow > 0 ? ` of ${contextWindow} (${percent(tokens, contextWindow)} %)` : "";
	const lines = [
		`${plural(messages.length, "message")}, about ${tokens} tokens${share}${cache === null ? "" : `, ${cache}`}`,
		`${context.preamble.tokens} of them are the system prompt and ${plural(tools.length, "tool definition")}`,
		"",
	];
	for (const tool of groupTools(tools)) lines.push(describePart("tools", tool.name, tool));
	for (const section of systemPrompt) lines.push(describePart("system", section.id, section));
	for (const message of messages) lines.push(describeMessage(message));
	if (removed.length > 0) lines.push("", "Removed by hooks:");
	for (const part of removed) {
		const [kind, name] = "id" in part ? ["system", part.id] : ["tool", part.name];
		lines.push(`┆       ${kind.padEnd(13)} ${name}  (by ${hookName(part.by.hook)})`);
	}
	if (hidden.length > 0)
		lines.push("", hidden.length === 1 ? "1 entry is hidden:" : `${hidden.length} entries are hidden:`);
	for (const { entryIndex, role, by } of hidden) {
		const message = entryMessage(entries.at(entryIndex));
		const text = message ? preview(fullText(message)) : "";
		const name = by.kind === "hook" ? hookName(by.hook) : by.kind;
		lines.push(`┆ ${String(entryIndex).padStart(4)}  ${role.padEnd(13)} ${text}  (by ${name})`);
	}
	if (loss) lines.push("", describeLoss(loss));
	for (const hook of unstable) lines.push("", `${hook} returns different results for the same entries`);
	for (const { hook, reason } of problems) lines.push("", `${hook ?? "the log"}: ${reason}`);
	return lines;
}

/** One line: what changed the start of the request, and how many tokens are sent again. */
function describeLoss(loss: CacheLoss): string {
	const { by, changed, resent } = loss;
	const who = by.kind === "hook" ? `hook ${hookName(by.hook)}` : by.kind === "compaction" ? "a compaction" : "a change";
	const after = describeCause(loss, (path) => `hook ${hookName(path)}`);
	return `${who} changed ${describeChanged(changed)}${after}: about ${resent} tokens are sent again uncached`;
}

/**
 * The hooks as lines of text: scope, path and calls of each, then its problems.
 * @param shadows the figures of those in the shadow, by path
 */
export function describeHooks(
	statuses: readonly HookStatus[],
	shadows: ReadonlyMap<string, ShadowFigures> = new Map(),
): string[] {
	return statuses.flatMap(({ tools, ...status }) => {
		const { name, scope, path, bundled, isEnabled, isShadow, problem, figures, cannotFire, conflicts } = status;
		const calls = figures.calls === 0 ? "never fired" : `${figures.calls} calls`;
		const played = isShadow ? shadows.get(path) : undefined;
		const off = isShadow ? "in the shadow" : "off";
		const shadow = played ? describeShadow(played).map((line) => `    ${line}`) : [];
		if (bundled?.isLoaded === false) return [`${name}  ${scope}  ${path}  ${off}: ${bundled.description}`, ...shadow];
		const ofModel = tools.length === 0 ? [] : [`    tools: ${describeTools(tools)}`];
		const further = listFurtherNames({ ...status, tools: [] }).map(([kind, names]) => `    ${kind}: ${names}`);
		const replaced = bundled?.replacedBy ? [`    replaced by ${bundled.replacedBy}`] : [];
		const slow = figures.slowDrawMs === null ? [] : [`    draws slowly: p95 ${Math.round(figures.slowDrawMs)} ms`];
		const { lastError, lastPlace, lastStack } = figures;
		const at = lastPlace ? ` (${lastPlace.file}:${lastPlace.line}:${lastPlace.column})` : "";
		const stack = lastStack === null ? [] : lastStack.split("\n").map((line) => `    ${line}`);
		const error = lastError === null ? [] : [`    last error: ${lastError}${at}`, ...stack];
		const failure = problem === null || played ? [] : [`    ${problem}`];
		const unreachable = cannotFire.map(({ what, why }) => `    cannot fire in this mode: ${what}, for ${why}`);
		const claims = conflicts.map((conflict) => `    ${conflict}`);
		return [
			`${name}  ${scope}  ${path}  ${isEnabled ? calls : problem === null || isShadow ? off : "failed"}`,
			...shadow,
			...replaced,
			...ofModel,
			...further,
			...failure,
			...error,
			...slow,
			...unreachable,
			...claims,
		];
	});
}

/** The event that reports a fault in the log. */
export function logProblemEvent(problem: ContextProblem): AgentSessionEvent {
	return { type: "notice", level: "warning", message: `The session file: ${describeProblem(problem)}` };
}

/**
 * A hook failure as a session event. JSON and RPC send its enumerable fields; listeners in this process also get the error.
 * @param verbose adds the stack trace
 */
export function hookErrorEvent(cause: HookError, verbose: boolean): AgentSessionEvent {
	const { hookPath, event, reason: error, place, trace, rule } = cause;
	const details = { ...place, ...(rule && { rule }), ...(verbose && trace !== null && { stack: trace }) };
	return Object.defineProperty({ type: "hook_error", hookPath, event, error, ...details }, "cause", { value: cause });
}

function describePart(kind: string, name: string, part: LedgerTool | LedgerSection): string {
	const { tokens, origin, text } = part;
	const from = origin.hook === undefined ? origin.kind : `hook ${hookName(origin.hook)}`;
	return `▎       ${kind.padEnd(13)} ${String(tokens).padStart(6)} tok  ${cacheState(part).padEnd(6)}  ${preview(`${name}: ${text}`)}${origin.kind === "core" ? "" : `  (${from})`}`;
}

function describeMessage(message: LedgerMessage): string {
	const { entryIndex, role, tokens, origin, native, text } = message;
	const from = origin.hook === undefined ? origin.kind : `hook ${hookName(origin.hook)}`;
	const index = entryIndex === null ? "◆" : String(entryIndex);
	return `▎ ${index.padStart(4)}  ${role.padEnd(13)} ${String(tokens).padStart(6)} tok  ${cacheState(message).padEnd(6)}  ${preview(text)}${origin.kind === "entry" ? "" : `  (${from}${native ? `, ${NATIVE}` : ""})`}`;
}

function preview(text: string): string {
	const line = text.replace(/\s+/g, " ").trim();
	return line.length > PREVIEW ? `${line.slice(0, PREVIEW)}…` : line;
}

function percent(part: number, total: number): number {
	return Math.round((100 * part) / total);
}
