import type { HookRegistry } from "../hooks/registry.js";
import { nearest } from "../util/nearest.js";
import type { PaletteItem, SlashCommand } from "./command.js";

/** A line that begins with a slash, taken apart. */
export interface CommandLine {
	/** Without the slash. */
	name: string;
	/** Everything after the name and one blank, as typed. */
	rest: string;
}

/** Things with a name that become commands: prompt templates and skills. */
export interface NamedResource {
	name: string;
	description: string;
	argumentHint?: string;
}

/** What a command line stands for. */
export type FoundCommand =
	| { kind: "builtin"; command: SlashCommand }
	| { kind: "hook"; name: string }
	| { kind: "template"; name: string }
	| { kind: "skill"; name: string };

/** Where commands come from; built-ins first, then hooks, then templates and skills. */
export interface CommandSources {
	builtins: readonly SlashCommand[];
	hooks: HookRegistry;
	templates: readonly NamedResource[];
	skills: readonly NamedResource[];
}

/** Skills are commands under this prefix, so that they cannot hide others. */
const SKILL_PREFIX = "skill:";

/**
 * Takes `/name rest` apart.
 * @returns null for text that is no command: no slash at its start, or a second slash or a blank before any letter
 */
export function parseSlashCommand(text: string): CommandLine | null {
	if (!text.startsWith("/")) return null;
	const [, name = "", rest = ""] = /^\/([^\s/]*)[^\S\n]?([\s\S]*)$/.exec(text) ?? [];
	if (name === "") return null;
	return text[name.length + 1] === "/" ? null : { name, rest };
}

/** Finds what a name stands for. */
export function findCommand(name: string, sources: CommandSources): FoundCommand | null {
	const command = sources.builtins.find((builtin) => builtin.name === name || builtin.aliases?.includes(name));
	if (command) return { kind: "builtin", command };
	if (sources.hooks.command(name)) return { kind: "hook", name };
	if (sources.templates.some((template) => template.name === name)) return { kind: "template", name };
	const skill = name.startsWith(SKILL_PREFIX) ? name.slice(SKILL_PREFIX.length) : null;
	if (skill !== null && sources.skills.some((item) => item.name === skill)) return { kind: "skill", name: skill };
	return null;
}

/** Every command, for the palette. */
export function paletteItems(sources: CommandSources): PaletteItem[] {
	const items: PaletteItem[] = sources.builtins.map(({ name, description, argumentHint }) => ({
		name,
		description,
		origin: "built-in",
		...(argumentHint ? { argumentHint } : {}),
	}));
	for (const { name, hook, options } of sources.hooks.commands()) {
		items.push({
			name,
			description: options.description ?? "",
			origin: `hook ${hook.name}`,
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
	return items;
}

/** "Unknown command /x", with the nearest names. */
export function unknownCommandMessage(name: string, sources: CommandSources): { message: string; hint: string } {
	const names = paletteItems(sources).map((item) => item.name);
	const near = nearest(name, names).map((candidate) => `/${candidate}`);
	return {
		message: `Unknown command /${name}`,
		hint: near.length > 0 ? `did you mean ${near.join(" or ")}?` : "type / to see all commands",
	};
}

function resourceItem({ name, description, argumentHint }: NamedResource) {
	return { name, description, ...(argumentHint ? { argumentHint } : {}) };
}
