/** What bundled hooks are for, in the order of lists. */
export const HOOK_GROUPS = ["context", "guards", "model", "git", "prompts", "screen", "machines"] as const;

/** What a bundled hook is for. */
export type HookGroup = (typeof HOOK_GROUPS)[number];

/** A hook of hooks-examples/. pi contains all of them and loads those that are on. */
export interface BundledHook {
	name: string;
	group: HookGroup;
	/** One line for lists. */
	description: string;
	/** Names of its commands, without the slash: known before it is loaded. */
	commands: readonly string[];
	/** True if it is on unless the user turns it off. */
	isDefault?: boolean;
	/** Schemes of the hosts that it provides: it is on while one of them is used. */
	hosts?: readonly string[];
	/** Hooks of one family are presets of one hook: of those that are on, the first works for all of them. */
	family?: string;
	/** Types of the entries that it saves, known before it is loaded. */
	entryTypes?: readonly string[];
	/** Its `context` handler changes nothing as long as the session has no entry of these types. */
	contextTypes?: readonly string[];
	/** Imports the module. */
	load(): Promise<{ default: unknown }>;
}
