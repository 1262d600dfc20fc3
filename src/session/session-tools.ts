import type { CommandTools, ToolStatus } from "../commands/pickers.js";
import { PiError } from "../errors.js";
import { type CustomTool, mergeTools } from "../hooks/load-tools.js";
import type { AnyTool } from "../tools/tool.js";
import { nearest } from "../util/nearest.js";

export interface SessionToolsOptions {
	builtins: readonly AnyTool[];
	/** Tools from the user's own files, in load order. */
	own: readonly CustomTool[];
	/** Names of the tools to use, in this order; undefined: all. */
	names: readonly string[] | undefined;
	/** Tools to use in any case. */
	extra: readonly AnyTool[];
	/** True when the project has tools that may be added later, so that an unknown name may be one of them. */
	expectsMore: boolean;
}

/** The tools of a session: the built-in ones, the user's, and the project's once they may run. */
export class SessionTools implements CommandTools {
	/** All tools of the session, and those that are on. */
	#all: readonly AnyTool[];
	#current: readonly AnyTool[];
	/** Names of tools that the user turned off. */
	readonly #off = new Set<string>();
	#project: readonly CustomTool[] = [];
	readonly #reportedWarnings = new Set<string>();
	#isStrict = true;
	readonly warnings: readonly string[];

	/** @throws PiError `tool_unknown` for a name that no tool has and no project tool can have */
	constructor(private options: SessionToolsOptions) {
		const { tools, warnings } = this.#merge([]);
		this.warnings = warnings;
		this.#all = this.#choose(tools, !options.expectsMore);
		this.#current = this.#all;
	}

	/** The tools that the model may call; the same array until they change. */
	get current(): readonly AnyTool[] {
		return this.#current;
	}

	/**
	 * Replaces the project's tools.
	 * @returns a line for each new name conflict
	 * @throws PiError `tool_unknown` for a chosen name that no tool has; only the first time
	 */
	useProject(project: readonly CustomTool[]): string[] {
		const { tools, warnings } = this.#merge(project);
		this.#project = project;
		this.#all = this.#choose(tools, this.#isStrict);
		this.#current = this.#enabledTools();
		// If tool files disappear later, the session continues without their tools.
		this.#isStrict = false;
		return warnings;
	}

	/** The custom tools as last loaded: the user's and the project's. */
	get custom(): readonly CustomTool[] {
		return [...this.options.own, ...this.#project];
	}

	/** Replaces the built-in tools and the user's own. @returns a line for each new name conflict */
	useOwn(builtins: readonly AnyTool[], own: readonly CustomTool[]): string[] {
		this.options = { ...this.options, builtins, own };
		const { tools, warnings } = this.#merge(this.#project);
		this.#all = this.#choose(tools, false);
		this.#current = this.#enabledTools();
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
		this.#current = this.#enabledTools();
	}

	#enabledTools(): readonly AnyTool[] {
		return this.#all.filter(({ name }) => !this.#off.has(name));
	}

	#sourceOf(tool: AnyTool): string {
		if (this.options.builtins.includes(tool)) return "built-in";
		const custom = [...this.options.own, ...this.#project].find((candidate) => candidate.tool === tool);
		return custom?.file.path ?? "SDK";
	}

	#merge(project: readonly CustomTool[]): { tools: AnyTool[]; warnings: string[] } {
		const { builtins, own } = this.options;
		const isGlobal = ({ file }: CustomTool) => file.scope === "global";
		const inOrder = [...own.filter(isGlobal), ...project, ...own.filter((tool) => !isGlobal(tool))];
		const { tools, warnings } = mergeTools(builtins, inOrder);
		const fresh = warnings.filter((line) => !this.#reportedWarnings.has(line));
		for (const line of fresh) this.#reportedWarnings.add(line);
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
