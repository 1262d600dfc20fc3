import type { HookRegistry } from "../hooks/hook-registry.js";
import { nearest } from "../util/nearest.js";
import type { PaletteItem, SlashCommand } from "./command.js";

/** A parsed line that starts with a slash. */
export interface CommandLine {
	/** Without the slash. */
	name: string;
	/** Everything after the name and one blank, verbatim. */
	rest: string;
}

/** A prompt template or skill that becomes a command. */
export interface NamedResource {
	name: string;
	description: string;
	argumentHint?: string;
	/** The file that defines it. */
	path?: string;
}

/** The command that a name refers to. */
export type FoundCommand =
	| { kind: "builtin"; command: SlashCommand }
	| { kind: "hook"; name: string }
	| { kind: "template"; name: string }
	| { kind: "skill"; name: string }
	/** A prompt of an MCP server, which may not run yet. */
	| { kind: "mcp"; name: string };

/** Sources of commands in order of precedence. */
export interface CommandSources {
	builtins: readonly SlashCommand[];
	hooks: HookRegistry;
	/** Why no command has this name although a hook provides it, and how to get it; null for other names. */
	inactive?(name: string): { message: string; hint: string } | null;
	templates: readonly NamedResource[];
	skills: readonly NamedResource[];
	servers: ServerPrompts;
}

/** The prompts of MCP servers: commands `server:prompt`. */
export interface ServerPrompts {
	/** Those of the servers that run. */
	readonly prompts: readonly NamedResource[];
	/** True for the name of a prompt that a server has or may have. */
	isPrompt(name: string): boolean;
}

/** Prefix under which every built-in command is found, also one that a hook replaces. */
const BUILTIN_PREFIX = "pi:";
/** Prefix of skill commands, so that they cannot hide other commands. */
const SKILL_PREFIX = "skill:";

/**
 * Parses `/name rest`.
 * @returns null for text that is not a command: it does not start with a slash, the name is empty or contains a slash
 */
export function parseSlashCommand(text: string): CommandLine | null {
	if (!text.startsWith("/")) return null;
	const [, name = "", rest = ""] = /^\/([^\s/]*)[^\S\n]?([\s\S]*)$/.exec(text) ?? [];
	if (name === "") return null;
	return text[name.length + 1] === "/" ? null : { name, rest };
}

/** The name of a built-in command without the prefix `pi:`. */
export function builtinName(name: string): string {
	return name.startsWith(BUILTIN_PREFIX) ? name.slice(BUILTIN_PREFIX.length) : name;
}

/** A built-in command by a name or alias, also with the prefix `pi:`. */
export function findBuiltin(name: string, builtins: readonly SlashCommand[]): SlashCommand | undefined {
	const own = builtinName(name);
	return builtins.find((builtin) => builtin.name === own || builtin.aliases?.includes(own));
}

/**
 * The names of commands that hooks cannot use.
 * @param replaceable names of built-in commands that they may replace
 */
export function reservedNames(builtins: readonly SlashCommand[], replaceable: readonly string[]): ReadonlySet<string> {
	const names = builtins.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
	const kept = names.filter((name) => !replaceable.includes(name));
	return new Set([...kept, ...names.map((name) => BUILTIN_PREFIX + name)]);
}

/** Finds the command with this name. */
export function findCommand(name: string, sources: CommandSources): FoundCommand | null {
	// Hooks have only names that they may use.
	if (sources.hooks.command(name)) return { kind: "hook", name };
	const command = findBuiltin(name, sources.builtins);
	if (command) return { kind: "builtin", command };
	if (sources.templates.some((template) => template.name === name)) return { kind: "template", name };
	const skill = name.startsWith(SKILL_PREFIX) ? name.slice(SKILL_PREFIX.length) : null;
	if (skill !== null && sources.skills.some((item) => item.name === skill)) return { kind: "skill", name: skill };
	if (sources.servers.isPrompt(name)) return { kind: "mcp", name };
	const foreign = sources.inactive?.(name) ? undefined : FOREIGN_NAMES.get(name);
	const same = foreign && "command" in foreign && sources.builtins.find((builtin) => builtin.name === foreign.command);
	return same ? { kind: "builtin", command: same } : null;
}

