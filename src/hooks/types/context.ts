import type { Api, AssistantMessageEventStream, Context, Model, SimpleStreamOptions } from "@mariozechner/pi-ai";
import type { PermissionSettings } from "../../config/permission-rules.js";
import type {
	AppMessage,
	EntryRange,
	PromptSection,
	SessionEntry,
	ThinkingLevel,
	UndoneFiles,
} from "../../log/entry.js";
import type { RequestAuth } from "../../models/credentials.js";
import type { ExecOptions, ExecResult } from "../../util/process.js";
import type { SystemItemsHandle } from "../granted-handles.js";
import type { HookSessions } from "./sessions.js";
import type { HookTools } from "./tool-switch.js";
import type { HookUI } from "./ui.js";

/** How pi runs: on the screen, line by line, for one prompt as text or as JSON, driven by an RPC client or by a program. */
export type SessionMode = "interactive" | "plain" | "print" | "json" | "rpc" | "sdk";

/** Size of the next request. */
export interface ContextUsage {
	/** Counted by the provider if known, else estimated. */
	readonly tokens: number;
	/** Of the model; 0 if unknown. */
	readonly contextWindow: number;
	/** Of the context window, 0 to 100 and more; null if the window is unknown. */
	readonly percent: number | null;
}

/** A session of pi, which `createAgentSession({ parent })` accepts. */
export interface SessionHandle {
	/** Of the session, as in its header. */
	readonly id: string;
}

/** A file of the user's or the project's configuration. */
export interface ConfigFile {
	readonly path: string;
	readonly scope: "user" | "project";
	/** null if the file cannot be read, or its name ends in `.json` and it is not valid JSON. */
	readonly text: string | null;
	/** Why it cannot be read, or is not used. */
	readonly problem?: string;
	/**
	 * For a file of the project with commands: compares the files that some of these run with those that the user trusted.
	 * @returns the path of one that is new or has changed since then; null: none
	 * @throws Error if there are more than can be checked
	 */
	findChanged?(commands: readonly string[]): Promise<string | null>;
}

/** Where tools work, as `--on` chose it. */
export interface ToolHostInfo {
	/** Such as `ssh build-01` or `sandbox`; empty for this machine. */
	readonly name: string;
	/** The working directory there. */
	readonly cwd: string;
}

/** The group `webSearch` of the user's settings: a project cannot set it. */
export interface WebSearchSettings {
	/** Absent: the user has not turned on web searches. */
	readonly engine?: "auto" | "provider" | "searxng" | "brave" | "tavily" | "exa";
	/** Address of the SearXNG server. */
	readonly url?: string;
}

/** Options of `ctx.exec`. */
export interface HookExecOptions extends ExecOptions {
	/**
	 * True: runs the program where tools work, in a sandbox or on another machine, like commands of the model. Use it for
	 * programs of the project. `cwd` is then a directory there, by default `ctx.toolHost.cwd`.
	 */
	onHost?: boolean;
}

/** A slash command. */
export interface CommandInfo {
	/** Without the slash. */
	readonly name: string;
	readonly description?: string;
	/** What provides it: `built-in`, `hook <name>`, `prompt`, `skill` or `MCP`. */
	readonly source: string;
	/** The file of a hook, a prompt template or a skill. */
	readonly path?: string;
}

