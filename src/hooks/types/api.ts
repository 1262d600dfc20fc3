import type { TSchema } from "typebox";
import type { SessionEntry } from "../../log/entry.js";
import type { HostHandleName } from "../handles.js";
import type { CommandContext, HookEventContext } from "./context.js";
import type { Attachment, HookEventName, HookEvents, HookResults } from "./events.js";
import type { HookTool } from "./tools.js";
import type { EntryComponent, EntryTheme } from "./ui.js";

/** Answer of a command: a prompt for the agent, or a line to show. */
export type CommandResult = string | { prompt: string; attachments?: Attachment[] } | { status: string };

/** One suggestion for a command's arguments. */
export interface CompletionItem {
	value: string;
	label?: string;
	description?: string;
}

/** Second argument of `pi.command`. */
export interface CommandOptions {
	description?: string;
	/** Shown after the name in the palette, such as `[turn]`. */
	argumentHint?: string;
	/** Suggests arguments. `prefix` is the text after the command name. */
	complete?(prefix: string, ctx: HookEventContext): CompletionItem[] | Promise<CompletionItem[]>;
	handler(ctx: CommandContext): CommandResult | undefined | void | Promise<CommandResult | undefined | void>;
}

/** Second argument of `pi.entry`. */
export interface EntryOptions {
	/** Renders an entry in the transcript: text, which pi wraps, or a component. */
	render?(entry: SessionEntry, theme: EntryTheme): string | EntryComponent;
}

/** A function that a hook registers for an event. Sync or async. */
export type HookHandler<N extends HookEventName> = (
	event: HookEvents[N],
	ctx: HookEventContext,
) => HookResults[N] | Promise<HookResults[N]>;

/** A handler of an event between hooks; sync or async. A context object is passed, because handlers keep none. */
export type BusHandler = (data: unknown, ctx: HookEventContext) => void | Promise<void>;

/** Events between the hooks of one session. */
export interface HookEventBus {
	/**
	 * Calls the handlers of all hooks, in load order, and returns when all have been called; async ones continue. Reaches
	 * nobody while the hook is loading: emit from a handler, such as that of `session`.
	 * @throws PiError `hook_failed` when handlers of an event emit it again in an endless chain
	 */
	emit(name: string, data?: unknown): void;
	/** Calls `handler` at each event of this name, until its hook is unloaded. @returns a function that removes it */
	on(name: string, handler: BusHandler): () => void;
}

/** Argument of a hook's default export. */
export interface HookAPI {
	/** Runs `handler` at each `event`. With an unknown name the hook does not load. */
	on<N extends HookEventName>(event: N, handler: HookHandler<N>): void;
	/** Adds a slash command. */
	command(name: string, options: CommandOptions): void;
	/** Sends a prompt: queues it while the agent runs, else starts a run. Not supported in print mode. */
	send(text: string, attachments?: Attachment[]): void;
	/** Declares an entry type of this hook. */
	entry(type: string, options?: EntryOptions): void;
	/**
	 * Adds a tool for the model, from the next request on. The name of a built-in tool replaces that tool.
	 * @throws Error naming the missing or invalid field
	 */
	tool<TParameters extends TSchema, TDetails = unknown>(tool: HookTool<TParameters, TDetails>): void;
	readonly events: HookEventBus;
	/** Requires handles. The hook does not load unless the user has granted all of them. */
	requires(...handles: HostHandleName[]): void;
}

/** The default export of a hook file. */
export type HookFactory = (pi: HookAPI) => void | Promise<void>;
