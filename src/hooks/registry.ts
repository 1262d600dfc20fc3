import type { SessionEntry } from "../log/entry.js";
import type { HookFile } from "./discover.js";
import { type FlagDeclaration, listFlags } from "./flags.js";
import type { HostHandleName } from "./handles.js";
import { type HookProvider, listProviders } from "./providers.js";
import { listShortcuts, type RegisteredShortcut, type Shortcut } from "./shortcuts.js";
import type { CommandOptions, EntryOptions, FlagOptions, HookEventName, HookHandler } from "./types.js";

/** A loaded hook: its file and its registrations. */
export interface LoadedHook extends HookFile {
	readonly handlers: { [N in HookEventName]?: HookHandler<N>[] };
	/** Lines of its file, 1-based, on which its handlers were registered. */
	readonly lines: WeakMap<object, number>;
	readonly commands: Map<string, CommandOptions>;
	/** Entry types that the hook declared or wrote. */
	readonly entryTypes: Map<string, EntryOptions>;
	/** In order of registration. */
	readonly shortcuts: Shortcut[];
	/** Flags of the command line that it declares, by name. */
	readonly flags: Map<string, FlagOptions>;
	/** Its providers of models, by name. */
	readonly providers: Map<string, HookProvider>;
	/** Handles that the user has granted to it. */
	readonly grants: ReadonlySet<HostHandleName>;
	/** Entry types without which its `context` handler is not called. Absent: it is always called. */
	readonly contextTypes?: readonly string[];
	/** False after unloading: its `pi` and its contexts throw. */
	active: boolean;
}

/** A handler and the hook it belongs to. */
export interface Registration<N extends HookEventName> {
	hook: LoadedHook;
	handler: HookHandler<N>;
}

/** False for a hook whose `context` handler is not called for these entries. */
export function canChangeContext({ contextTypes }: LoadedHook, entries: readonly SessionEntry[]): boolean {
	return contextTypes === undefined || entries.some(({ type }) => contextTypes.includes(type));
}

/** Bundled hooks that step aside because a hook of the user has one of their commands: path → the user's hook. */
export function replacedBundled(hooks: readonly LoadedHook[]): ReadonlyMap<string, LoadedHook> {
	const own = hooks.filter(({ scope }) => scope !== "bundled" && scope !== "builtin");
	return new Map(
		hooks.flatMap(({ path, scope, commands }) => {
			const by =
				scope === "bundled" ? own.findLast((hook) => [...commands.keys()].some((n) => hook.commands.has(n))) : null;
			return by ? [[path, by] as const] : [];
		}),
	);
}

/** Handlers and commands of all loaded hooks, in load order. */
export class HookRegistry {
	readonly #commands = new Map<string, { hook: LoadedHook; options: CommandOptions }>();
	/** Name conflicts, one line each. */
	readonly warnings: readonly string[];
	readonly shortcuts: readonly RegisteredShortcut<LoadedHook>[];
	readonly flags: readonly FlagDeclaration[];
	readonly providers: readonly HookProvider[];

	/** @param builtinNames command names that hooks cannot use */
	constructor(
		readonly hooks: readonly LoadedHook[],
		builtinNames: ReadonlySet<string>,
	) {
		const warnings: string[] = [];
		for (const hook of hooks) {
			for (const [name, options] of hook.commands) {
				if (builtinNames.has(name)) {
					warnings.push(`/${name} of ${hook.path} is ignored: a built-in command has this name`);
					continue;
				}
				const taken = this.#commands.get(name);
				if (taken) warnings.push(`/${name} is registered by ${taken.hook.path} and ${hook.path}; the latter is used`);
				this.#commands.set(name, { hook, options });
			}
		}
		const { flags, warnings: flagWarnings } = listFlags(hooks);
		this.flags = flags;
		const { providers, warnings: providerWarnings } = listProviders(hooks);
		this.providers = providers;
		this.warnings = [...warnings, ...flagWarnings, ...providerWarnings];
		this.shortcuts = listShortcuts(hooks);
	}

	/** Handlers of an event in call order. */
	handlers<N extends HookEventName>(event: N): Registration<N>[] {
		return this.hooks.flatMap((hook) => {
			const handlers: HookHandler<N>[] = hook.handlers[event] ?? [];
			return handlers.map((handler) => ({ hook, handler }));
		});
	}

	has(event: HookEventName): boolean {
		return this.hooks.some((hook) => (hook.handlers[event]?.length ?? 0) > 0);
	}

	command(name: string): { hook: LoadedHook; options: CommandOptions } | undefined {
		return this.#commands.get(name);
	}

	commands(): { name: string; hook: LoadedHook; options: CommandOptions }[] {
		return [...this.#commands].map(([name, { hook, options }]) => ({ name, hook, options }));
	}

	/** Options of an entry type; the hook that loaded last wins. */
	entryType(type: string): EntryOptions | undefined {
		return this.hooks.findLast((hook) => hook.entryTypes.has(type))?.entryTypes.get(type);
	}

	knowsEntryType(type: string): boolean {
		return this.hooks.some((hook) => hook.entryTypes.has(type));
	}
}
