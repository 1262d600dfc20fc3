import type { SessionEntry } from "../../log/entry.js";
import type { HostHandleName } from "../handles.js";
import type { Attachment } from "./attachment.js";
import type { CommandContext, HookEventContext } from "./context.js";
import type { HookEventName, HookEvents, HookResults } from "./events.js";
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
	/** Requires handles. The hook does not load unless the user has granted all of them. */
	requires(...handles: HostHandleName[]): void;
}

/** The default export of a hook file. */
export type HookFactory = (pi: HookAPI) => void | Promise<void>;
