import { locate } from "../errors.js";
import { RESERVED_ENTRY_TYPES, type RecordedHook, type SessionEntry } from "../log/entry.js";
import type { BundledHook } from "./bundled-hook.js";
import type { HookFile } from "./discover.js";
import { type FlagDeclaration, listFlags } from "./flags.js";
import type { HostHandleName } from "./granted-handles.js";
import { hookFileName } from "./hook-name.js";
import { listResources, type ResourcePaths } from "./hook-resources.js";
import { isPartOfPi } from "./hook-scope.js";
import { type HookProvider, listProviders } from "./providers.js";
import { listShortcuts, type RegisteredShortcut, type Shortcut } from "./shortcuts.js";
import type { SourceLocator } from "./source-locator.js";
import { positionOfError } from "./source-position.js";
import type { RegisteredTool } from "./tool-definition.js";
import type {
	BusHandler,
	CommandOptions,
	EntryOptions,
	FlagOptions,
	HookEventName,
	HookHandler,
	ToolHostFactory,
} from "./types.js";

/** A loaded hook: its file and its registrations. */
export interface LoadedHook extends HookFile {
	readonly handlers: { [N in HookEventName]?: HookHandler<N>[] };
	/** Compiled its file; absent for hooks of pi itself. */
	readonly compiler?: SourceLocator;
	/** For each handler an error that was created where it was registered. */
	readonly places: WeakMap<object, Error>;
	/** What it registered twice under one name while it loaded, such as `The tool note`, and where. */
	readonly repeats: { readonly what: string; readonly places: readonly [first: Error, second: Error] }[];
	readonly commands: Map<string, CommandOptions>;
	/** Entry types that the hook declared, or wrote: these have the options `WRITTEN_ENTRY`. */
	readonly entryTypes: Map<string, EntryOptions>;
	/** Entry types of its derivations. */
	readonly derived: Set<string>;
	/** Its tools by name. */
	readonly tools: Map<string, RegisteredTool>;
	/** Its handlers of events between hooks. A record for each, because one function may come twice. */
	readonly busHandlers: Map<string, Set<{ readonly handler: BusHandler }>>;
	/** In order of registration. */
	readonly shortcuts: Shortcut[];
	/** Flags of the command line that it declares, by name. */
	readonly flags: Map<string, FlagOptions>;
	/** Its providers of models, by name. */
	readonly providers: Map<string, HookProvider>;
	/** Its kinds of machines on which tools run, by scheme. */
	readonly toolHosts: Map<string, ToolHostFactory>;
	/** Its skills, prompt templates and themes; null for none. */
	resources: ResourcePaths | null;
	/** Handles that the user has granted to it. */
	readonly grants: ReadonlySet<HostHandleName>;
	/** See `BundledHook.family`. */
	readonly family?: string;
	/** Entry types without which its `context` handler is not called. Absent: it is always called. */
	readonly contextTypes?: readonly string[];
	/** False after unloading: its `pi` and its contexts throw. Changed by `unloadHook`. */
	active: boolean;
	/** Aborts when it is unloaded. */
	readonly unloaded: AbortController;
}

/** A hook that has registered nothing yet. */
export function createLoadedHook(
	file: HookFile,
	{ grants = [], bundled }: { grants?: readonly HostHandleName[]; bundled?: BundledHook | undefined } = {},
): LoadedHook {
	return {
		...file,
		...(bundled?.contextTypes ? { contextTypes: bundled.contextTypes } : {}),
		...(bundled?.family ? { family: bundled.family } : {}),
		handlers: {},
		places: new WeakMap(),
		repeats: [],
		commands: new Map(),
		entryTypes: new Map(),
		derived: new Set(),
		tools: new Map(),
		busHandlers: new Map(),
		shortcuts: [],
		flags: new Map(),
		providers: new Map(),
		toolHosts: new Map(),
		resources: null,
		grants: new Set(grants),
		active: true,
		unloaded: new AbortController(),
	};
}

/** Marks a hook as unloaded. A registry without it has none of its registrations. */
export function unloadHook(hook: LoadedHook): void {
	hook.active = false;
	hook.unloaded.abort();
}

/** Options of an entry type that a hook writes and does not declare. */
export const WRITTEN_ENTRY: EntryOptions = Object.freeze({});

