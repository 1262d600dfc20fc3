import type { ContextInspection } from "../../../commands/inspection.js";
import { diffPreambles, type RequestChange } from "../../../context/diff-requests.js";
import { cacheState, type LedgerSection, type LedgerTool } from "../../../context/ledger.js";
import { sectionTokens, toolTokens } from "../../../context/preamble.js";
import { hookName } from "../../../hooks/hook-name.js";
import type { PromptSection, ToolInfo } from "../../../log/entry.js";
import { formatTokens, plural } from "../../format.js";
import type { ContextRow } from "./context-row.js";

/**
 * @returns a row for the tools, one for each tool of a hook and each section of the system prompt, in the order in which
 * they are sent
 */
export function preambleRows(inspection: ContextInspection, withHidden: boolean): ContextRow[] {
	const { hiddenTools, hiddenSections } = inspection.context.preamble;
	const tools = toolRows(inspection);
	const own = tools.filter(({ hook }) => hook === null);
	return [
		...(own.length > 0 ? [toolsRow(own, tools.length)] : []),
		...tools.filter(({ hook }) => hook !== null),
		...(withHidden ? hiddenTools.map((hidden) => ({ ...toolRow(hidden.tool), ...hiddenBy(hidden), mark: OUT })) : []),
		...sectionRows(inspection),
		...(withHidden
			? hiddenSections.map((hidden) => ({ ...sectionRow(hidden.section), ...hiddenBy(hidden), mark: OUT }))
			: []),
	];
}

const OUT = "out" as const;

function toolRows(inspection: ContextInspection): ContextRow[] {
	const { context, ledger } = inspection;
	return context.preamble.tools.map((tool, at) => ({
		...toolRow(tool),
		...ledgerFields(inspection, ledger.tools[at]),
	}));
}

function sectionRows(inspection: ContextInspection): ContextRow[] {
	const { context, ledger } = inspection;
	return context.preamble.promptSections.map((section, at) => ({
		...sectionRow(section),
		...ledgerFields(inspection, ledger.systemPrompt[at]),
	}));
}

/** One row for several tools. @param count the number of all tools of the request */
function toolsRow(rows: readonly ContextRow[], count: number): ContextRow {
	const names = rows.map(({ text }) => text.split(":", 1)[0]).join(", ");
	return {
		...EMPTY_ROW,
		label: "tools",
		text: `${rows.length < count ? `${rows.length} of ` : ""}${plural(count, "tool")}: ${names}`,
		note: rows[0]?.note ?? "",
		tokens: rows.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0),
		state: rows.find(({ state }) => state !== "cached")?.state ?? "cached",
		full: rows.map(({ full, tokens }) => `${full}\n(${formatTokens(tokens ?? 0)} tokens)`).join("\n\n"),
	};
}

/** @returns the tools and sections that differ from those of the previous request */
export function changedPreambleRows(inspection: ContextInspection): ContextRow[] {
	const { context, previous } = inspection;
	if (!previous) return preambleRows(inspection, false).map((row) => ({ ...row, mark: "added" }));
	const [before, now] = [previous.preamble, context.preamble];
	const { tools, sections } = diffPreambles(before, now);
	const oldTools = before.tools.map((old) => ({
		...toolRow(old),
		...hiddenBy(now.hiddenTools.find(({ tool }) => tool.name === old.name)),
	}));
	const oldSections = before.promptSections.map((old) => ({
		...sectionRow(old),
		...hiddenBy(now.hiddenSections.find(({ section }) => section.id === old.id)),
	}));
	return [
		...changedRows(tools, oldTools, toolRows(inspection)),
		...changedRows(sections, oldSections, sectionRows(inspection)),
	];
}

function changedRows(
	changes: readonly RequestChange[],
	old: readonly ContextRow[],
	current: readonly ContextRow[],
): ContextRow[] {
	return changes.flatMap(({ kind, previous, current: at }): ContextRow[] => {
		const was = previous === null ? undefined : old[previous];
		const is = at === null ? undefined : current[at];
		if (kind === "removed") return was ? [{ ...was, mark: "removed" }] : [];
		if (!is || kind === "kept") return [];
		return [{ ...is, mark: kind, note: was ? `was ${formatTokens(was.tokens ?? 0)}` : is.note }];
	});
}

function hiddenBy(hidden: { hook: string } | undefined): Pick<ContextRow, "note" | "hook"> {
	return hidden ? { note: `hidden by ${hookName(hidden.hook)}`, hook: hidden.hook } : { note: "", hook: null };
}

function ledgerFields({ isPreambleCurrent }: ContextInspection, part: LedgerTool | LedgerSection | undefined) {
	if (!part) return {};
	const { origin, tokens } = part;
	const note = isPreambleCurrent ? "current version" : originNote(origin, part, tokens);
	return { state: cacheState(part), note, hook: origin.hook ?? null };
}

function originNote(
	{ kind, hook }: { kind: string; hook?: string },
	part: LedgerTool | LedgerSection,
	tokens: number,
): string {
	if (hook === undefined) return kind === "freeze" ? "frozen" : "";
	const replaced = "replacedTokens" in part ? part.replacedTokens : undefined;
	if (replaced === undefined) return `added by ${hookName(hook)}`;
	const verb = tokens < replaced ? "cut" : "changed";
	return `${verb} by ${hookName(hook)} ${formatTokens(replaced)} → ${formatTokens(tokens)}`;
}

function toolRow(tool: ToolInfo): ContextRow {
	const { name, description, parameters, promptLine = description } = tool;
	const full = `${name}: ${description}\n${JSON.stringify(parameters, null, 2)}`;
	return { ...EMPTY_ROW, label: "tool", text: `${name}: ${promptLine}`, tokens: toolTokens(tool), full };
}

function sectionRow(section: PromptSection): ContextRow {
	const { id, text } = section;
	return { ...EMPTY_ROW, label: "system", text: `${id}: ${text}`, tokens: sectionTokens(section), full: text };
}

const EMPTY_ROW = { mark: "in", index: "", note: "", state: "", hook: null } as const;
