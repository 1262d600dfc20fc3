import type { PromptSection, ToolInfo } from "../log/entry.js";
import {
	type HiddenSection,
	hasSameItems,
	Preamble,
	type PreambleParts,
	plainPreamble,
	type SectionOrigin,
	type TracedSection,
} from "./preamble.js";
import type { TraceFault } from "./trace.js";

/** Ids of the sections that pi itself may write. */
const CORE_IDS: ReadonlySet<string> = new Set(["base", "tools", "context-files", "skills", "environment"]);

/** The parts of a hook's answer that concern system prompt and tools; undefined: unchanged. */
export interface PreambleAnswer {
	systemPrompt: unknown;
	tools: unknown;
}

/** The hook that answers. */
export interface AnsweringHook {
	/** Path, for origins. */
	hook: string;
	/** Its sections are named `<name>:…`. */
	name: string;
	/** What was registered: tells the handlers of a hook apart. */
	handler?: object;
}

/**
 * Applies the answer of a hook to a system prompt and tools.
 * @returns a fault if the answer is invalid; the same object if it changes nothing
 * @throws errors of accessors in the answer
 */
export function applyPreambleAnswer(
	{ systemPrompt, tools }: PreambleAnswer,
	before: Preamble,
	by: AnsweringHook,
): Preamble | TraceFault {
	let after = before;
	if (systemPrompt !== undefined) {
		const changed = applySections(systemPrompt, before, by);
		if ("rule" in changed) return changed;
		after = changed;
	}
	if (tools !== undefined) {
		const changed = applyTools(tools, after, by);
		if ("rule" in changed) return changed;
		after = changed;
	}
	const isEmpty = after !== before && before.sections.length > 0 && generateSections(after).sections.length === 0;
	return isEmpty ? { rule: "system_prompt_not_empty", position: 0 } : after;
}

/**
 * The preamble as it is sent: with the sections that depend on the tools generated for the offered ones, unless a hook
 * wrote their text. Call it after all hooks.
 */
export function generateSections(preamble: Preamble): Preamble {
	const { core, tools, toolsBy, sections } = preamble;
	if (toolsBy === null || hasSameItems(tools, core.tools)) return preamble;
	const texts = new Map(Object.entries(core.generate(tools)));
	const generated: Record<string, string> = {};
	const hidden: HiddenSection[] = [];
	const fresh = sections.flatMap((traced): TracedSection[] => {
		const { section, origin } = traced;
		const text = origin.kind === "core" ? texts.get(section.id) : undefined;
		if (text === undefined || text === section.text) return [traced];
		generated[section.id] = text;
		if (text !== "") return [trace({ id: section.id, text }, origin)];
		hidden.push(Object.freeze({ section, hook: toolsBy }));
		return [];
	});
	if (Object.keys(generated).length === 0) return preamble;
	const hiddenSections = [...preamble.hiddenSections, ...hidden];
	return new Preamble(core, { ...partsOf(preamble), sections: Object.freeze(fresh), hiddenSections, generated });
}

function applySections(value: unknown, before: Preamble, by: AnsweringHook): Preamble | TraceFault {
	if (!Array.isArray(value)) return { rule: "system_prompt_is_list", position: 0 };
	const known = new Map(before.sections.map((traced) => [traced.section.id, traced]));
	const own = new Map(plainPreamble(before.core).sections.map((traced) => [traced.section.id, traced]));
	const origin: SectionOrigin = Object.freeze({ kind: "hook", hook: by.hook });
	const ids = new Set<string>();
	const sections: TracedSection[] = [];
	const { length } = value;
	for (let position = 0; position < length; position++) {
		const read = readSection(value[position]);
		if (read === null) return { rule: "section_has_id_and_text", position };
		const { id, text } = read;
		const isFrozen = before.core.isFrozen === true && own.has(id);
		if (ids.has(id)) return { rule: "one_section_per_id", position, ...(isFrozen && { detail: "freeze" }) };
		if (!known.has(id) && !isOwnId(id, by.name)) return { rule: "section_id_is_own", position };
		ids.add(id);
		if (text.trim() === "") continue;
		const kept = [known.get(id), own.get(id)].find((traced) => traced?.section.text === text);
		const replaced = own.get(id)?.section;
		sections.push(kept ?? trace({ id, text }, origin, replaced));
	}
	if (hasSameItems(sections, before.sections)) return before;
	const left = new Set(sections.map(({ section }) => section.id));
	const hiddenSections = [
		...before.hiddenSections.filter(({ section }) => !left.has(section.id)),
		...before.sections.flatMap(({ section }) =>
			left.has(section.id) ? [] : [Object.freeze({ section, hook: by.hook })],
		),
	];
	return new Preamble(before.core, { ...partsOf(before), sections: Object.freeze(sections), hiddenSections });
}