/** Something that a hook registered under a name, and the hook. */
export interface Named<T> {
	name: string;
	hook: LoadedHook;
	options: T;
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

/**
 * Bundled hooks that step aside because a hook of the user has one of their commands: path → the user's hook. The presets of a
 * guard never do: one that a command turned off would protect nothing.
 */
export function replacedBundled(hooks: readonly LoadedHook[]): ReadonlyMap<string, LoadedHook> {
	const own = hooks.filter((hook) => !isPartOfPi(hook));
	return new Map(
		hooks.flatMap(({ path, scope, commands, family }) => {
			const by =
				scope === "bundled" && !family
					? own.findLast((hook) => [...commands.keys()].some((n) => hook.commands.has(n)))
					: null;
			return by ? [[path, by] as const] : [];
		}),
	);
}

/** The hooks that work: of a family the first one. */
function actingHooks(hooks: readonly LoadedHook[]): readonly LoadedHook[] {
	return hooks.filter(({ family }, at) => !family || hooks.findIndex((other) => other.family === family) === at);
}

/** What hooks registered, in load order. Every read sees the current registrations; names are collected by `refresh`. */
export class HookRegistry {
	#commands: ReadonlyMap<string, Named<CommandOptions>> = new Map();
	#tools: ReadonlyMap<string, Named<RegisteredTool>> = new Map();
	#shortcuts: readonly RegisteredShortcut<LoadedHook>[] = [];
	#flags: readonly FlagDeclaration[] = [];
	#providers: readonly HookProvider[] = [];
	#toolHosts: ReadonlyMap<string, Named<ToolHostFactory>> = new Map();
	#clashes: readonly string[] = [];
	readonly #acting: readonly LoadedHook[];

	/** @param builtinNames command names that hooks cannot use */
	constructor(
		readonly hooks: readonly LoadedHook[],
		private readonly builtinNames: ReadonlySet<string>,
	) {
		this.#acting = actingHooks(hooks);
		this.refresh();
	}

	/** Name conflicts, one line each. */
	get warnings(): readonly string[] {
		return this.#clashes;
	}

	/** The same array until something is registered. */
	get shortcuts(): readonly RegisteredShortcut<LoadedHook>[] {
		return this.#shortcuts;
	}

	get flags(): readonly FlagDeclaration[] {
		return this.#flags;
	}

	get providers(): readonly HookProvider[] {
		return this.#providers;
	}

	/** The files of skills, prompt templates and themes. */
	get resources(): ResourcePaths {
		return listResources(this.#acting);
	}

	/** Call after a hook has registered something. @returns the name conflicts that are new */
	refresh(): string[] {
		const known = new Set(this.#clashes);
		const clashes: string[] = [];
		this.#commands = collect(
			this.#acting,
			(hook) =>
				[...hook.commands].filter(([name, options]) => {
					const isFree = !this.builtinNames.has(name);
					if (!isFree)
						clashes.push(
							`/${name} of ${describePlace(hook, options)} is ignored: a built-in command has this name · the setting commands.replace changes that`,
						);
					return isFree;
				}),
			(name, first, second) => clashes.push(`/${name} is registered by ${first} and ${second}; the latter is used`),
		);
		for (const hook of this.#acting) {
			for (const { what, places } of hook.repeats) {
				const [first, second] = places.map((place) => placeOf(hook, place));
				clashes.push(`${what} is registered by ${first} and ${second}; the latter is used`);
			}
			for (const [type, options] of hook.entryTypes) {
				if (!RESERVED_ENTRY_TYPES.has(type)) continue;
				const place = describePlace(hook, options);
				clashes.push(`The entry type ${type} of ${place} is ignored: it belongs to pi; choose another name`);
			}
		}
		collect(this.#acting, declaredTypes, (type, first, second) =>
			clashes.push(`Entries of type ${type} are declared by ${first} and ${second}; the latter draws them`),
		);
		this.#tools = collect(
			this.#acting,
			({ tools }) => tools,
			(name, first, second) =>
				clashes.push(`The tool ${name} is defined in ${first} and ${second}; the latter is used`),
		);
		this.#toolHosts = collect(
			this.#acting,
			({ toolHosts }) => toolHosts,
			(scheme, first, second) =>
				clashes.push(`The host ${scheme}: is defined in ${first} and ${second}; the latter is used`),
		);
		this.#shortcuts = listShortcuts(this.#acting);
		const flags = listFlags(this.#acting);
		this.#flags = flags.flags;
		const providers = listProviders(this.#acting);
		this.#providers = providers.providers;
		clashes.push(...flags.warnings, ...providers.warnings);
		this.#clashes = clashes;
		return clashes.filter((line) => !known.has(line));
	}

	/** Handlers of an event in call order. */
	handlers<N extends HookEventName>(event: N): Registration<N>[] {
		return this.#acting.flatMap((hook) => {
			const handlers: HookHandler<N>[] = hook.handlers[event] ?? [];
			return handlers.map((handler) => ({ hook, handler }));
		});
	}

