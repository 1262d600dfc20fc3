import type { LoadedHook } from "./hook-registry.js";

/** The names of everything that a hook has registered. */
export interface RegisteredNames {
	events: readonly string[];
	/** Without the slash. */
	commands: readonly string[];
	entryTypes: readonly string[];
	tools: readonly string[];
	/** Keys. */
	shortcuts: readonly string[];
	/** Without the dashes. */
	flags: readonly string[];
	providers: readonly string[];
	/** Schemes of `--on`. */
	toolHosts: readonly string[];
	/** Events between hooks that it listens to. */
	listensTo: readonly string[];
}

/** The names of a hook that has registered nothing. */
export const NO_NAMES: RegisteredNames = {
	events: [],
	commands: [],
	entryTypes: [],
	tools: [],
	shortcuts: [],
	flags: [],
	providers: [],
	toolHosts: [],
	listensTo: [],
};

export function registeredNames(hook: LoadedHook): RegisteredNames {
	return {
		events: Object.keys(hook.handlers),
		commands: [...hook.commands.keys()],
		entryTypes: [...hook.entryTypes.keys()],
		tools: [...hook.tools.keys()],
		shortcuts: hook.shortcuts.map(({ key }) => key),
		flags: [...hook.flags.keys()],
		providers: [...hook.providers.keys()],
		toolHosts: [...hook.toolHosts.keys()],
		listensTo: [...hook.busHandlers.keys()],
	};
}

/** The registrations by kind, for one line: `[["/pop", "/unpop"], ["key ctrl+y"], ["context"]]`. */
export function summarizeNames(names: RegisteredNames): string[][] {
	const { commands, tools, shortcuts, flags, providers, toolHosts, events, listensTo, entryTypes } = names;
	const labeled = (label: string, list: readonly string[]) => list.map((name) => `${label}${name}`);
	const used = [
		labeled("/", commands),
		labeled("tool ", tools),
		labeled("key ", shortcuts),
		labeled("--", flags),
		labeled("provider ", providers),
		labeled("host ", toolHosts),
		[...events],
		labeled("listens to ", listensTo),
	].filter((kind) => kind.length > 0);
	if (used.length > 0) return used;
	return [entryTypes.length > 0 ? labeled("entries ", entryTypes) : ["registers nothing"]];
}

/** Name and content of a line for each kind of registration that few hooks have: `["keys", "ctrl+y, f5"]`. */
export function listFurtherNames({
	shortcuts,
	flags,
	providers,
	toolHosts,
	listensTo,
}: RegisteredNames): [string, string][] {
	const lines: [string, readonly string[]][] = [
		["keys", shortcuts],
		["flags", flags.map((name) => `--${name}`)],
		["providers", providers],
		["hosts", toolHosts],
		["listens", listensTo],
	];
	return lines.flatMap(([name, list]) => (list.length > 0 ? [[name, list.join(", ")]] : []));
}
