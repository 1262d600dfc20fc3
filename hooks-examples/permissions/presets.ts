/** The presets of the guard: what happens to a call about which no rule says anything. */
import type { ToolCallEvent } from "@mariozechner/pi-coding-agent/hooks";
import { isInside, isProtected, resolvedPaths } from "./paths.js";
import { type Call, SHELL_SYNTAX } from "./rules.js";

export type Preset = "permissions" | "permission-gate" | "protected-paths" | "plan-mode";

/** Presets that ask: with one of them the first mode is `ask`, else `act`. */
export const ASKING: readonly Preset[] = ["permissions", "permission-gate"];

/** Tools that read files. */
const READING = ["read", "grep", "find", "ls"];
/** Tools that open no file and run nothing: those of the task list and of question.ts. */
const HARMLESS = ["tasks", "question"];
/** Tools that change files. */
const EDITING = ["edit", "write"];
/**
 * Programs that only read, whatever their arguments. `git`, `find`, `rg`, `sort`, `sed` and `env` are excluded, because each
 * has an option or a setting that writes a file or runs a program.
 */
const READERS = new Set(["ls", "pwd", "cat", "head", "wc", "stat", "basename", "dirname", "true", "false", "echo"]);

/** What rules are compared with. */
export function callOf({ toolName: tool, input }: ToolCallEvent, cwd: string): Call {
	if (tool === "bash") return { tool, subjects: [String(input.command).trim()] };
	const path = typeof input.path === "string" ? input.path : READING.includes(tool) ? "." : null;
	return { tool, subjects: path === null ? [""] : resolvedPaths(cwd, path) };
}

/** True for a change of a file of the project that no preset protects: the mode `accept-edits` allows it. */
export function isPlainEdit(call: Call, { input }: ToolCallEvent, cwd: string): boolean {
	return EDITING.includes(call.tool) && call.subjects.every(isInside) && !isProtected(cwd, String(input.path));
}

/** What the presets that are on say about a call: the strictest answer counts. */
export function verdictOf(presets: readonly Preset[], call: Call, event: ToolCallEvent, cwd: string) {
	const verdicts = presets.map((preset) => VERDICTS[preset](call, event, cwd));
	return (["deny", "ask"] as const).find((verdict) => verdicts.includes(verdict)) ?? "allow";
}

type Verdict = (call: Call, event: ToolCallEvent, cwd: string) => "allow" | "ask" | "deny";

const VERDICTS: Readonly<Record<Preset, Verdict>> = {
	/** Reading inside the project runs; everything else asks. */
	permissions: ({ tool, subjects }) => {
		const isSafe = HARMLESS.includes(tool) || (READING.includes(tool) && subjects.every(isInside));
		return isSafe ? "allow" : "ask";
	},
	/** Commands ask, unless they are clearly harmless. */
	"permission-gate": ({ tool, subjects }) => (tool !== "bash" || subjects.every(isHarmlessCommand) ? "allow" : "ask"),
	/** Changes of `.env` files, `.git` and `node_modules` are blocked. */
	"protected-paths": ({ tool }, { input }, cwd) =>
		EDITING.includes(tool) && isProtected(cwd, String(input.path)) ? "deny" : "allow",
	"plan-mode": () => "allow",
};

/**
 * The text of a command does not show what it does: `git log` can run a program from the repository's configuration, and
 * quotes, `$(…)`, `&&`, `|` and line breaks can hide one command in another. Therefore this neither searches for dangerous
 * words nor compares only the beginning of a command.
 */
function isHarmlessCommand(command: string): boolean {
	if (SHELL_SYNTAX.test(command)) return false;
	const program = command.trim().split(/[ \t]/, 1)[0] ?? "";
	return READERS.has(program);
}
