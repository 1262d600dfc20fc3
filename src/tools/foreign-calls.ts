import type { ToolCall } from "@mariozechner/pi-ai";
import { isRecord } from "../util/is-record.js";
import type { AnyTool } from "./tool.js";

type Arguments = Record<string, unknown>;

/** What other programs call a tool of pi and its arguments. */
interface ForeignTool {
	/** Other names of the tool, besides its own in capitals. */
	names: readonly string[];
	/** Other names of arguments. */
	renamed: Readonly<Record<string, string>>;
	/** Arguments that change nothing about what the call does here. */
	ignored?: readonly string[];
	/** Rewrites arguments whose values differ, too. @returns null if the meaning is not plain */
	convert?(args: Arguments, name: string): Arguments | null;
}

const FILE = { file_path: "path", filePath: "path", filepath: "path" } as const;
const TEXTS = { old_string: "oldText", new_string: "newText", replace_all: "replaceAll" } as const;
const OUTPUTS: Readonly<Record<string, string>> = { content: "content", files_with_matches: "files", count: "count" };

/**
 * The names that models have learned from other programs: Claude Code (Read, Edit, MultiEdit, Write, Bash, Grep, Glob, LS with
 * `file_path`, `old_string` …) and Codex (`shell`, `exec_command`).
 */
const FOREIGN: Readonly<Record<string, ForeignTool>> = {
	read: { names: [], renamed: FILE },
	write: { names: [], renamed: { ...FILE, contents: "content" } },
	edit: {
		names: ["multiedit", "str_replace"],
		renamed: { ...FILE, ...TEXTS, old_str: "oldText", new_str: "newText" },
		convert: ({ edits, ...args }) => {
			if (edits === undefined) return args;
			if (!Array.isArray(edits)) return null;
			const renamed = edits.map((edit) => (isRecord(edit) ? rename(edit, TEXTS) : null));
			return renamed.includes(null) ? null : { ...args, edits: renamed };
		},
	},
	bash: {
		names: ["shell", "exec_command", "run_shell_command"],
		renamed: { cmd: "command", run_in_background: "background" },
		ignored: ["description"],
		convert: ({ command, timeout, ...args }, name) => {
			// Others count it in milliseconds.
			if (timeout !== undefined && name !== "bash") return null;
			const line = Array.isArray(command) ? shellLine(command) : command;
			return line === null ? null : { ...args, command: line, ...(timeout === undefined ? {} : { timeout }) };
		},
	},
	grep: {
		names: [],
		renamed: { "-i": "ignoreCase", "-A": "after", "-B": "before", "-C": "context", head_limit: "limit" },
		ignored: ["-n"],
		convert: ({ output_mode: mode, ...args }) => {
			if (mode === undefined) return args;
			const output = typeof mode === "string" ? OUTPUTS[mode] : undefined;
			return output === undefined ? null : { ...args, output };
		},
	},
	find: { names: ["glob"], renamed: {} },
	ls: { names: ["list_dir"], renamed: {} },
};

/**
 * A call as the tool of pi that it means: models that were trained on the tools of other programs use their names. Only a call
 * whose meaning is plain is changed, such as `Read {"file_path": "a"}`: not one with arguments that no tool of pi has, with two
 * values for one argument, or with a time limit, whose unit differs.
 * @param tools those that the model has
 * @returns the call itself if it is one of these tools already, or if it is not plain
 */
export function meantCall(call: ToolCall, tools: readonly AnyTool[]): ToolCall {
	const tool = meantTool(call.name, tools);
	const foreign = tool && FOREIGN[tool.name];
	if (!tool || !foreign) return call;
	const known = propertiesOf(tool);
	if (call.name === tool.name && Object.keys(call.arguments).every((name) => known.has(name))) {
		const { edits } = call.arguments as Arguments;
		if (!Array.isArray(edits) || !edits.some((edit) => isRecord(edit) && "old_string" in edit)) return call;
	}
	const renamed = rename(call.arguments, foreign.renamed);
	const args = renamed && (foreign.convert ? foreign.convert(renamed, call.name) : renamed);
	if (!args) return call;
	const kept = Object.entries(args).filter(([name]) => !foreign.ignored?.includes(name));
	if (!kept.every(([name]) => known.has(name))) return call;
	return { ...call, name: tool.name, arguments: Object.fromEntries(kept) as ToolCall["arguments"] };
}

/** The tool that a name means, also one of another program; undefined for none. */
export function meantTool(name: string, tools: readonly AnyTool[]): AnyTool | undefined {
	const own = tools.find((tool) => tool.name === name);
	if (own) return own;
	const wanted = name.toLowerCase();
	return tools.find((tool) => {
		const foreign = Object.hasOwn(FOREIGN, tool.name) ? FOREIGN[tool.name] : undefined;
		return foreign !== undefined && (tool.name === wanted || foreign.names.includes(wanted));
	});
}

/** True for a call of a tool of pi with arguments that it does not have, as other programs name them. */
export function hasOtherNames(call: ToolCall, tools: readonly AnyTool[]): boolean {
	const tool = tools.find(({ name }) => name === call.name);
	if (!tool || !Object.hasOwn(FOREIGN, tool.name)) return false;
	const known = propertiesOf(tool);
	return Object.keys(call.arguments).some((name) => !known.has(name));
}

/** The parameters of a tool as a sentence for a model that has called it by other names. */
export function describeParameters({ name, parameters }: AnyTool): string {
	return `${name} takes ${JSON.stringify(parameters)}.`;
}

/** @returns null if an argument has two values under different names */
function rename(args: Arguments, names: Readonly<Record<string, string>>): Arguments | null {
	const renamed: Arguments = {};
	for (const [name, value] of Object.entries(args)) {
		const target = Object.hasOwn(names, name) ? (names[name] ?? name) : name;
		if (Object.hasOwn(renamed, target) && renamed[target] !== value) return null;
		renamed[target] = value;
	}
	return renamed;
}

/** The line of `["bash", "-lc", line]`; null for another list, whose quoting is not plain. */
function shellLine([shell, flag, line, ...rest]: readonly unknown[]): string | null {
	const isShell = (shell === "bash" || shell === "sh") && (flag === "-c" || flag === "-lc");
	return isShell && typeof line === "string" && rest.length === 0 ? line : null;
}

function propertiesOf({ parameters }: AnyTool): ReadonlySet<string> {
	const { properties } = parameters as { properties?: unknown };
	return new Set(isRecord(properties) ? Object.keys(properties) : []);
}
