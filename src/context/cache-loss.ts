import type { PromptSection, ToolInfo } from "../log/entry.js";
import type { BuiltContext, TracedMessage } from "./context-message.js";
import { findResent, sharedPrefix } from "./ledger.js";
import type { Preamble, TracedSection } from "./preamble.js";

/** A request that does not start like the previous one, so that the provider must process parts of it again. */
export interface CacheLoss {
	/** What wrote or removed the first part that differs; `other` when unknown. */
	by: { kind: "compaction" } | { kind: "hook"; hook: string } | { kind: "other" };
	/** What made the hook in `by` change its answer; absent when unknown, and when it is that hook itself. */
	cause?: CacheLossCause;
	/** The first part that differs. Providers cache tools, then the system prompt, then messages. */
	changed: { kind: "tools" } | { kind: "section"; id: string } | { kind: "message" };
	/** Estimated tokens after the shared start that the previous request or its reply already had. */
	resent: number;
	/** Position of the first tool, section or message that differs. */
	position: number;
}

/** A compaction, a freeze, the undo of one of them, or an entry of another hook. */
export type CacheLossCause = { kind: "compaction" | "freeze" | "undo" } | { kind: "hook"; hook: string };

/** An entry that was added between two requests. */
export interface AddedEntry {
	type: string;
	/** Path of the hook to which entries of this type belong; null for none. */
	hook: string | null;
}

/**
 * Compares a request with the previous one.
 * @param added the entries since the previous request, in order
 * @returns null when nothing is sent again: only new parts follow the shared start
 */
export function findCacheLoss(
	previous: BuiltContext,
	current: BuiltContext,
	added: readonly AddedEntry[] = [],
): CacheLoss | null {
	const [before, now] = [previous.preamble, current.preamble];
	const prefix = sharedPrefix(previous, current);
	const { tokens: resent } = findResent(previous, current, prefix);
	if (resent === 0) return null;
	const create = (by: CacheLoss["by"], changed: CacheLoss["changed"], position: number): CacheLoss => {
		const cause = by.kind === "hook" ? findCause(by.hook, added, [...previous.edits, ...current.edits]) : null;
		return { by, ...(cause ? { cause } : {}), changed, resent, position };
	};
	if (prefix.tools < Math.max(before.tools.length, now.tools.length)) {
		const position = prefix.tools;
		return create(findToolCulprit(before, now, position), { kind: "tools" }, position);
	}
	if (prefix.systemPrompt < Math.max(before.sections.length, now.sections.length)) {
		const position = prefix.systemPrompt;
		const { id, by } = findSectionCulprit(before, now, position);
		return create(by, { kind: "section", id }, position);
	}
	const position = prefix.messages;
	return create(findCulprit(previous, current, position), { kind: "message" }, position);
}

const CAUSES: Readonly<Record<string, Exclude<CacheLossCause["kind"], "hook">>> = {
	compaction: "compaction",
	context_freeze: "freeze",
	context_undo: "undo",
};

/**
 * The origin of the entries to which the writer may have reacted; null unless there is exactly one. Of several, entries of
 * hooks that do not change messages are less likely.
 */
function findCause(
	writer: string,
	added: readonly AddedEntry[],
	edits: readonly { hook: string }[],
): CacheLossCause | null {
	const causes = new Map<string, CacheLossCause>();
	for (const { type, hook } of added) {
		const kind = CAUSES[type];
		if (kind) causes.set(kind, { kind });
		else if (hook !== null && hook !== writer) causes.set(`hook ${hook}`, { kind: "hook", hook });
	}
	const all = [...causes.values()];
	const likely = all.filter((cause) => cause.kind !== "hook" || edits.some(({ hook }) => hook === cause.hook));
	const [cause, ...others] = likely.length > 0 ? likely : all;
	return cause && others.length === 0 ? cause : null;
}

/** The end of a sentence such as `hook x changed …`; empty for an unknown cause. @param nameOf the name of a hook by its path */
export function describeCause({ cause }: Pick<CacheLoss, "cause">, nameOf: (path: string) => string): string {
	if (!cause) return "";
	if (cause.kind === "hook") return ` after an entry of ${nameOf(cause.hook)}`;
	return cause.kind === "undo" ? " after an undo" : ` after a ${cause.kind}`;
}

/** What changed, for a sentence such as `hook x changed …`. */
export function describeChanged(changed: CacheLoss["changed"]): string {
	if (changed.kind === "tools") return "the tools";
	return changed.kind === "section" ? `section ${changed.id} of the system prompt` : "the start of the request";
}

function findToolCulprit(previous: Preamble, current: Preamble, position: number): CacheLoss["by"] {
	const [before, after] = [previous.tools[position], current.tools[position]];
	const hook = toolHider(before, current) ?? toolHider(after, previous) ?? after?.hook ?? before?.hook;
	// Without a hider the tools only changed their order.
	return byHook(hook ?? (isReordered(previous, current) ? (current.toolsBy ?? previous.toolsBy) : null));
}

function toolHider(tool: ToolInfo | undefined, { hiddenTools }: Preamble): string | undefined {
	return hiddenTools.find(({ tool: { name } }) => name === tool?.name)?.hook;
}

function isReordered(previous: Preamble, current: Preamble): boolean {
	const names = (tools: readonly ToolInfo[]) => tools.map(({ name }) => name).sort();
	return JSON.stringify(names(previous.tools)) === JSON.stringify(names(current.tools));
}

function findSectionCulprit(
	previous: Preamble,
	current: Preamble,
	position: number,
): { id: string; by: CacheLoss["by"] } {
	const [before, after] = [previous.sections[position], current.sections[position]];
	const hidden = sectionHider(before?.section, current);
	if (before && hidden !== undefined) return { id: before.section.id, by: byHook(hidden) };
	const shown = sectionHider(after?.section, previous);
	const id = (after ?? before)?.section.id ?? "";
	return { id, by: byHook(hookOf(after) ?? hookOf(before) ?? shown) };
}

function sectionHider(section: PromptSection | undefined, { hiddenSections }: Preamble): string | undefined {
	return hiddenSections.find(({ section: { id } }) => id === section?.id)?.hook;
}

function hookOf(traced: TracedSection | undefined): string | undefined {
	return traced?.origin.kind === "hook" ? traced.origin.hook : undefined;
}

function byHook(hook: string | null | undefined): CacheLoss["by"] {
	return hook === undefined || hook === null ? { kind: "other" } : { kind: "hook", hook };
}

function findCulprit(previous: BuiltContext, current: BuiltContext, position: number): CacheLoss["by"] {
	const before = previous.messages[position];
	const after = current.messages[position];
	return hiderOf(before, current) ?? adderOf(after) ?? adderOf(before) ?? hiderOf(after, previous) ?? { kind: "other" };
}

/** Finds what hides the entry of a message from a context; null for nothing. */
function hiderOf(traced: TracedMessage | undefined, { hidden }: BuiltContext): CacheLoss["by"] | null {
	if (!traced || traced.entryIndex === null) return null;
	const by = hidden.find(({ entryIndex }) => entryIndex === traced.entryIndex)?.by;
	if (!by) return null;
	if (by.kind === "hook") return by;
	return by.kind === "compaction" ? { kind: "compaction" } : { kind: "other" };
}

/** Finds what added a message that is not from an entry; null for nothing. */
function adderOf(traced: TracedMessage | undefined): CacheLoss["by"] | null {
	if (traced?.origin.kind === "hook") return { kind: "hook", hook: traced.origin.hook };
	return traced?.origin.kind === "compaction" ? { kind: "compaction" } : null;
}
