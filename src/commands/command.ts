import type { Api, Model } from "@mariozechner/pi-ai";
import type { CommandResult, CompletionItem, HookUI } from "../hooks/types.js";
import type { ThinkingLevel } from "../log/entry.js";
import type { SessionSummary } from "../log/session-summary.js";

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

/** The narrow view that commands have of their session. The session implements it. */
export interface CommandHost {
	readonly cwd: string;
	readonly sessionFile: string | null;
	readonly sessionName: string | null;
	readonly model: Model<Api> | null;
	readonly thinkingLevel: ThinkingLevel;
	readonly autoCompaction: boolean;
	allModels(): Promise<Model<Api>[]>;
	availableModels(): Promise<Model<Api>[]>;
	setModel(model: Model<Api>): Promise<void>;
	setThinkingLevel(level: ThinkingLevel): void;
	setAutoCompaction(enabled: boolean): void;
	setName(name: string): void;
	stats(): SessionStats;
	listSessions(): Promise<SessionSummary[]>;
	/** @returns false when a hook cancelled it */
	newSession(): Promise<boolean>;
	switchSession(path: string): Promise<boolean>;
	branchTargets(): BranchTarget[];
	/** @returns the text of the message that was branched from, or null when a hook cancelled it */
	branch(entryIndex: number): Promise<string | null>;
	/** @returns tokens before and after, as estimated */
	compact(focus: string | undefined, signal: AbortSignal): Promise<{ tokensBefore: number; tokensAfter: number }>;
	reload(): Promise<string>;
	/** Writes the session as HTML. @returns the absolute path */
	exportHtml(path?: string): Promise<string>;
	/** Text of the last finished assistant message. */
	lastAssistantText(): string | null;
	/** What is loaded and in the context, as lines of text. */
	describeContext(): string[];
	describeHooks(): string[];
	/** Every command, for `/help`. */
	commands(): PaletteItem[];
}

/** What only a screen can do. Absent in print, JSON and RPC mode: commands that need it say so. */
export interface CommandShell {
	copy(text: string): Promise<void>;
	setEditorText(text: string): void;
	quit(): void;
	/** Key bindings as `[keys, what they do]`. */
	hotkeys(): [string, string][];
	/** Shows lines above the editor, once; the transcript keeps them. */
	show(title: string, lines: readonly string[]): void;
	toggleTheme?(name: string): boolean;
}

/** All that a built-in command may touch. */
export interface BuiltinCommandContext {
	session: CommandHost;
	ui: HookUI;
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
	complete?(prefix: string, session: CommandHost): CompletionItem[] | Promise<CompletionItem[]>;
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
