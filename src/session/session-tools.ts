import type { CommandTools, ToolStatus } from "../commands/pickers.js";
import { PiError } from "../errors.js";
import { type CustomTool, mergeTools } from "../hooks/load-tools.js";
import type { AnyTool } from "../tools/tool.js";
import { nearest } from "../util/nearest.js";

/** What the tools of a session are made of. */
export interface SessionToolsOptions {
	builtins: readonly AnyTool[];
	/** Tools of the user's own files, in load order. */
	own: readonly CustomTool[];
	/** Names of the tools to use, in this order; absent: all. */
	names: readonly string[] | undefined;
	/** Tools besides those, always used. */
	extra: readonly AnyTool[];
	/** True when the project has tools that may be added later: a name that is not known may be one of theirs. */
	expectsMore: boolean;
}

/** The tools of a session: those that come with pi, the user's, and the project's once they may run. */
export class SessionTools implements CommandTools {
	/** All that the session has, and those of them that are on. */
	#all: readonly AnyTool[];
	#current: readonly AnyTool[];
	/** Names of tools that the user turned off. */
	readonly #off = new Set<string>();
	#project: readonly CustomTool[] = [];
	readonly #said = new Set<string>();
	#isStrict = true;
	readonly warnings: readonly string[];

	/** @throws PiError `tool_unknown` for a name that no tool has or can get */
	constructor(private readonly options: SessionToolsOptions) {
		const { tools, warnings } = this.#merge([]);
		this.warnings = warnings;
		this.#all = this.#choose(tools, !options.expectsMore);
		this.#current = this.#all;
	}

	/** Those that the model may call; the same array for as long as they stay the same. */
	get current(): readonly AnyTool[] {
		return this.#current;
	}

	/**
	 * Uses these tools of the project in place of those that it had before.
	 * @returns a line for each new clash of names
	 * @throws PiError `tool_unknown`, the first time, for a chosen name that no tool has
	 */
	useProject(project: readonly CustomTool[]): string[] {
		const { tools, warnings } = this.#merge(project);
		this.#project = project;
		this.#all = this.#choose(tools, this.#isStrict);
		this.#current = this.#thoseOn();
		// When files went away during the run, it goes on without their tools.
		this.#isStrict = false;
		return warnings;
	}

	list(): ToolStatus[] {
		return this.#all.map((tool) => ({
			name: tool.name,
			description: tool.description,
			source: this.#sourceOf(tool),
			isOn: !this.#off.has(tool.name),
		}));
	}

	setEnabled(name: string, isOn: boolean): void {
		if (!this.#all.some((tool) => tool.name === name)) throw unknownTool(name, this.#all);
		if (isOn) this.#off.delete(name);
		else this.#off.add(name);
		this.#current = this.#thoseOn();
	}

	#thoseOn(): readonly AnyTool[] {
		return this.#all.filter(({ name }) => !this.#off.has(name));
	}

	#sourceOf(tool: AnyTool): string {
		if (this.options.builtins.includes(tool)) return "built-in";
		const custom = [...this.options.own, ...this.#project].find((candidate) => candidate.tool === tool);
		return custom?.file.path ?? "given";
	}

	#merge(project: readonly CustomTool[]): { tools: AnyTool[]; warnings: string[] } {
		const { builtins, own } = this.options;
		const isGlobal = ({ file }: CustomTool) => file.scope === "global";
		const inOrder = [...own.filter(isGlobal), ...project, ...own.filter((tool) => !isGlobal(tool))];
		const { tools, warnings } = mergeTools(builtins, inOrder);
		const fresh = warnings.filter((line) => !this.#said.has(line));
		for (const line of fresh) this.#said.add(line);
		return { tools, warnings: fresh };
	}

	#choose(tools: readonly AnyTool[], isStrict: boolean): readonly AnyTool[] {
		const { names, extra } = this.options;
		if (!names) return [...tools, ...extra];
		const chosen = names.flatMap((name) => {
			const tool = tools.find((candidate) => candidate.name === name);
			if (!tool && isStrict) throw unknownTool(name, tools);
			return tool ?? [];
		});
		return [...chosen, ...extra];
	}
}

function unknownTool(name: string, tools: readonly AnyTool[]): PiError {
	const known = tools.map((tool) => tool.name);
	const near = nearest(name, known)[0];
	return new PiError("tool_unknown", `There is no tool "${name}"`, {
		hint: near ? `did you mean ${near}?` : `the tools are ${known.join(", ")}`,
	});
}
