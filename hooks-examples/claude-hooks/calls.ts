import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { HookEventContext } from "@mariozechner/pi-coding-agent/hooks";
import { isRecord } from "./config.js";

type Arguments = Readonly<Record<string, unknown>>;

/** A call as Claude Code names it. Several inputs: its tool does with several calls what that of pi does with one. */
export interface ClaudeCall {
	name: string;
	inputs: readonly Arguments[];
}

/** A tool of pi in Claude Code. */
interface ClaudeTool {
	name: string;
	/** The names of its arguments there, by those in pi. */
	names: Readonly<Record<string, string>>;
	/** Arguments there that change nothing about what the call does here. */
	ignored?: readonly string[];
}

const EDIT = { oldText: "old_string", newText: "new_string", replaceAll: "replace_all" } as const;
const TOOLS: Readonly<Record<string, ClaudeTool>> = {
	bash: {
		name: "Bash",
		names: { command: "command", timeout: "timeout", background: "run_in_background" },
		ignored: ["description"],
	},
	read: { name: "Read", names: { path: "file_path", offset: "offset", limit: "limit" } },
	write: { name: "Write", names: { path: "file_path", content: "content" } },
	edit: { name: "Edit", names: { path: "file_path", ...EDIT } },
	grep: {
		name: "Grep",
		names: {
			...{ pattern: "pattern", path: "path", glob: "glob", type: "type", literal: "literal", ignoreCase: "-i" },
			...{ context: "-C", before: "-B", after: "-A", output: "output_mode", limit: "head_limit" },
		},
		ignored: ["-n"],
	},
	find: { name: "Glob", names: { pattern: "pattern", path: "path", limit: "limit" } },
	ls: { name: "LS", names: { path: "path", limit: "limit" } },
};
const OUTPUT_MODES: Readonly<Record<string, string>> = {
	content: "content",
	files: "files_with_matches",
	count: "count",
};
/** Names of the tool of agents.ts. */
const AGENT_TOOLS = ["Task", "Agent"];

/** A call of a tool of pi, and where it happens. */
export interface OwnCall {
	toolName: string;
	input: Arguments;
}

/**
 * The call under each name by which hooks of Claude Code know it: `Edit` comes before `MultiEdit`, which newer versions do not have.
 * Paths are absolute.
 */
export function claudeCalls({ toolName, input }: OwnCall, ctx: HookEventContext): ClaudeCall[] {
	if (toolName === "edit") {
		const { path, edits } = input;
		const file = absolute(path, ctx);
		const all = Array.isArray(edits) ? edits.filter(isRecord) : [input];
		const renamed = all.map(({ oldText, newText, replaceAll }) =>
			renameArguments({ oldText, newText, replaceAll }, EDIT),
		);
		return [
			{ name: "Edit", inputs: renamed.map((edit) => ({ file_path: file, ...edit })) },
			{ name: "MultiEdit", inputs: [{ file_path: file, edits: renamed }] },
		];
	}
	const known = Object.hasOwn(TOOLS, toolName) ? TOOLS[toolName] : undefined;
	if (known) return [{ name: known.name, inputs: [renameArguments(withValues(toolName, input, ctx), known.names)] }];
	if (toolName === "agent") {
		const tasks = Array.isArray(input.tasks) ? input.tasks.filter(isRecord) : [input];
		const inputs = tasks.map(({ agent, prompt }) => ({ subagent_type: agent, prompt }));
		return AGENT_TOOLS.map((name) => ({ name, inputs }));
	}
	const { source = "" } = ctx.tools.all.find(({ name }) => name === toolName) ?? {};
	const [, server] = /^MCP server (.+)$/.exec(source) ?? [];
	if (server === undefined || !toolName.startsWith(`${server}_`)) return [{ name: toolName, inputs: [input] }];
	return [{ name: `mcp__${server}__${toolName.slice(server.length + 1)}`, inputs: [input] }];
}

/**
 * The arguments of a call of pi that a hook has changed.
 * @param changed one input of `claudeCalls`, as the hook returned it
 * @returns null if they cannot be translated
 */
export function ownInput({ toolName, input }: OwnCall, changed: Arguments): Record<string, unknown> | null {
	if (toolName === "edit") {
		const { edits, file_path: path, ...edit } = changed;
		// With one edit of several, it is not known what happens to the others.
		if (edits === undefined) return Array.isArray(input.edits) ? null : ownArguments("edit", changed);
		if (!Array.isArray(edits) || typeof path !== "string" || Object.keys(edit).length > 0) return null;
		const own = edits.map((one) => (isRecord(one) && one.file_path === undefined ? ownArguments("edit", one) : null));
		return own.includes(null) ? null : { path, edits: own };
	}
	if (Object.hasOwn(TOOLS, toolName)) return ownArguments(toolName, changed);
	return toolName === "agent" ? null : { ...changed };
}

function ownArguments(toolName: string, changed: Arguments): Record<string, unknown> | null {
	const { names = {}, ignored = [] } = TOOLS[toolName] ?? {};
	const own: Record<string, unknown> = {};
	for (const [name, value] of Object.entries(changed)) {
		if (ignored.includes(name)) continue;
		const target = Object.keys(names).find((key) => names[key] === name);
		if (target === undefined) return null;
		own[target] = value;
	}
	if (toolName === "bash" && own.timeout !== undefined) {
		if (typeof own.timeout !== "number") return null;
		own.timeout = Math.ceil(own.timeout / 1000);
	}
	if (toolName === "grep" && own.output !== undefined) {
		const mode = Object.keys(OUTPUT_MODES).find((key) => OUTPUT_MODES[key] === own.output);
		if (mode === undefined) return null;
		own.output = mode;
	}
	return own;
}

/** Arguments whose values differ there. */
function withValues(toolName: string, input: Arguments, ctx: HookEventContext): Arguments {
	const { path, timeout, output } = input;
	return {
		...input,
		...(path === undefined ? {} : { path: absolute(path, ctx) }),
		...(toolName === "bash" && typeof timeout === "number" ? { timeout: timeout * 1000 } : {}),
		...(toolName === "grep" && typeof output === "string" ? { output: OUTPUT_MODES[output] ?? output } : {}),
	};
}

function renameArguments(args: Arguments, names: Readonly<Record<string, string>>): Arguments {
	const entries = Object.entries(args).filter(([, value]) => value !== undefined);
	return Object.fromEntries(entries.map(([name, value]) => [Object.hasOwn(names, name) ? names[name] : name, value]));
}

/** The path that a tool opens: `~` is the home directory, and a leading `@` counts only if such a file exists. */
function absolute(path: unknown, { toolHost }: HookEventContext): unknown {
	if (typeof path !== "string") return path;
	if (path.startsWith("@") && !existsSync(resolve(toolHost.cwd, path)))
		return absolute(path.slice(1), { toolHost } as HookEventContext);
	if (toolHost.name === "" && (path === "~" || path.startsWith("~/"))) return join(homedir(), path.slice(1));
	return path.startsWith("~") ? path : resolve(toolHost.cwd, path);
}
