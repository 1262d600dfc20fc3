import type { CommandTools, ToolStatus } from "../../commands/pickers.js";
import { PiError } from "../../errors.js";
import { type CustomTool, mergeTools } from "../../hooks/load-tools.js";
import type { AnyTool } from "../../tools/tool.js";
import { nearest } from "../../util/nearest.js";

export interface SessionToolsOptions {
	builtins: readonly AnyTool[];
	/** Tools from the user's own files, in load order. */
	own: readonly CustomTool[];
	/** Names of the tools to use, in this order; undefined: all. */
	names: readonly string[] | undefined;
	/** Tools to use in any case. They replace other tools of the same name, except those of hooks. */
	extra: readonly AnyTool[];
	/** True when tools of the project or of hooks may be added later, so that an unknown name may be one of them. */
	expectsMore: boolean;
	/** True for a name that a tool of an MCP server may have, which joins later. */
	mayJoin?(name: string): boolean;
}

/** The tools of MCP servers. */
export interface ServerTools {
	tools: readonly AnyTool[];
	/** The server of a tool. */
	serverOf(name: string): string | undefined;
}

/** The tools of a session: the built-in ones, the user's, the project's once they may run, and those of running hooks. */
export class SessionTools implements CommandTools {
	/** All tools of the session, and those that are on. */
	#all: readonly AnyTool[] = [];
	#current: readonly AnyTool[] = [];
	/** Names of tools that are turned off, by the user or a hook. */
	#off: ReadonlySet<string> = new Set();
	#project: readonly CustomTool[] = [];
	#ofHooks: readonly CustomTool[] = [];
	#ofServers: ServerTools = { tools: [], serverOf: () => undefined };
	/** The only tools that are on, by name: others that join later are then off. null: no such choice. */
	#chosen: readonly string[] | null = null;
	/** Name conflicts and replacements that were reported. */
	readonly #reported = new Set<string>();
	readonly warnings: readonly string[];

	/** @throws PiError `tool_unknown` for a name that no tool has and no later tool can have */
	constructor(private options: SessionToolsOptions) {
		this.warnings = this.#update();
		if (!options.expectsMore) this.checkNames();
	}

	/** The tools that the model may call; the same array until they change. */
	get current(): readonly AnyTool[] {
		return this.#current;
	}

	/** Path of the hook that registered a tool; undefined for other tools. */
	hookOf(tool: AnyTool): string | undefined {
		return this.#ofHooks.find((candidate) => candidate.tool === tool)?.file.path;
	}