/** Second argument of every handler. Members read current state, and throw once the session or hook is gone. */
export interface HookEventContext {
	/**
	 * Runs a program without a shell on this machine, outside of any sandbox; with `onHost` where tools work. A failure of the
	 * program does not reject. While one with a `timeout` runs, the time limit of the handler is paused, except at `shutdown`.
	 */
	exec(command: string, args: readonly string[], options?: HookExecOptions): Promise<ExecResult>;
	/** Where tools work. */
	readonly toolHost: ToolHostInfo;
	readonly ui: HookUI;
	/** True if a person can answer on the screen; false in print, JSON and RPC mode. */
	readonly hasUI: boolean;
	readonly cwd: string;
	/**
	 * A directory for what this hook keeps about the project in `cwd`, absolute: in the agent directory, so that nothing in the
	 * project can write it. It need not exist: create it with mode 0700. Other pi processes may use it at the same time.
	 */
	readonly projectDir: string;
	/** null with `--no-session`. */
	readonly sessionFile: string | null;
	/**
	 * This session, for `createAgentSession({ parent: ctx.session })`: a session with its own context that has the same
	 * settings, models, keys, hooks and accepted project code, and whose cost counts as that of this session.
	 */
	readonly session: SessionHandle;
	/** The user's saved sessions. In a replay and in the bench, there are none. */
	readonly sessions: HookSessions;
	/**
	 * The files in a directory of the agent directory, then those in the same directory of the project's `.pi`. Of the
	 * project's, only `agents`, `claude-hooks` and the files that the user has trusted, with exactly the trusted contents. Of the
	 * user's, none that other users can change. Read at each call.
	 * @throws PiError `bad_arguments` for a name that is not that of a directory
	 */
	configFiles(folder: string): ConfigFile[];
	/** The rules for tool calls in the user's and the project's settings, which guards apply. */
	readonly permissions: PermissionSettings;
	/** The user's settings for web searches. Keys of engines: `resolveApiKey({ provider: "brave" })`. */
	readonly webSearch: WebSearchSettings;
	readonly model: Model<Api> | null;
	readonly thinkingLevel: ThinkingLevel;
	/** Values of the flags that the loaded hooks declare; the default for a flag that is not given. Frozen. */
	readonly flags: Readonly<Record<string, boolean | string | undefined>>;
	/** All entries; index 0 is the header. Frozen. */
	readonly entries: readonly SessionEntry[];
	/** The current context after all hooks. Frozen. */
	readonly messages: readonly AppMessage[];
	/** The tools of the session. */
	readonly tools: HookTools;
	/** The sections of the system prompt of the last computed request, after all hooks. Frozen. */
	readonly systemPrompt: readonly PromptSection[];
	findModel(provider: string, id: string): Model<Api> | null;
	/** Models with a known API key. */
	availableModels(): Promise<Model<Api>[]>;
	/** API key for a model, from OAuth (refreshed), auth file, models file or environment, in this order. `brave`, `exa` and `tavily` have keys, too. */
	resolveApiKey(model: Pick<Model<Api>, "provider">): Promise<string | undefined>;
	/**
	 * API key for a model and the headers of its provider in models.json, as options for `complete` and `stream`.
	 * @returns undefined if no key is known
	 */
	requestAuth(model: Model<Api>): Promise<RequestAuth | undefined>;
	/**
	 * Sends a request to a model with its key. Usage, cost and budgets count it as a request of this hook; nothing else of it
	 * becomes part of the session. It ends with the call of the hook, and with `options.signal`.
	 * @returns the events of the reply; `result()` waits for the complete reply. A failed request is a reply with the
	 * `stopReason` `error`
	 * @throws PiError `key_missing`; `context_locked` in a `context` handler
	 */
	stream(model: Model<Api>, context: Context, options?: SimpleStreamOptions): Promise<AssistantMessageEventStream>;
	/**
	 * Appends an entry of your own type.
	 * @returns its index, after it is written; in a session without messages it is written with the first one, unless a command or
	 * shortcut saves it, so that a session that nobody uses leaves no file
	 * @throws PiError `entry_refused`, writing nothing, for a reserved or missing type or a value that JSON cannot represent;
	 * `log_read_only` in a session that was opened only to be read
	 */
	saveEntry(entry: { type: string; [field: string]: unknown }): Promise<number>;
	/** Appends several entries in one write: after a crash the log has all of them or none. @returns their indices */
	saveEntries(entries: readonly { type: string; [field: string]: unknown }[]): Promise<number[]>;
	/** True if the user has accepted the code of this project, so that it runs. */
	readonly projectTrusted: boolean;
	/** The slash commands: those of pi, of hooks, of MCP servers, prompt templates and skills. Frozen. */
	readonly commands: readonly CommandInfo[];
	/**
	 * Computes the context again from the entries: `messages`, `/context` and the figures in the footer show it at once. In
	 * `before_request` the request that is sent is the new one. In `tool_call` and `tool_result` it returns at once, and the
	 * context is computed before the next request.
	 */
	rebuildContext(): Promise<void>;
	/** True if no run, compaction or shell command is active and the session is not being switched. */
	readonly isIdle: boolean;
	/** Number of prompts that wait for the run to take them. */
	readonly queued: number;
	readonly usage: ContextUsage;
	/** null for a session without a name. */
	readonly sessionName: string | null;
	setModel(model: Model<Api>): Promise<void>;
	setThinkingLevel(level: ThinkingLevel): void;
	/** Names the session. @throws PiError `bad_arguments` for an empty name */
	setSessionName(name: string): void;
	readonly mode: SessionMode;
	/** Stops run, compaction and shell command, like Escape. Returns at once; queued prompts go back to the user. */
	abort(): void;
	/**
	 * Replaces earlier messages with a summary. During a run: at once in `agent_start`, `turn_start`, `before_request`, `turn_end`,
	 * `agent_end` and `agent_settled`; otherwise at the next of these points, before the next request. A time limit of the
	 * handler is paused meanwhile, and an abort of the run ends it.
	 * @throws PiError `context_locked` in tools and in events for which the run waits while a call or a request is open;
	 * `session_busy` while another compaction runs or waits; `compaction_failed`, `model_missing`
	 */
	compact(options?: { focus?: string }): Promise<{ tokensBefore: number; tokensAfter: number }>;
	/**
	 * Exits pi: a command at once, a handler or tool when no run, compaction or shell command is active any more.
	 * @returns false where only the caller can do that: in print, JSON and RPC mode and in programs
	 */
	quit(): boolean;
	/** Adds texts to the context; undefined unless the user has granted it to this hook. See `HookAPI.requires`. */
	readonly systemItems?: SystemItemsHandle;
	/** Aborted when the run or operation that this handler belongs to is canceled, or when the handler times out. */
	readonly signal: AbortSignal;
}

