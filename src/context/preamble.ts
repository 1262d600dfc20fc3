import { createHash } from "node:crypto";
import type { PromptSection, ToolInfo } from "../log/entry.js";
import { sum } from "../util/sum.js";
import { estimateText } from "./tokens.js";

/** The system prompt and the tools before hooks. */
export interface CorePreamble {
	/** Frozen, with its sections. */
	readonly sections: readonly PromptSection[];
	/** Frozen, with its tools. */
	readonly tools: readonly ToolInfo[];
	/** The texts of the sections that depend on the tools, by id, if only these are offered; empty: no such section. */
	generate(tools: readonly ToolInfo[]): Readonly<Record<string, string>>;
	/** True if the sections are those of a frozen request. pi does not generate them again. */
	readonly isFrozen?: boolean;
}

/** A core without the tools of some hooks, as if these hooks did not run. The same object if they have none. */
export function withoutToolsOf(core: CorePreamble, hooks: ReadonlySet<string>): CorePreamble {
	const names = core.tools.flatMap(({ name, hook }) => (hook !== undefined && hooks.has(hook) ? [name] : []));
	return withoutTools(core, new Set(names));
}

/** A core without the tools of some names. The same object if it has none of them. */
export function withoutTools(core: CorePreamble, names: ReadonlySet<string>): CorePreamble {
	const tools = core.tools.filter(({ name }) => !names.has(name));
	return tools.length === core.tools.length ? core : replaceTools(core, tools);
}

/** A core with more tools; one replaces the tool of its name. The same object without any. */
export function withTools(core: CorePreamble, added: readonly ToolInfo[]): CorePreamble {
	const names = new Set(added.map(({ name }) => name));
	return added.length === 0
		? core
		: replaceTools(core, [...core.tools.filter(({ name }) => !names.has(name)), ...added]);
}

function replaceTools(core: CorePreamble, tools: readonly ToolInfo[]): CorePreamble {
	if (core.isFrozen) return core;
	const texts = core.generate(tools);
	const sections = core.sections.flatMap((section) => {
		const text = texts[section.id] ?? section.text;
		return text === "" ? [] : [Object.freeze({ ...section, text })];
	});
	return { ...core, sections: Object.freeze(sections), tools: Object.freeze(tools) };
}

/** Who put a section into the system prompt. */
export type SectionOrigin = { kind: "core" } | { kind: "freeze" } | { kind: "hook"; hook: string };

/** A section with its origin. Frozen. */
export interface TracedSection {
	readonly section: PromptSection;
	readonly origin: SectionOrigin;
	/** The section of pi that a hook changed; absent for other sections. */
	readonly replaced?: PromptSection;
}

/** A section that a hook removed. */
export interface HiddenSection {
	readonly section: PromptSection;
	readonly hook: string;
}

/** A tool that a hook does not offer. */
export interface HiddenTool {
	readonly tool: ToolInfo;
	readonly hook: string;
}

/** The parts of a preamble; see `Preamble`. */
export interface PreambleParts {
	readonly sections: readonly TracedSection[];
	/** The offered tools, in the order in which they are sent. */
	readonly tools: readonly ToolInfo[];
	readonly hiddenSections: readonly HiddenSection[];
	readonly hiddenTools: readonly HiddenTool[];
	/** Path of the last hook that chose the tools; null for none. */
	readonly toolsBy: string | null;
	/** Sections that pi generated again for the offered tools, by id; empty: omitted. */
	readonly generated: Readonly<Record<string, string>> | null;
}

/** The system prompt and the tools of a request, with their origins. Immutable. */
export class Preamble implements PreambleParts {
	readonly sections: readonly TracedSection[];
	readonly tools: readonly ToolInfo[];
	readonly hiddenSections: readonly HiddenSection[];
	readonly hiddenTools: readonly HiddenTool[];
	readonly toolsBy: string | null;
	readonly generated: Readonly<Record<string, string>> | null;
	#plain: readonly PromptSection[] | null = null;
	#systemPrompt: string | null = null;
	#tokens: number | null = null;
	#systemDigest: string | null = null;
	#toolsDigest: string | null = null;