	/** The custom tools of files as last loaded: the user's and the project's. */
	get custom(): readonly CustomTool[] {
		return [...this.options.own, ...this.#project];
	}

	/** Replaces the project's tools. @returns a line for each new name conflict */
	useProject(project: readonly CustomTool[]): string[] {
		this.#project = project;
		return this.#update();
	}

	/** Replaces the built-in tools and the user's own. @returns a line for each new name conflict */
	useOwn(builtins: readonly AnyTool[], own: readonly CustomTool[]): string[] {
		this.options = { ...this.options, builtins, own };
		return this.#update();
	}

	/**
	 * Replaces the tools of hooks, in load order. They replace tools of the same name, built-in ones too.
	 * @returns a line for each new name conflict, and one for each tool that newly replaces a built-in one
	 */
	useHooks(tools: readonly CustomTool[]): { clashes: string[]; replacements: string[] } {
		this.#ofHooks = tools;
		const replacements = tools.flatMap(({ tool: { name }, file }) =>
			this.#isBuiltin(name) ? [`The tool ${name} of hook ${file.path} replaces the built-in tool`] : [],
		);
		return { clashes: this.#update(), replacements: this.#fresh(replacements) };
	}

	/**
	 * Replaces the tools of MCP servers. Other tools of the same name are used instead of them.
	 * @returns a line for each new name conflict
	 */
	useServers(ofServers: ServerTools): string[] {
		const before = new Set(this.#all.map(({ name }) => name));
		this.#ofServers = ofServers;
		const { tools } = ofServers;
		const chosen = this.#chosen;
		if (chosen) {
			const joined = tools.filter(({ name }) => !before.has(name) && !chosen.includes(name));
			this.#off = new Set([...this.#off, ...joined.map(({ name }) => name)]);
		}
		return this.#update();
	}

	/**
	 * Checks the names that were chosen at the start. Call it when everything has been loaded.
	 * @throws PiError `tool_unknown` for one that no tool has
	 */
	checkNames(): void {
		const known = [...this.#merged().tools, ...this.options.extra];
		for (const name of this.options.names ?? []) {
			if (!known.some((tool) => tool.name === name) && !this.options.mayJoin?.(name)) throw unknownTool(name, known);
		}
	}

	list(): ToolStatus[] {
		return this.#all.map((tool) => {
			const source = this.#sourceOf(tool);
			return {
				name: tool.name,
				description: tool.description,
				parameters: tool.parameters,
				source,
				replacesBuiltin: source !== BUILTIN && this.#isBuiltin(tool.name),
				isOn: !this.#off.has(tool.name),
			};
		});
	}

	setEnabled(name: string, isOn: boolean): void {
		this.#check([name]);
		this.#turnOff(isOn ? [...this.#off].filter((other) => other !== name) : [...this.#off, name]);
	}

	/**
	 * Turns these tools on and all others off.
	 * @param options `mayJoin`: accepts the names of tools that join later, and are then on
	 * @throws PiError `tool_unknown`, changing nothing
	 */
	setActive(names: readonly string[], { mayJoin = false }: { mayJoin?: boolean } = {}): void {
		if (!mayJoin) this.#check(names);
		const isRestricting = this.#all.some(({ name }) => !names.includes(name));
		this.#chosen = isRestricting ? [...names] : null;
		this.#turnOff(this.#all.flatMap(({ name }) => (names.includes(name) ? [] : [name])));
	}

	#check(names: readonly string[]): void {
		const unknown = names.find((name) => !this.#all.some((tool) => tool.name === name));
		if (unknown !== undefined) throw unknownTool(unknown, this.#all);
	}

	#turnOff(names: readonly string[]): void {
		this.#off = new Set(names);
		this.#enable();
	}

	/** Reads all tools again. @returns a line for each new name conflict */
	#update(): string[] {
		const { tools, warnings } = this.#merged();
		const { names, extra } = this.options;
		const chosen = names ? names.flatMap((name) => tools.find((candidate) => candidate.name === name) ?? []) : tools;
		const isOfHook = (tool: AnyTool) => this.#ofHooks.some((custom) => custom.tool === tool);
		const kept = chosen.filter((tool) => isOfHook(tool) || !extra.some(({ name }) => name === tool.name));
		this.#all = [...kept, ...extra.filter((tool) => !kept.some(({ name }) => name === tool.name))];
		this.#enable();
		return this.#fresh(warnings);
	}

	/** Keeps the array if it does not change, and with it the system prompt. */
	#enable(): void {
		const current = this.#all.filter(({ name }) => !this.#off.has(name));
		const isSame = current.length === this.#current.length && current.every((tool, at) => tool === this.#current[at]);
		if (!isSame) this.#current = current;
	}

	#merged(): { tools: AnyTool[]; warnings: string[] } {
		const { builtins, own } = this.options;
		const isGlobal = ({ file }: CustomTool) => file.scope === "global";
		const inOrder = [...own.filter(isGlobal), ...this.#project, ...own.filter((tool) => !isGlobal(tool))];
		const { tools, warnings } = mergeTools(builtins, inOrder, this.#ofHooks);
		const names = new Set([...tools, ...this.options.extra].map(({ name }) => name));
		const ofServers = this.#ofServers.tools.filter(({ name }) => !names.has(name));
		const ignored = this.#ofServers.tools.filter((tool) => !ofServers.includes(tool));
		return {
			// Last, so that the tools before them stay in the provider's cache when they join.
			tools: [...tools, ...ofServers],
			warnings: [
				...warnings,
				...ignored.map(({ name }) => `${this.#serverTool(name)} is ignored: another tool has this name`),
			],
		};
	}

	#serverTool(name: string): string {
		return `The tool ${name} of MCP server ${this.#ofServers.serverOf(name) ?? "search"}`;
	}

	#isBuiltin(name: string): boolean {
		return this.options.builtins.some((tool) => tool.name === name);
	}

	#sourceOf(tool: AnyTool): string {
		if (this.options.builtins.includes(tool)) return BUILTIN;
		if (this.#ofServers.tools.includes(tool)) {
			const server = this.#ofServers.serverOf(tool.name);
			return server === undefined ? "MCP" : `MCP server ${server}`;
		}
		const custom = this.custom.find((candidate) => candidate.tool === tool);
		return custom?.file.path ?? this.hookOf(tool) ?? "SDK";
	}

	/** The lines that were not reported before. */
	#fresh(lines: readonly string[]): string[] {
		const fresh = lines.filter((line) => !this.#reported.has(line));
		for (const line of fresh) this.#reported.add(line);
		return fresh;
	}
}

const BUILTIN = "built-in";

function unknownTool(name: string, tools: readonly AnyTool[]): PiError {
	const known = tools.map((tool) => tool.name);
	const near = nearest(name, known)[0];
	return new PiError("tool_unknown", `There is no tool "${name}"`, {
		hint: near ? `did you mean ${near}?` : `the tools are ${known.join(", ")}`,
	});
}
