import type {
	Api,
	AssistantMessageEvent,
	Context,
	Model,
	OAuthCredentials,
	ProviderAuthInteraction,
	SimpleStreamOptions,
} from "@mariozechner/pi-ai";
import type { TSchema } from "typebox";
import type { SessionEntry, ThinkingLevel } from "../../log/entry.js";
import type { HostHandleName } from "../granted-handles.js";
import type { Attachment } from "./attachment.js";
import type { CommandContext, HookEventContext, PureContext } from "./context.js";
import type { HookEventName, HookEvents, HookResults } from "./events.js";
import type { ToolHostFactory } from "./machines.js";
import type { HookTool } from "./tools.js";
import type { EntryComponent, EntryTheme } from "./ui.js";
import type { PromptDelivery } from "./user-events.js";

/** Answer of a command: a prompt for the agent, or a line to show. */
export type CommandResult = string | { prompt: string; attachments?: readonly Attachment[] } | { status: string };

/** One suggestion for a command's arguments. */
export interface CompletionItem {
	value: string;
	label?: string;
	description?: string;
}

declare const unknownField: unique symbol;

/** No value has this type: an answer has fields that pi does not know. */
export interface UnknownField<Name> {
	readonly [unknownField]: Name;
}

/** Keys of all members of a union. */
type KeyOf<T> = T extends object ? keyof T : never;

/**
 * Part of the type of a function that returns `R`: nothing has it if `R` has other fields than `Answer`. The compiler itself finds
 * no additional fields, such as misspelled ones, in what it infers that a function returns.
 */
type Exact<R, Answer> =
	Exclude<KeyOf<R>, KeyOf<Answer>> extends infer Name ? ([Name] extends [never] ? unknown : UnknownField<Name>) : never;

/** What the handler of a command may return. */
type CommandReturn = CommandResult | undefined | void;

/** Second argument of `pi.command`. */
export interface CommandOptions<R extends CommandReturn = CommandReturn> {
	description?: string;
	/** Shown after the name in the palette, such as `[turn]`. */
	argumentHint?: string;
	/** Suggests arguments. `prefix` is the text after the command name. */
	complete?(prefix: string, ctx: HookEventContext): CompletionItem[] | Promise<CompletionItem[]>;
	handler(ctx: CommandContext): R | Promise<R>;
}

/** Second argument of `pi.shortcut`. */
export interface ShortcutOptions<R extends CommandReturn = CommandReturn> {
	/** Shown in `/hotkeys`. */
	description?: string;
	/** Like the handler of a command without arguments. */
	handler: CommandOptions<R>["handler"];
}

/** Second argument of `pi.flag`. */
export interface FlagOptions {
	/** Shown by `pi --help`. */
	description?: string;
	/** `boolean`: `--name` and `--no-name`; `string`: `--name value` and `--name=value`. */
	type: "boolean" | "string";
	/** The value without the flag. Default: false, or undefined for a string. */
	default?: boolean | string;
}

/** Fields of a model that `modelOverrides` can change. Absent ones are those of the built-in model, if there is one. */
export interface ProviderModelFacts {
	name?: string;
	/** Whether the model can think. Default: false. */
	reasoning?: boolean;
	/** Whether the model can call tools. Default: true. */
	tools?: boolean;
	/** The provider's name of each thinking level; null: not supported. */
	thinkingLevelMap?: { [level in ThinkingLevel]?: string | null };
	/** Default: `["text"]`. */
	input?: ("text" | "image")[];
	/** USD per million tokens; 0: free; absent: unknown. */
	cost?: { input?: number; output?: number; cacheRead?: number; cacheWrite?: number };
	/** Tokens. Default: 128000. */
	contextWindow?: number;
	/** Tokens of one reply. Default: 16384. */
	maxTokens?: number;
	compat?: { [flag: string]: unknown };
	headers?: { [name: string]: string };
}