	has(event: HookEventName): boolean {
		return this.#acting.some((hook) => (hook.handlers[event]?.length ?? 0) > 0);
	}

	/** The files of the hooks that can change a request: those with a `context` handler or a tool. */
	recorded(): RecordedHook[] {
		return this.#acting.flatMap((hook) =>
			hook.handlers.context?.length || hook.tools.size > 0 ? (recordedHook(hook) ?? []) : [],
		);
	}

	command(name: string): Named<CommandOptions> | undefined {
		return this.#commands.get(name);
	}

	commands(): Named<CommandOptions>[] {
		return [...this.#commands.values()];
	}

	/** The tools of all hooks, by their place in the load order. */
	tools(): Named<RegisteredTool>[] {
		return [...this.#tools.values()];
	}

	tool(name: string): Named<RegisteredTool> | undefined {
		return this.#tools.get(name);
	}

	/** The schemes for `--on`, and what reaches their hosts. */
	get toolHosts(): ReadonlyMap<string, Named<ToolHostFactory>> {
		return this.#toolHosts;
	}

	/**
	 * An entry type; the hook that declared it last wins.
	 * @param entry leaves out the hooks that do not draw it; absent: any entry of the type
	 * @param onError receives what a `draws` function threw; its hook does not draw the entry
	 */
	entryType(
		type: string,
		entry?: SessionEntry,
		onError?: (failed: Named<EntryOptions>, thrown: unknown) => void,
	): Named<EntryOptions> | undefined {
		const draws = (named: Named<EntryOptions>): boolean => {
			try {
				return entry === undefined || named.options.draws?.(entry) !== false;
			} catch (thrown) {
				onError?.(named, thrown);
				return false;
			}
		};
		const all = this.#acting.flatMap((hook) => {
			const options = hook.entryTypes.get(type);
			return options ? [{ name: type, hook, options }].filter(draws) : [];
		});
		return all.findLast(({ options }) => options !== WRITTEN_ENTRY) ?? all[0];
	}

	knowsEntryType(type: string): boolean {
		return this.#acting.some((hook) => hook.entryTypes.has(type));
	}
}

const recordedHooks = new WeakMap<LoadedHook, RecordedHook>();

/** A hook with the digest of its code; null for one that was not loaded from a file. */
function recordedHook(hook: LoadedHook): RecordedHook | null {
	const { path, realPath, compiler } = hook;
	if (!compiler) return null;
	const record =
		recordedHooks.get(hook) ?? Object.freeze({ name: hookFileName(path), path, digest: compiler.digest(realPath) });
	recordedHooks.set(hook, record);
	return record;
}

/** The path of a hook, with the position of a registration if it is known. */
function describePlace(hook: LoadedHook, registered: object): string {
	return placeOf(hook, hook.places.get(registered));
}

/** @param created where something was registered */
function placeOf(hook: LoadedHook, created: Error | undefined): string {
	const { subject, at } = locate({ hookPath: hook.path, ...positionOfError(created, hook) }, hook.path);
	return `${subject}${at}`;
}

/** The types of which a hook draws every entry. */
function declaredTypes({ entryTypes }: LoadedHook): [string, EntryOptions][] {
	return [...entryTypes].filter(([, options]) => options !== WRITTEN_ENTRY && !options.draws);
}

/** What hooks registered under names; of two with one name the later wins, and `onClash` receives the paths of both. */
function collect<T>(
	hooks: readonly LoadedHook[],
	of: (hook: LoadedHook) => Iterable<readonly [string, T]>,
	onClash: (name: string, first: string, second: string) => void,
): ReadonlyMap<string, Named<T>> {
	const named = new Map<string, Named<T>>();
	for (const hook of hooks) {
		for (const [name, options] of of(hook)) {
			const taken = named.get(name);
			if (taken) onClash(name, taken.hook.path, hook.path);
			named.set(name, { name, hook, options });
		}
	}
	return named;
}
