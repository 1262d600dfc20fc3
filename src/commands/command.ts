import type { Api, Model } from "@mariozechner/pi-ai";
import type { SessionUI } from "../hooks/session-ui.js";
import type { CommandResult, CompletionItem, SelectOption, SelectOptions } from "../hooks/types.js";
import type { ThinkingLevel, UndoneFiles } from "../log/entry.js";
import type { KeyTrial } from "../models/update/try-key.js";
import type { SessionRequest } from "../usage/usage-index.js";
import type { CommandCompaction, CompactionTokens, CompactionTrial } from "./compaction-request.js";
import type { Inspector } from "./inspection.js";
import type { LoginDialogs } from "./login-dialogs.js";
import type { CommandMcp } from "./mcp-status.js";
import type { OpenAs } from "./open-locked.js";
import type {
	BranchRow,
	CommandJobs,
	CommandModels,
	CommandSessions,
	CommandSettings,
	CommandTools,
	PickerShell,
	ScreenFacts,
} from "./pickers.js";
import type { FileReview, ReviewComment, ReviewScope } from "./review.js";

/** Options of a choice offered by a built-in command. */
export interface ChoiceOptions extends SelectOptions {
	/** Index of the option that is selected initially on a screen. Default 0. */
	selected?: number;
	/** Options that begin with the typed text, or contain its words, stay in their order. Default: the best match comes first. */
	keepsOrder?: boolean;
}

/** The dialogs of built-in commands, which close when the command is aborted. */
export interface CommandUI extends Pick<SessionUI, "canType" | "confirm" | "input" | "notify" | "selectMany"> {
	select<T extends string>(title: string, options: readonly T[], dialog?: ChoiceOptions): Promise<T | null>;
	select<T>(title: string, options: readonly SelectOption<T>[], dialog?: ChoiceOptions): Promise<T | null>;
}

/** Numbers that `/session` and RPC report. */
export interface SessionStats {
	sessionFile: string | null;
	sessionId: string;
	userMessages: number;
	assistantMessages: number;
	toolCalls: number;
	toolResults: number;
	totalMessages: number;
	/** Of all requests, those for summaries included. */
	tokens: { input: number; output: number; cacheRead: number; cacheWrite: number; total: number };
	/** US dollars; requests that a subscription paid for, or of models without a known price, count as 0. */
	cost: number;
	/** Replies whose server reported no usage: their tokens and cost are unknown, and count as 0. */
	unreported: number;
}

/** A user message that a branch can start from. */
export interface BranchTarget {
	entryIndex: number;
	text: string;
}

/** A provider offered by `/login`. */
export interface LoginOption {
	provider: string;
	/** `login`: through the provider's web site; `key`: the user pastes an API key. */
	kind: "login" | "key";
	name: string;
	/** Source of the known key; absent without one. */
	source?: string;
}

/** API keys and logins for commands. */
export interface CommandAccounts {
	/** Well-known providers first; of each, the web login before the key. */
	choices(): Promise<LoginOption[]>;
	/** Asks the provider whether it accepts a key, with a request that costs nothing. Saves nothing and never throws. */
	tryKey(provider: string, key: string, signal: AbortSignal): Promise<KeyTrial>;
	/** Saves a key. @throws PiError `config_write_failed` */
	saveKey(provider: string, key: string): Promise<void>;
	/**
	 * Logs in through the provider's web site. A dialog has the keyboard until the login ends.
	 * @returns false when the user canceled it
	 * @throws PiError `command_failed`
	 */
	login(provider: string, dialogs: LoginDialogs, signal: AbortSignal): Promise<boolean>;
	/** Providers with a saved key or login. */
	stored(): string[];
	/** Removes a saved key or login. @returns false when none exists */
	remove(provider: string): Promise<boolean>;
}

/** Trust in the project's code, for `/trust`. */
export interface CommandTrust {
	/** The project's files with their trust, as lines of text. */
	describe(): Promise<string[]>;
	/** Makes the next reload show the code and ask, even when it is trusted. */
	askAgain(): void;
	/** Revokes the trust; loaded code runs until the next reload. @returns false when nothing was trusted */
	forget(): Promise<boolean>;
}

/** The parts of a session that commands use. The session implements it. */
export interface CommandSession {
	readonly cwd: string;
	readonly sessionFile: string | null;
	/** Whether nothing can be written to the session. */
	readonly isReadOnly: boolean;
	readonly sessionName: string | null;
	readonly model: Model<Api> | null;
	readonly thinkingLevel: ThinkingLevel;
	readonly autoCompaction: boolean;
	readonly accounts: CommandAccounts;
	/** Absent when the project has no code. */
	readonly trust?: CommandTrust;
	readonly models: CommandModels;
	availableModels(): Promise<Model<Api>[]>;
	/** @param thinkingLevel default: unchanged */
	setModel(model: Model<Api>, thinkingLevel?: ThinkingLevel): Promise<void>;
	setThinkingLevel(level: ThinkingLevel): void;
	setAutoCompaction(enabled: boolean): void;
	setName(name: string): void;
	stats(): SessionStats;
	/** The requests of all saved sessions since a time, ms since the epoch. */
	usageSince(time: number, signal: AbortSignal): Promise<SessionRequest[]>;
	readonly sessions: CommandSessions;
	readonly tools: CommandTools;
	readonly jobs: CommandJobs;
	readonly mcp: CommandMcp;
	readonly settings: CommandSettings;
	/** @returns false when a hook canceled it */
	newSession(): Promise<boolean>;
	/** Opens another session. @returns false when a hook canceled it */
	switchSession(path: string, as?: OpenAs): Promise<boolean>;
	/** Names who canceled one of these changes, the last of all. */
	describeCanceled(change: "new session" | "switch" | "branch"): string;
	branchTargets(): BranchTarget[];
	/** The same messages with what a branch from each would drop, oldest first. */
	branchRows(): Promise<BranchRow[]>;
	/** @returns the text of the message at `entryIndex`, or null when a hook canceled the branch */
	branch(entryIndex: number): Promise<string | null>;
	readonly compaction: CommandCompaction;
	/** Restores the files of the last prompt that changed some. @returns null if nothing is left to restore @throws PiError `session_busy` */
	undoFiles(): Promise<UndoneFiles | null>;
	/** Begins a review of the files that tools changed. */
	reviewFiles(): FileReview;
	/**
	 * Reads the files of the user and the project again.
	 * @param screen the files that the shell has read again
	 * @returns what was read and what failed, as one line
	 */
	reload(screen?: RereadFiles): Promise<string>;
	/** Writes the session as HTML. @returns the absolute path */
	exportHtml(path?: string): Promise<string>;
	/** Text of the last complete assistant message. */
	lastAssistantText(): string | null;
	/** Describes the next request, or the context at an entry, as lines of text. */
	describeContext(at?: number | null): Promise<string[]>;
	/** Describes the hooks as lines of text, with what those in the shadow would have sent. */
	describeHooks(signal: AbortSignal): Promise<string[]>;
	readonly inspector: Inspector;
	/** Writes a report for debugging. @returns the absolute path @throws PiError `config_write_failed` */
	writeDebugReport(screen: ScreenFacts | null): Promise<string>;
	/** Every command, for `/help`. */
	commands(): PaletteItem[];
}

