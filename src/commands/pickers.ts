import type { Api, Model } from "@mariozechner/pi-ai";
import type { KeyState } from "../config/credentials.js";
import type { ResolvedModel } from "../config/models.js";
import type { SettingsStore } from "../config/settings-store.js";
import type { SearchHit } from "../log/search.js";
import type { SessionSummary } from "../log/session-summary.js";

/** A model as it is offered. */
export interface ModelOffer {
	model: Model<Api>;
	key: KeyState;
}

/** The models that can be named, as commands see them. */
export interface CommandModels {
	/** Every model that is known now, by provider. */
	offers(): ModelOffer[];
	keyState(provider: string): KeyState;
	/** Looks for servers on this machine; theirs are among the offers afterwards. @returns whether there are any */
	findLocal(signal?: AbortSignal): Promise<boolean>;
	/**
	 * The model that a user means, as on the command line.
	 * @throws PiError `model_unknown` with the nearest names
	 */
	resolve(spec: string): Promise<ResolvedModel>;
}

/** What a picker of models starts from. */
export interface ModelQuestion {
	models: CommandModels;
	current: Model<Api> | null;
}

/** `here`: the sessions of this directory; `all`: those of every directory. */
export type SessionScope = "here" | "all";

/** The sessions on disk, as commands see them. */
export interface CommandSessions {
	/** Path of the session that is open; null in memory. */
	readonly current: string | null;
	/** Where the open session works. */
	readonly cwd: string;
	/** Whether a pi has a session open, this one included. */
	isOpen(path: string): boolean;
	/** Gives the sessions of one directory after the other, newest first in each; this directory first. */
	list(scope: SessionScope, signal?: AbortSignal): AsyncIterable<readonly SessionSummary[]>;
	/** Searches the whole text of sessions; gives the first place in each as soon as it is found. */
	search(text: string, scope: SessionScope, signal: AbortSignal): AsyncIterable<SearchHit>;
	/**
	 * Deletes a session's file.
	 * @throws PiError `log_locked` for one that is open here or in another pi; `log_write_failed`
	 */
	remove(path: string): void;
	/** Names a session. @throws PiError `log_locked` for one that another pi has open; `log_write_failed` */
	rename(path: string, name: string): Promise<void>;
}

/** A tool of the session. */
export interface ToolStatus {
	name: string;
	description: string;
	/** `built-in`, the path of the file that it is from, or `given` for one that the program handed in. */
	source: string;
	isOn: boolean;
}

/** The tools of the session, as commands see them. */
export interface CommandTools {
	/** In the order in which the model is told of them. */
	list(): ToolStatus[];
	/** Turns a tool on or off from the next request on, until the session ends. @throws PiError `tool_unknown` */
	setEnabled(name: string, isOn: boolean): void;
}

/** A message of the user that a branch can start from, and what such a branch leaves behind. */
export interface BranchRow {
	entryIndex: number;
	text: string;
	/** ms since the epoch. */
	at: number;
	/** Messages that follow this one. */
	messagesAfter: number;
	/** Tokens from this message on, as estimated. */
	tokensAfter: number;
	/** False when the model does not see it any more. */
	isInContext: boolean;
}

/** The settings, as commands see them. */
export type CommandSettings = Pick<SettingsStore, "list" | "set">;

/** Something to read, a row each; choosing a row that has an insert puts that into the editor. */
export interface ListPage {
	title: string;
	rows: readonly { label: string; text: string; origin?: string; insert?: string }[];
}

/** Markdown to read. */
export interface TextPage {
	title: string;
	text: string;
}

/** What is on the screen, and on what. */
export interface ScreenFacts {
	columns: number;
	rows: number;
	/** What the terminal says of itself: names and values of variables. */
	terminal: Readonly<Record<string, string>>;
	/** As drawn, styles included. */
	lines: readonly string[];
}

/**
 * What only a screen can let a user choose from. All are absent where a command prints or asks by itself. Each promise
 * resolves once, when the picker is closed: with null when nothing was chosen, also when the signal closes it.
 */
export interface PickerShell {
	pickModel?(question: ModelQuestion, signal: AbortSignal): Promise<ResolvedModel | null>;
	/** @returns the path of a session to open */
	pickSession?(sessions: CommandSessions, signal: AbortSignal): Promise<string | null>;
	/** @returns the entry index of a row */
	pickBranch?(rows: readonly BranchRow[], signal: AbortSignal): Promise<number | null>;
	/** Shows the tools and turns them off and on. Resolves when it is closed. */
	openTools?(tools: CommandTools, signal: AbortSignal): Promise<void>;
	/** Shows the settings and changes them. Resolves when it is closed. */
	openSettings?(settings: CommandSettings, signal: AbortSignal): Promise<void>;
	/** Shows a text over the editor. Resolves when it is closed. */
	showText?(page: TextPage, signal: AbortSignal): Promise<void>;
	/** The screen as it is. */
	screen?(): ScreenFacts;
	/** Shows rows over the editor. @returns what the chosen one inserts; null when there is none */
	showList?(page: ListPage, signal: AbortSignal): Promise<string | null>;
}