/** A model of a provider. */
export interface ProviderModel extends ProviderModelFacts {
	id: string;
	/** Default: that of the provider. */
	api?: string;
	baseUrl?: string;
}

/** How users log in to a provider with `/login`. Tokens are kept in auth.json. */
export interface ProviderLogin {
	/** Shown by `/login`. */
	name: string;
	/** Logs in. `steps` shows addresses, asks the user, and has a `signal`. `expires` of the tokens is in ms since the epoch. */
	login(steps: ProviderAuthInteraction): Promise<OAuthCredentials>;
	/** Renews tokens that have expired. */
	refresh(tokens: OAuthCredentials, signal: AbortSignal): Promise<OAuthCredentials>;
	/** The API key of requests. */
	apiKey(tokens: OAuthCredentials): string;
}

/** Second argument of `pi.provider`: the fields of a provider in models.json, `stream` and `login`. */
export interface ProviderOptions {
	baseUrl?: string;
	/** The wire format, such as `openai-completions`; with `stream` any name. */
	api?: string;
	/** Name of an environment variable, also as `$NAME`, `!command`, or the key itself. */
	apiKey?: string;
	headers?: { [name: string]: string };
	/** Also send the key as `Authorization: Bearer`. */
	authHeader?: boolean;
	compat?: { [flag: string]: unknown };
	/** Absent: changes how the built-in models of this provider are reached. */
	models?: ProviderModel[];
	/** Lets users log in instead of setting a key. */
	login?: ProviderLogin;
	/** Changes to single models, by id. */
	modelOverrides?: { [id: string]: ProviderModelFacts };
	/**
	 * Sends a request and returns the events of the reply, like `stream` of pi-ai. `api`, `baseUrl` and `apiKey` are then
	 * optional. A throw fails the request. Stop when `options.signal` aborts.
	 */
	stream?(
		model: Model<Api>,
		context: Context,
		options: SimpleStreamOptions,
	): AsyncIterable<AssistantMessageEvent> | Promise<AsyncIterable<AssistantMessageEvent>>;
}

/** Files, and directories that contain such files. Relative paths start at the file of the hook. */
export interface HookResources {
	/** `SKILL.md` files. */
	skills?: readonly string[];
	/** `*.md` files with prompt templates. */
	prompts?: readonly string[];
	/** `*.json` files with themes. */
	themes?: readonly string[];
}

/** Third argument of `pi.send`. */
export interface SendOptions {
	/** During a run: after the current tool calls (`steer`, the default) or after the run. */
	delivery?: Exclude<PromptDelivery, "start">;
}

/** Second argument of `pi.entry`. */
export interface EntryOptions {
	/** Renders an entry in the transcript: text, which pi wraps, or a component. `expanded`: whether items are shown in full. */
	render?(entry: SessionEntry, theme: EntryTheme, options: { readonly expanded: boolean }): string | EntryComponent;
	/** Whether `render` draws this entry: several hooks can then share the type, each with entries of its own. Absent: all. */
	draws?(entry: SessionEntry): boolean;
}

/** The events at which `pi.derive` works. */
export type DeriveEvent = "turn_start" | "turn_end" | "agent_settled";

/** Second argument of `pi.derive`. `I` and `V` are JSON values. */
export interface DeriveOptions<I, V> {
	/** What values are wanted for, by the entries of the session. Equal inputs are one. Called often: it must be fast. */
	from(entries: readonly SessionEntry[]): readonly I[];
	/**
	 * Computes the value of an input, such as with a request to a model. Several run at the same time. What is not done within
	 * `hookTimeout` is aborted by `ctx.signal` and tried again at the next event. undefined: it has no value.
	 */
	run(input: I, ctx: HookEventContext): V | undefined | Promise<V | undefined>;
	/**
	 * When: after the agent has answered (`agent_settled`, the default), after each turn, or before each turn, so that the next
	 * request has the values. The run waits in the last two.
	 */
	at?: DeriveEvent;
}

