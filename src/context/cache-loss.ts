import type { PromptSection, ToolInfo } from "../log/entry.js";
import { sum } from "../util/sum.js";
import type { BuiltContext, TracedMessage } from "./context-message.js";
import { sharedPrefix } from "./ledger.js";
import { type Preamble, sectionTokens, type TracedSection, toolTokens } from "./preamble.js";
import { estimateTokens } from "./tokens.js";

/** A request that does not start like the previous one, so that the provider must process it again. */
export interface CacheLoss {
	/** What changed the start; `other` when unknown. */
	by: { kind: "compaction" } | { kind: "hook"; hook: string } | { kind: "other" };
	/** The first part that differs. Providers cache tools, then the system prompt, then messages. */
	changed: { kind: "tools" } | { kind: "section"; id: string } | { kind: "message" };
	/** Estimated tokens of the previous request that are no longer cached. */
	tokens: number;
	/** Position of the first tool, section or message that differs. */
	position: number;
}

/** Compares a request with the previous one. @returns null when messages were only added at the end */
export function findCacheLoss(previous: BuiltContext, current: BuiltContext): CacheLoss | null {
	const [before, now] = [previous.preamble, current.preamble];
	const prefix = sharedPrefix(previous, current);
	const messages = sum(previous.messages.slice(prefix.messages).map(({ message }) => estimateTokens(message)));
	const sections = sum(before.promptSections.slice(prefix.systemPrompt).map(sectionTokens));
	const tools = sum(before.tools.slice(prefix.tools).map(toolTokens));
	const tokens = tools + sections + messages;
	if (prefix.tools < Math.max(before.tools.length, now.tools.length)) {
		const position = prefix.tools;
		return { by: findToolCulprit(before, now, position), changed: { kind: "tools" }, tokens, position };
	}
	if (prefix.systemPrompt < Math.max(before.sections.length, now.sections.length)) {
		const position = prefix.systemPrompt;
		const { id, by } = findSectionCulprit(before, now, position);
		return { by, changed: { kind: "section", id }, tokens, position };
	}
	const position = prefix.messages;
	if (position === previous.messages.length) return null;
	return { by: findCulprit(previous, current, position), changed: { kind: "message" }, tokens, position };
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
