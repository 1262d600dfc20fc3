import type { SessionEntry } from "../log/entry.js";
import type { HookFile } from "./discover.js";
import type { HostHandleName } from "./handles.js";
import type { SourceLocator } from "./source-locator.js";
import type { CommandOptions, EntryOptions, HookEventName, HookHandler } from "./types.js";

/** A loaded hook: its file and its registrations. */
export interface LoadedHook extends HookFile {
	readonly handlers: { [N in HookEventName]?: HookHandler<N>[] };
	/** Compiled its file; absent for hooks of pi itself. */
	readonly compiler?: SourceLocator;
	/** For each handler an error that was created where it was registered. */
	readonly places: WeakMap<object, Error>;
	readonly commands: Map<string, CommandOptions>;
	/** Entry types that the hook declared or wrote. */
	readonly entryTypes: Map<string, EntryOptions>;
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
		this.warnings = warnings;
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

	/** An entry type and its hook; the one that loaded last wins. */
	entryType(type: string): { hook: LoadedHook; type: string; options: EntryOptions } | undefined {
		const hook = this.hooks.findLast(({ entryTypes }) => entryTypes.has(type));
		const options = hook?.entryTypes.get(type);
		return hook && options && { hook, type, options };
	}

	knowsEntryType(type: string): boolean {
		return this.hooks.some((hook) => hook.entryTypes.has(type));
	}
}
