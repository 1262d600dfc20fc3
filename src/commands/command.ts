import type { Api, Model } from "@mariozechner/pi-ai";
import type { CommandResult, CompletionItem } from "../hooks/types.js";
import type { ThinkingLevel } from "../log/entry.js";
import type { CommandUI } from "./command-ui.js";
import type { CommandCompaction, CompactionTokens, CompactionTrial } from "./compaction.js";
import type { Inspector } from "./inspection.js";
import type {
	BranchRow,
	CommandModels,
	CommandSessions,
	CommandSettings,
	CommandTools,
	PickerShell,
	ScreenFacts,
} from "./pickers.js";

/** Numbers that `/session` and RPC report. */
export interface SessionStats {
	sessionFile: string | null;
	sessionId: string;
	userMessages: number;
	assistantMessages: number;
	toolCalls: number;
	toolResults: number;
	totalMessages: number;
	tokens: { input: number; output: number; cacheRead: number; cacheWrite: number; total: number };
	/** US dollars. */
	cost: number;
}

/** A user message that a branch can start from. */
export interface BranchTarget {
	entryIndex: number;
	text: string;
}

/** A provider as `/login` offers it. */
export interface LoginOption {
	provider: string;
	/** `login`: through the provider's web site; `key`: an API key is pasted. */
	kind: "login" | "key";
	/** What a person calls it. */
	name: string;
	/** Where a key is known from; absent when none is. */
	source?: string;
}

/** How a login through a web site asks and tells. */
export interface LoginDialogs {
	/** Shows an address to open, and what to do there. */
	onAddress(url: string, instructions?: string): void;
	ask(message: string, placeholder?: string): Promise<string | null>;
	choose(message: string, options: { label: string; value: string }[]): Promise<string | null>;
	onProgress(message: string): void;
}

/** Keys and logins, as commands see them. */
export interface CommandAccounts {
	/** Web logins first, then every provider that takes a key. */
	choices(): Promise<LoginOption[]>;
	/** Keeps a key. @throws PiError `config_write_failed` */
	saveKey(provider: string, key: string): Promise<void>;
	/** Logs in through the provider's web site. @throws PiError `command_failed` when that fails or is cancelled */
	login(provider: string, dialogs: LoginDialogs, signal: AbortSignal): Promise<void>;
	/** Providers with a key or login that pi keeps. */
	stored(): string[];
	/** Forgets a key or login. @returns false when there was none */
	remove(provider: string): Promise<boolean>;
}

/** What the user has said of the project's own code, as `/trust` shows and changes it. */
export interface CommandTrust {
	/** The project's files and what is trusted of them, as lines of text. */
	describe(): Promise<string[]>;
	/** The next reload shows the code and asks, also when it is trusted. */
	askAgain(): void;
	/** Forgets what was trusted; what is loaded stays so until the next reload. @returns false when nothing was */
	forget(): Promise<boolean>;
}

/** The narrow view that commands have of their session. The session implements it. */
export interface CommandHost {
	readonly cwd: string;
	readonly sessionFile: string | null;
	readonly sessionName: string | null;
	readonly model: Model<Api> | null;
	readonly thinkingLevel: ThinkingLevel;
	readonly autoCompaction: boolean;
	readonly accounts: CommandAccounts;
	/** Absent where there is no project to decide about. */
	readonly trust?: CommandTrust;
	readonly models: CommandModels;
	availableModels(): Promise<Model<Api>[]>;
	setModel(model: Model<Api>): Promise<void>;
	setThinkingLevel(level: ThinkingLevel): void;
	setAutoCompaction(enabled: boolean): void;
	setName(name: string): void;
	stats(): SessionStats;
	readonly sessions: CommandSessions;
	readonly tools: CommandTools;
	readonly settings: CommandSettings;
	/** @returns false when a hook cancelled it */
	newSession(): Promise<boolean>;
	/** Opens another session, or a copy of one that another pi has open. @returns false when a hook cancelled it */
	switchSession(path: string, how?: { copy?: boolean }): Promise<boolean>;
	branchTargets(): BranchTarget[];
	/** The same messages with what a branch from each leaves behind, oldest first. */
	branchRows(): Promise<BranchRow[]>;
	/** @returns the text of the message that was branched from, or null when a hook cancelled it */
	branch(entryIndex: number): Promise<string | null>;
	readonly compaction: CommandCompaction;
	reload(): Promise<string>;
	/** Writes the session as HTML. @returns the absolute path */
	exportHtml(path?: string): Promise<string>;
	/** Text of the last finished assistant message. */
	lastAssistantText(): string | null;
	/** What is in the next request, or in the context at an entry, as lines of text. */
	describeContext(at?: number | null): Promise<string[]>;
	describeHooks(): string[];
	readonly inspector: Inspector;
	/** Writes what helps to find a fault. @returns the absolute path @throws PiError `config_write_failed` */
	writeDebugReport(screen: ScreenFacts | null): Promise<string>;
	/** Every command, for `/help`. */
	commands(): PaletteItem[];
}

/** What only a screen can do. Absent in print, JSON and RPC mode: commands that need it say so. */
export interface CommandShell extends PickerShell {
	copy(text: string): Promise<void>;
	setEditorText(text: string): void;
	/** Asks for a text that does not show while it is typed. @returns null when cancelled */
	secret(title: string): Promise<string | null>;
	quit(): void;
	/** Key bindings, by the part of the screen that they belong to. */
	hotkeys(): [keys: string, description: string, scope?: string][];
	/** Reads the user's keys anew and tells what is wrong with them. */
	reloadKeys?(): void;
	/** Shows lines above the editor, once; the transcript keeps them. */
	show(title: string, lines: readonly string[]): void;
	/** Opens the panel on the next request, or on the context at an entry. Resolves when it is closed. */
	openContext?(inspector: Inspector, at: number | null, signal: AbortSignal): Promise<void>;
	/** Shows what a compaction would do and the summary as it is drafted; the user accepts it or not. @returns null when nothing was written */
	openCompaction?(trial: CompactionTrial): Promise<CompactionTokens | null>;
	/** Opens the panel on the hooks. @returns what the user asks for in it; null when it was just closed */
	openHooks?(inspector: Inspector, signal: AbortSignal): Promise<"reload" | null>;
	/** Ends this shell and begins the demo; absent in the demo itself. */
	startDemo?(): void;
	/** Absent where there are no colours to choose. */
	readonly themes?: CommandThemes;
}

/** The screen's colours. */
export interface CommandThemes {
	/** Names that `use` takes, and what each is. */
	list(): { name: string; description: string }[];
	/** Draws in a theme and keeps the choice. @returns a line that says so @throws PiError `bad_arguments` */
	use(name: string): Promise<string>;
	/** Shows the themes, each on the screen as it is selected. @returns null when cancelled, with the screen as before */
	choose(signal: AbortSignal): Promise<string | null>;
}

/** All that a built-in command may touch. */
export interface BuiltinCommandContext {
	session: CommandHost;
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
	argumentHint?: string;
	complete?(
		prefix: string,
		session: CommandHost,
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
	/** Where it comes from: `built-in`, `hook stack`, `prompt`, `skill`. */
	origin: string;
}