/**
 * Second argument of a `context` handler. Its answer depends on the event alone, so that every request can be computed again:
 * the other members of `HookEventContext` throw a PiError `context_locked` that says what to use instead.
 */
export type PureContext = Pick<HookEventContext, "cwd" | "signal">;

/** Argument of a command handler. */
export interface CommandContext extends HookEventContext {
	/** Arguments, split like a shell does: quotes and backslash; an unbalanced quote is literal. */
	readonly args: string[];
	/** Everything after the command name and one space. */
	readonly argsRaw: string;
	/** Replaces the text in the editor; a no-op without a screen. */
	setEditorText(text: string): void;
	/**
	 * Starts a new, empty session. If that happens, this context is stale, as after the next four members.
	 * @returns false if a hook canceled it
	 */
	newSession(): Promise<boolean>;
	/**
	 * Restores the files that the tool calls of the entries `[from, to)` changed, as `/undo` does; `changedFiles` lists them. The
	 * user is asked about each file that something else changed since. Writes an entry; the conversation is unchanged.
	 * @param range default: those of the last prompt whose changes were not restored
	 * @returns what was restored; null if nothing is left to restore
	 * @throws PiError `session_busy` during a run
	 */
	undo(range?: EntryRange): Promise<UndoneFiles | null>;
	/**
	 * Continues in a new session with the entries before a user message, whose text goes to the editor.
	 * @returns false if a hook canceled it
	 * @throws PiError `bad_arguments` if the entry is not a user message
	 */
	branch(entryIndex: number): Promise<boolean>;
	/**
	 * Opens another session.
	 * @param path of its file, or the start of its id
	 * @returns false if a hook canceled it
	 */
	switchSession(path: string): Promise<boolean>;
	/** Loads hooks, tools and all other files again. @returns true */
	reload(): Promise<boolean>;
	/** Resolves when no run, compaction or shell command is active and no prompt is queued. Rejects if the command is aborted. */
	waitForIdle(): Promise<void>;
}
