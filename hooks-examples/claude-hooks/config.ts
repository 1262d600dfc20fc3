import type { ConfigFile } from "@mariozechner/pi-coding-agent/hooks";

/** Events of Claude Code that have a counterpart in pi. */
export const CLAUDE_EVENTS = [
	"PreToolUse",
	"PostToolUse",
	"PostToolUseFailure",
	"UserPromptSubmit",
	"SessionStart",
	"SessionEnd",
	"Stop",
	"SubagentStop",
	"PreCompact",
	"Notification",
] as const;
export type ClaudeEvent = (typeof CLAUDE_EVENTS)[number];

/** A command of a hook. */
export interface Command {
	command: string;
	timeoutMs: number;
	/** True: nobody waits for it, and its answer is ignored. */
	isAsync: boolean;
}

/** Commands with the names of tools, or other words of an event, for which they run. */
export interface Group {
	event: ClaudeEvent;
	matches(name: string): boolean;
	commands: readonly Command[];
	/** The file that defines it. */
	file: ConfigFile;
}

/** The hooks of all files. */
export interface Config {
	groups: readonly Group[];
	/** Why the files cannot be used, on one line; null if they can be. No tool call runs then. */
	problem: string | null;
	/** What the files define and nothing runs, on one line; null for nothing. */
	skipped: string | null;
}

const DEFAULT_TIMEOUT_S = 60;
/** A day. */
const MAX_TIMEOUT_S = 86_400;
/** A longer name is no name of a tool; every matcher takes it, because regular expressions run on short names only. */
const MAX_NAME = 128;
/** Matchers that Claude Code compares as they are; all others are regular expressions. */
const PLAIN_MATCHER = /^[\w\s|]*$/;

/** Reads the files whose names end in `.json`. Never throws. */
export function readConfig(files: readonly ConfigFile[]): Config {
	const groups: Group[] = [];
	const skipped = { types: new Map<string, number>(), events: new Set<string>() };
	try {
		for (const file of files) if (file.path.endsWith(".json")) groups.push(...readFile(file, skipped));
	} catch (error) {
		return { groups: [], problem: error instanceof Error ? error.message : String(error), skipped: null };
	}
	const types = [...skipped.types].map(([type, count]) => `${count} of the type ${type}`);
	const events = [...skipped.events].map((event) => `the event ${event}`);
	const names = [...types, ...events].join(", ");
	return {
		groups,
		problem: null,
		skipped: names === "" ? null : `Hooks of Claude Code that do not run here: ${names}`,
	};
}

/** @throws Error that names the file and the place */
function readFile(file: ConfigFile, skipped: { types: Map<string, number>; events: Set<string> }): Group[] {
	const fail = (where: string, problem: string): Error =>
		new Error(`${file.path}: ${where}${problem} · correct it, or turn pi:claude-hooks off in /hooks`);
	if (file.text === null) throw fail("", `${file.problem}`);
	const value: unknown = JSON.parse(file.text.replace(/^\ufeff/, ""));
	if (!isRecord(value)) throw fail("", "it is not a JSON object");
	if (value.disableAllHooks === true || value.hooks === undefined) return [];
	if (!isRecord(value.hooks)) throw fail("hooks ", "must be an object");
	return Object.entries(value.hooks).flatMap(([name, list]) => {
		const event = CLAUDE_EVENTS.find((known) => known === name);
		if (!Array.isArray(list)) throw fail(`hooks.${name} `, "must be a list");
		if (event === undefined) {
			if (list.length > 0) skipped.events.add(name.slice(0, MAX_NAME));
			return [];
		}
		return list.map((group: unknown, at): Group => {
			const where = `hooks.${name}[${at}]`;
			if (!isRecord(group) || !Array.isArray(group.hooks)) throw fail(where, " must be an object with a list hooks");
			const { matcher = "" } = group;
			if (typeof matcher !== "string") throw fail(`${where}.matcher `, "must be text");
			const matches = createMatcher(matcher);
			if (matches === null) throw fail(`${where}.matcher `, "is not a valid regular expression");
			const commands = group.hooks.flatMap((hook: unknown, index): Command[] => {
				const place = `${where}.hooks[${index}]`;
				if (!isRecord(hook)) throw fail(place, " must be an object");
				const { type, command, timeout = DEFAULT_TIMEOUT_S } = hook;
				// A program with a list of arguments, and another shell, are no command of a POSIX shell.
				const isOther = hook.args !== undefined || (hook.shell ?? "bash") !== "bash";
				if (type !== "command" || isOther) {
					const kind = type === "command" ? "command with args or shell" : String(type).slice(0, MAX_NAME);
					skipped.types.set(kind, (skipped.types.get(kind) ?? 0) + 1);
					return [];
				}
				if (typeof command !== "string" || command.trim() === "") throw fail(`${place}.command `, "must be text");
				if (typeof timeout !== "number" || !(timeout > 0))
					throw fail(`${place}.timeout `, "must be a number of seconds");
				const timeoutMs = Math.ceil(Math.min(timeout, MAX_TIMEOUT_S) * 1000);
				return [{ command, timeoutMs, isAsync: hook.async === true }];
			});
			return { event, matches, commands, file };
		});
	});
}

/**
 * Names, several of them separated by `|`, are compared as they are; all other matchers are regular expressions, which need not match
 * the complete name. `*` and an empty text match everything.
 * @returns null for an invalid regular expression
 */
export function createMatcher(matcher: string): ((name: string) => boolean) | null {
	if (matcher.trim() === "" || matcher === "*") return () => true;
	if (PLAIN_MATCHER.test(matcher)) {
		const names = matcher.split("|").map((name) => name.trim());
		return (name) => names.includes(name);
	}
	try {
		const pattern = new RegExp(matcher);
		return (name) => name.length > MAX_NAME || pattern.test(name);
	} catch {
		return null;
	}
}

export function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