	constructor(
		/** What pi alone would send. */
		readonly core: CorePreamble,
		parts: PreambleParts,
	) {
		this.sections = parts.sections;
		this.tools = parts.tools;
		this.hiddenSections = parts.hiddenSections;
		this.hiddenTools = parts.hiddenTools;
		this.toolsBy = parts.toolsBy;
		this.generated = parts.generated;
	}

	/** The sections without their origins. Frozen. */
	get promptSections(): readonly PromptSection[] {
		this.#plain ??= Object.freeze(this.sections.map(({ section }) => section));
		return this.#plain;
	}

	/** The system prompt as it is sent. */
	get systemPrompt(): string {
		this.#systemPrompt ??= this.sections.map(({ section }) => section.text).join("\n\n");
		return this.#systemPrompt;
	}

	/** Estimated tokens of the sections and the tools. */
	get tokens(): number {
		this.#tokens ??=
			sum(this.sections.map(({ section }) => sectionTokens(section))) + sum(this.tools.map((tool) => toolTokens(tool)));
		return this.#tokens;
	}

	/** SHA-256, hex, of the system prompt. */
	get systemDigest(): string {
		this.#systemDigest ??= createHash("sha256").update(this.systemPrompt).digest("hex");
		return this.#systemDigest;
	}

	/** SHA-256, hex, of the tools as they are sent. */
	get toolsDigest(): string {
		this.#toolsDigest ??= createHash("sha256")
			.update(JSON.stringify(this.tools.map(sentTool)))
			.digest("hex");
		return this.#toolsDigest;
	}

	/** True when hooks changed what pi alone would send. */
	get isChanged(): boolean {
		const { core, promptSections, tools } = this;
		return !hasSameItems(promptSections, core.sections) || !hasSameItems(tools, core.tools);
	}
}

/** The preamble without hooks. The same object for the same input. */
export function plainPreamble(core: CorePreamble): Preamble {
	const known = plain.get(core);
	if (known) return known;
	const origin: SectionOrigin = Object.freeze({ kind: core.isFrozen ? "freeze" : "core" });
	const preamble = new Preamble(core, {
		sections: Object.freeze(core.sections.map((section) => Object.freeze({ section, origin }))),
		tools: core.tools,
		hiddenSections: [],
		hiddenTools: [],
		toolsBy: null,
		generated: null,
	});
	plain.set(core, preamble);
	return preamble;
}

const plain = new WeakMap<CorePreamble, Preamble>();

/** For contexts that are computed without a system prompt and tools. */
export const NO_PREAMBLE: CorePreamble = { sections: [], tools: [], generate: () => ({}) };

/** What the provider gets of a tool. */
export function sentTool({
	name,
	description,
	parameters,
}: ToolInfo): Pick<ToolInfo, "name" | "description" | "parameters"> {
	return { name, description, parameters };
}

/** Estimated tokens of a section. */
export function sectionTokens({ text }: PromptSection): number {
	return estimateText(text);
}

/** Estimated tokens of a tool definition. */
export function toolTokens(tool: ToolInfo): number {
	const known = tokensOfTools.get(tool);
	if (known !== undefined) return known;
	const tokens = estimateText(JSON.stringify(sentTool(tool)));
	if (Object.isFrozen(tool)) tokensOfTools.set(tool, tokens);
	return tokens;
}

const tokensOfTools = new WeakMap<ToolInfo, number>();

/** True for sections that are sent alike. */
export function isSameSection(a: PromptSection | undefined, b: PromptSection | undefined): boolean {
	return a !== undefined && b !== undefined && (a === b || (a.id === b.id && a.text === b.text));
}

/** True for tools that are sent alike. */
export function isSameTool(a: ToolInfo | undefined, b: ToolInfo | undefined): boolean {
	if (a === undefined || b === undefined) return false;
	return a === b || JSON.stringify(sentTool(a)) === JSON.stringify(sentTool(b));
}

/** True for lists with the same objects. */
export function hasSameItems<T>(a: readonly T[], b: readonly T[]): boolean {
	return a === b || (a.length === b.length && a.every((item, at) => item === b[at]));
}