/** What `pi.derive` returns. */
export interface Derived<I, V> {
	/** The value of an input that the log has; undefined if it has none. For `context` handlers: it depends on its arguments alone. */
	get(input: I, entries: readonly SessionEntry[]): V | undefined;
}

/** The second argument of the handlers of an event. */
export type HandlerContext<N extends HookEventName> = N extends "context" ? PureContext : HookEventContext;

/** A function that a hook registers for an event. Sync or async. */
export type HookHandler<N extends HookEventName> = (
	event: HookEvents[N],
	ctx: HandlerContext<N>,
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
	on<N extends HookEventName, R extends HookResults[N]>(
		event: N,
		handler: ((event: HookEvents[N], ctx: HandlerContext<N>) => R | Promise<R>) & Exact<R, HookResults[N]>,
	): void;
	/** Adds a slash command. */
	command<R extends CommandReturn>(name: string, options: CommandOptions<R> & Exact<R, CommandResult>): void;
	/**
	 * Adds a key of the editor, such as `ctrl+y` or `f5`. The user can bind another one to `hook.<hook>.<n>` in
	 * keybindings.json. A key that is already in use keeps its meaning unless the user binds it.
	 * @throws TypeError if the key is invalid or types a character
	 */
	shortcut<R extends CommandReturn>(key: string, options: ShortcutOptions<R> & Exact<R, CommandResult>): void;
	/**
	 * Declares a flag of the command line, whose value is `ctx.flags[name]`. Call it while the hook loads: pi checks the
	 * command line when all hooks have loaded.
	 * @throws TypeError if the name is invalid or a flag of pi; PiError `bad_arguments` after the hook has loaded
	 */
	flag(name: string, options: FlagOptions): void;
	/**
	 * Adds a provider of models; undefined removes that of this hook. One of the same name in the user's models.json wins.
	 * @throws TypeError that names every invalid field
	 */
	provider(name: string, options: ProviderOptions | undefined): void;
	/**
	 * Sends a prompt: queues it while the agent runs, else starts a run. Not supported in print mode.
	 * @param text null: starts a run without a prompt, after the current one, for what a `context` handler adds
	 * @throws TypeError for attachments or options that are invalid
	 */
	send(text: string | null, attachments?: readonly Attachment[], options?: SendOptions): void;
	/** Declares an entry type of this hook. */
	entry(type: string, options?: EntryOptions): void;
	/**
	 * Computes values outside of `context` handlers and remembers them in the session: each is an entry of the type `<hook>:<name>` with the
	 * digest of its input, so it is computed once, and requests can be computed again.
	 * @throws TypeError that names the invalid field
	 */
	derive<I, V>(name: string, options: DeriveOptions<I, V>): Derived<I, V>;
	/**
	 * Adds a tool for the model, from the next request on. The name of a built-in tool replaces that tool.
	 * @throws Error naming the missing or invalid field
	 */
	tool<TParameters extends TSchema, TDetails = unknown>(tool: HookTool<TParameters, TDetails>): void;
	/**
	 * Adds a kind of machine on which tools can run: `pi --on ssh://build-01/src` calls the factory of the scheme `ssh`. Call
	 * it while the hook loads. Of two factories with one scheme the later is used.
	 * @throws TypeError if the scheme is not lowercase letters, digits and "-", beginning with a letter
	 */
	toolHost(scheme: string, factory: ToolHostFactory): void;
	/**
	 * Adds skills, prompt templates and themes, instead of those that this hook has added before. Others of the same name, of
	 * the user or the project, win.
	 * @returns resolves when they are read; at once while the hook loads, because pi then reads them before the session starts
	 * @throws TypeError that names a malformed field
	 */
	resources(paths: HookResources): Promise<void>;
	readonly events: HookEventBus;
	/** Requires handles. The hook does not load unless the user has granted all of them. */
	requires(...handles: HostHandleName[]): void;
}

/** The default export of a hook file. */
export type HookFactory = (pi: HookAPI) => void | Promise<void>;