function isOwnId(id: string, name: string): boolean {
	return CORE_IDS.has(id) || (id.startsWith(`${name}:`) && id.length > name.length + 1);
}

/** Reads each field once: accessors may change their answer. */
function readSection(value: unknown): PromptSection | null {
	if (typeof value !== "object" || value === null) return null;
	const { id, text } = value as { id?: unknown; text?: unknown };
	return typeof id === "string" && typeof text === "string" ? { id, text } : null;
}

function applyTools(value: unknown, before: Preamble, by: AnsweringHook): Preamble | TraceFault {
	if (!Array.isArray(value)) return { rule: "tools_is_list", position: 0 };
	const { core } = before;
	const known = new Map(core.tools.map((tool) => [tool.name, tool]));
	const tools: ToolInfo[] = [];
	const { length } = value;
	for (let position = 0; position < length; position++) {
		const name: unknown = value[position];
		const tool = typeof name === "string" ? known.get(name) : undefined;
		if (!tool) return { rule: "known_tool", position };
		if (tools.includes(tool)) return { rule: "one_offer_per_tool", position };
		tools.push(tool);
	}
	if (hasSameItems(tools, before.tools)) return before;
	const hiders = new Map(before.hiddenTools.map(({ tool, hook }) => [tool, hook]));
	const hiddenTools = core.tools.flatMap((tool) =>
		tools.includes(tool) ? [] : [Object.freeze({ tool, hook: hiders.get(tool) ?? by.hook })],
	);
	return new Preamble(core, { ...partsOf(before), tools: Object.freeze(tools), hiddenTools, toolsBy: by.hook });
}

function partsOf({ sections, tools, hiddenSections, hiddenTools, toolsBy, generated }: Preamble): PreambleParts {
	return { sections, tools, hiddenSections, hiddenTools, toolsBy, generated };
}

function trace(section: PromptSection, origin: SectionOrigin, replaced?: PromptSection): TracedSection {
	return Object.freeze({ section: Object.freeze(section), origin, ...(replaced && { replaced }) });
}

/** Reuses the previous preamble if the new one is the same, so that later comparisons are cheap. */
export function reusePreamble(previous: Preamble | null, next: Preamble): Preamble {
	return previous && isSamePreamble(previous, next) ? previous : next;
}

function isSamePreamble(a: Preamble, b: Preamble): boolean {
	if (a === b) return true;
	if (a.core !== b.core || a.toolsBy !== b.toolsBy || !hasSameItems(a.tools, b.tools)) return false;
	return (
		a.sections.length === b.sections.length &&
		a.sections.every((traced, at) => isSameTraced(traced, b.sections[at])) &&
		a.hiddenSections.length === b.hiddenSections.length &&
		a.hiddenSections.every(({ section, hook }, at) => {
			const other = b.hiddenSections[at];
			return other?.hook === hook && other.section.id === section.id && other.section.text === section.text;
		}) &&
		a.hiddenTools.every(({ hook }, at) => b.hiddenTools[at]?.hook === hook)
	);
}

function isSameTraced({ section, origin }: TracedSection, other: TracedSection | undefined): boolean {
	if (other?.section.id !== section.id || other.section.text !== section.text) return false;
	return origin.kind === "hook"
		? other.origin.kind === "hook" && other.origin.hook === origin.hook
		: other.origin.kind === origin.kind;
}