/** Files that were read again. */
export interface RereadFiles {
	/** What was read, such as `keys` and `2 themes`. */
	read: readonly string[];
	/** Problems in them, one line each. */
	problems: readonly string[];
}

/** Features of the interactive and plain modes. Absent in print, JSON and RPC mode, where commands that need it fail. */
export interface CommandShell extends PickerShell {
	copy(text: string): Promise<void>;
	setEditorText(text: string): void;
	/** Asks for a text without echoing it. @returns null when canceled */
	secret(title: string): Promise<string | null>;
	/** Shows a line until the next key or change of model, thinking level or session. */
	hint?(text: string | null): void;
	/** Exits, after a question if entries cannot be saved. */
	quit(): void;
	/** Exits, after the question of `confirmEnd`. Absent: `quit`. */
	leave?(signal: AbortSignal): Promise<void>;
	/**
	 * Asks before a command ends a run, a compaction or a shell command, or loses entries that cannot be saved.
	 * @param title the question, such as `Start a new session?`
	 * @returns false if the session goes on; true without a question if nothing would end or be lost
	 */
	confirmEnd?(title: string, signal: AbortSignal): Promise<boolean>;
	/** Key bindings. Scope: where the key works. */
	hotkeys(): [keys: string, description: string, scope?: string][];
	/** Reads key bindings and themes again, and reports problems in them. A broken file keeps its last good state. */
	rereadFiles?(): RereadFiles;
	/** Appends lines to the transcript. @returns a function that removes them where that is possible */
	show(title: string, lines: readonly string[]): () => void;
	/** Opens the context panel for the next request, or for an entry. Resolves when it closes. */
	openContext?(inspector: Inspector, at: number | null, signal: AbortSignal): Promise<void>;
	/** Previews a compaction and its summary for the user to accept. @returns null when nothing was written */
	openCompaction?(trial: CompactionTrial): Promise<CompactionTokens | null>;
	/** Shows the changes of tools, to keep, revert and comment on each. @returns the comments */
	openDiff?(review: FileReview, scope: ReviewScope, signal: AbortSignal): Promise<readonly ReviewComment[]>;
	/** Opens the hooks panel. @returns the action the user chose; null when the user just closed it */
	openHooks?(inspector: Inspector, signal: AbortSignal): Promise<"reload" | null>;
	/** Opens the panel of the MCP servers. @returns the name of a server to log in to; null when the user just closed it */
	openMcp?(mcp: CommandMcp, signal: AbortSignal): Promise<string | null>;
	/** Exits the mode and starts the demo; absent in the demo itself. */
	startDemo?(): void;
	/** Absent in plain mode. */
	readonly themes?: CommandThemes;
}

/** Themes of the interactive mode. */
export interface CommandThemes {
	/** Names that `use` accepts, with descriptions. */
	list(): { name: string; description: string }[];
	/** Applies and saves a theme. @returns a status line @throws PiError `bad_arguments` */
	use(name: string): Promise<string>;
	/** Lets the user choose, previewing the selected theme. @returns null when canceled, with the previous theme applied */
	choose(signal: AbortSignal): Promise<string | null>;
}

/** Arguments of a built-in command. */
export interface BuiltinCommandContext {
	session: CommandSession;
	ui: CommandUI;
	shell: CommandShell | null;
	args: string[];
	/** Everything after the name, trimmed. */
	rest: string;
	signal: AbortSignal;
}

/** A built-in slash command. */
export interface SlashCommand {
	name: string;
	aliases?: readonly string[];
	description: string;
	/** Absent: the command takes no arguments. */
	argumentHint?: string;
	complete?(
		prefix: string,
		session: CommandSession,
		shell: CommandShell | null,
	): CompletionItem[] | Promise<CompletionItem[]>;
	run(context: BuiltinCommandContext): Promise<CommandResult | undefined | void>;
}

/** A row of the palette. */
export interface PaletteItem {
	/** Without the slash. */
	name: string;
	description: string;
	argumentHint?: string;
	/** Source of the command: `built-in`, `hook stack`, `prompt`, `skill`, `MCP`. */
	origin: string;
	/** The file that provides it; absent for `built-in` and `MCP`. */
	path?: string;
}