/** All commands, for the palette. */
export function paletteItems(sources: CommandSources): PaletteItem[] {
	const items: PaletteItem[] = sources.builtins.map(({ name, description, argumentHint }) => ({
		name: sources.hooks.command(name) ? BUILTIN_PREFIX + name : name,
		description,
		origin: "built-in",
		...(argumentHint ? { argumentHint } : {}),
	}));
	for (const { name, hook, options } of sources.hooks.commands()) {
		items.push({
			name,
			description: options.description ?? "",
			origin: `hook ${hook.name}`,
			path: hook.path,
			...(options.argumentHint ? { argumentHint: options.argumentHint } : {}),
		});
	}
	const taken = new Set(items.map(({ name }) => name));
	for (const template of sources.templates) {
		if (!taken.has(template.name)) items.push({ ...resourceItem(template), origin: "prompt" });
	}
	for (const skill of sources.skills) {
		items.push({ ...resourceItem(skill), name: `${SKILL_PREFIX}${skill.name}`, origin: "skill" });
	}
	for (const prompt of sources.servers.prompts) {
		if (!taken.has(prompt.name)) items.push({ ...resourceItem(prompt), origin: "MCP" });
	}
	return items;
}

/** True for a name that is not in the palette but means something: an alias, a command of a hook that is off, or of another agent. */
export function isUnlistedCommand(name: string, sources: CommandSources): boolean {
	if (paletteItems(sources).some((item) => item.name === name)) return false;
	return findCommand(name, sources) !== null || sources.inactive?.(name) != null || FOREIGN_NAMES.has(name);
}

/** "Unknown command /x", with the hook that provides it or the nearest names as hint. */
export function unknownCommandMessage(name: string, sources: CommandSources): { message: string; hint: string } {
	const inactive = sources.inactive?.(name);
	if (inactive) return inactive;
	const foreign = FOREIGN_NAMES.get(name);
	if (foreign && "hint" in foreign) return { message: `Unknown command /${name}`, hint: foreign.hint };
	const names = paletteItems(sources).map((item) => item.name);
	const near = nearest(name, names).map((candidate) => `/${candidate}`);
	return {
		message: `Unknown command /${name}`,
		hint: near.length > 0 ? `did you mean ${near.join(" or ")}?` : "type / to see all commands",
	};
}

function resourceItem({ name, description, argumentHint, path }: NamedResource) {
	return { name, description, ...(argumentHint ? { argumentHint } : {}), ...(path === undefined ? {} : { path }) };
}

/** The command of pi that runs instead, or what to do. */
type ForeignName = { command: string } | { hint: string };

/**
 * Names of commands in other agents. A command of a hook, prompt, skill or server with the same name takes precedence.
 */
export const FOREIGN_NAMES: ReadonlyMap<string, ForeignName> = new Map<string, ForeignName>([
	...same("branch", "fork"),
	...same("compact", "summarize"),
	...same("hotkeys", "keybindings", "keys", "shortcuts"),
	...same("model", "models"),
	...same("name", "rename", "title"),
	...same("resume", "continue", "history", "sessions"),
	...same("session", "stats", "status"),
	...same("settings", "config"),
	...same("thinking", "effort", "think"),
	...same("usage", "cost"),
	...hint("pi reads AGENTS.md of the project and of its agent directory at each start; /context lists them", "memory"),
	...hint("ctrl+g opens your editor for the prompt", "vim"),
	...hint("/debug writes a report; pi doctor checks the installation", "bug", "doctor", "feedback"),
	...hint("the hooks permissions and permission-gate in /hooks ask before tools run", "allow", "approvals"),
]);

function same(command: string, ...names: string[]): [string, { command: string }][] {
	return names.map((name) => [name, { command }]);
}

function hint(text: string, ...names: string[]): [string, { hint: string }][] {
	return names.map((name) => [name, { hint: text }]);
}
