import type { Api, Model } from "@mariozechner/pi-ai";
import type { SettingPath } from "../config/settings-schema.js";
import type { SettingsStore } from "../config/settings-store.js";
import type { SelectOption } from "../hooks/types.js";
import type { SearchHit } from "../log/search.js";
import type { SessionSummary } from "../log/session-summary.js";
import type { KeyState } from "../models/credentials.js";
import type { ResolvedModel } from "../models/models.js";
import type { NewServer } from "../models/update/add-server.js";
import type { JobStatus } from "../tools/job-status.js";

/** A model that the user can choose. */
export interface ModelOffer {
	model: Model<Api>;
	key: KeyState;
	/** False when the price of the model is unknown. */
	isPriced: boolean;
	/** What provides the model if it is not pi or models.json: `hook corp`. */
	source?: string;
}

/** Progress of an update: the number of providers that have not answered yet. */
export interface ModelUpdateStep {
	left: number;
}

/** The list of models and how to update it. */
export interface ModelUpdates {
	/** `list of 22 Sep`, or `updated 3 days ago · anthropic failed`. */
	age(): string;
	/**
	 * Asks the providers with keys for their models. The result is known to the next `offers`.
	 * @returns what is new and which providers failed, as one line
	 * @throws PiError `command_failed` offline and without a key, `config_write_failed`
	 */
	update(onStep: (step: ModelUpdateStep) => void, signal: AbortSignal): Promise<string>;
	/**
	 * Updates if the settings ask for it: the providers that answered more than a week ago, and those that failed more than a day
	 * ago. Never throws.
	 */
	updateWeekly(signal: AbortSignal): Promise<void>;
	/**
	 * Adds a server that speaks OpenAI's format, with the models that it lists or the one that is named, to models.json. The next
	 * `offers` have them.
	 * @returns the name of its provider
	 * @throws PiError `command_failed` offline and without a list, unless a model is named, `bad_arguments`, `config_invalid`, `config_write_failed`
	 */
	addServer(server: NewServer, signal: AbortSignal): Promise<string>;
	/** The result of `updateWeekly`, for the debug report; null if no update was due. */
	readonly weekly: string | null;
}

/** How a search for a model that no list has is followed. */
export interface ModelAsking {
	signal?: AbortSignal | undefined;
	/** Receives a line that says which providers pi waits for, if that takes a while. */
	onWait?: ((line: string) => void) | undefined;
	/** Tells how to list all models. Default: on the command line. */
	listHint?: string | undefined;
}

/** The known models, for commands. */
export interface CommandModels {
	/** Absent if the list cannot change, as in tests. */
	updates?: ModelUpdates;
	/** Every known model, grouped by provider. */
	offers(): ModelOffer[];
	keyState(provider: string): KeyState;
	/** The model that pi chooses for a provider: the same after a login as with the provider's key in the environment. */
	bestOf(provider: string): Model<Api> | undefined;
	/** Searches for servers on this machine and adds their models to the offers. @returns whether it found any */
	findLocal(signal?: AbortSignal): Promise<boolean>;
	/**
	 * Resolves a model name as the command line does.
	 * @throws PiError `model_unknown` with the nearest names, and the reason of `signal`
	 */
	resolve(spec: string, asking?: ModelAsking): Promise<ResolvedModel>;
}

/** Input of the model picker. */
export interface ModelQuestion {
	models: CommandModels;
	current: Model<Api> | null;
}

/** `here`: the sessions of this directory; `all`: those of every directory; `elsewhere`: those of other programs in this directory. */
export type SessionScope = "here" | "all" | "elsewhere";

/** The saved sessions, for commands. */
export interface CommandSessions {
	/** Path of the open session; null for a session in memory. */
	readonly current: string | null;
	/** Working directory of the open session. */
	readonly cwd: string;
	/** Whether any pi has a session open, including this one. */
	isOpen(path: string): boolean;
	/** Yields the sessions of one directory after another, each newest first; this directory comes first. */
	list(scope: SessionScope, signal?: AbortSignal): AsyncIterable<readonly SessionSummary[]>;
	/**
	 * The session of a listed path: a session of another program is imported, unless it was before.
	 * @returns its path, and what the import says about it
	 * @throws PiError `log_not_found`, `log_not_a_session`, `file_unreadable`, `log_write_failed`
	 */
	adopt(path: string): Promise<{ path: string; note?: string }>;
	/** What each session cost, in US dollars, by its id: those with a known price. */
	costs(signal: AbortSignal): Promise<ReadonlyMap<string, number>>;
	/** Searches the complete text of sessions, except those of other programs; yields the first match of each as soon as it is found. */
	search(text: string, scope: SessionScope, signal: AbortSignal): AsyncIterable<SearchHit>;
	/**
	 * Moves a session's file to the trash of the system. @returns null, or the reason why it is not possible
	 * @throws PiError `log_locked` when a pi, even this one, has it open
	 */
	trash(path: string): Promise<string | null>;
	/** Deletes a session's file for good. @throws PiError `log_locked` when a pi, even this one, has it open; `log_write_failed` */
	remove(path: string): void;
	/** Renames a session. @throws PiError `log_locked` when another pi has it open; `log_write_failed` */
	rename(path: string, name: string): Promise<void>;
}

/** A tool of the session. */
export interface ToolStatus {
	name: string;
	description: string;
	/** The JSON Schema of its arguments. */
	parameters: object;
	/** `built-in`, the path of its file or hook, `MCP server <name>`, or `SDK` for a tool passed in by an SDK program. */
	source: string;
	/** True if it is used instead of the built-in tool of this name. */
	replacesBuiltin: boolean;
	isOn: boolean;
}

/** The tools of the session, for commands. */
export interface CommandTools {
	/** In the order of the request. */
	list(): ToolStatus[];
	/** Enables or disables a tool from the next request until the session ends. @throws PiError `tool_unknown` */
	setEnabled(name: string, isOn: boolean): void;
}

/** The background commands of the session, for commands. */
export interface CommandJobs {
	/** Oldest first. */
	list(): JobStatus[];
	/** The last lines of a command's output, as plain text; empty for an unknown id. */
	lastLines(id: string, count: number): string[];
	/** Ends a command and all processes it started. Resolves when they have ended. */
	stop(id: string): Promise<void>;
}

/** A user message that a branch can start from, and what the branch would drop. */
export interface BranchRow {
	entryIndex: number;
	text: string;
	/** ms since the epoch. */
	at: number;
	/** Number of messages after this one. */
	messagesAfter: number;
	/** Estimated tokens from this message to the end. */
	tokensAfter: number;
	/** False when the message is hidden from the model. */
	isInContext: boolean;
}

/** The settings, for commands. */
export type CommandSettings = Pick<SettingsStore, "list" | "set">;

/** A value of a setting; undefined removes the setting. */
export interface SettingChoice {
	label: string;
	value: unknown;
	description?: string;
}

/** The settings with their possible values. `set` refuses a value that cannot work, such as a shell that does not exist. */
export interface EditableSettings extends CommandSettings {
	/** The values to choose from; null when the user types the value. */
	choices(path: SettingPath): readonly SettingChoice[] | null;
}

/** A list of rows to read. Choosing a row with `insert` puts that text into the editor. */
export interface ListPage {
	title: string;
	rows: readonly { label: string; text: string; origin?: string; insert?: string }[];
}

/** A list whose rows change while it is open. */
export interface LiveList {
	title: string;
	/** The rows now. A row is known by its value. */
	rows(): readonly SelectOption<string>[];
}

/** A Markdown page. */
export interface TextPage {
	title: string;
	text: string;
}

/** Content of the screen and properties of the terminal. */
export interface ScreenFacts {
	columns: number;
	rows: number;
	/** Environment variables that describe the terminal. */
	terminal: Readonly<Record<string, string>>;
	/** As drawn, including styles. */
	lines: readonly string[];
}

/**
 * Dialogs of the interactive mode; without them, commands print or ask in their own way. Each promise resolves once, when
 * the dialog closes, with null when nothing was chosen or the signal closed it.
 */
export interface PickerShell {
	pickModel?(question: ModelQuestion, signal: AbortSignal): Promise<ResolvedModel | null>;
	/** @returns the path of a session to open */
	pickSession?(sessions: CommandSessions, signal: AbortSignal): Promise<string | null>;
	/** @returns the entry index of a row */
	pickBranch?(rows: readonly BranchRow[], signal: AbortSignal): Promise<number | null>;
	/** Shows the tools to enable and disable them. Resolves when it closes. */
	openTools?(tools: CommandTools, signal: AbortSignal): Promise<void>;
	/** Shows the settings to change them. Resolves when it closes. */
	openSettings?(settings: EditableSettings, signal: AbortSignal): Promise<void>;
	/** @returns the value of the chosen row */
	pickLive?(list: LiveList, signal: AbortSignal): Promise<string | null>;
	/** Shows a page instead of the editor. Resolves when it closes. */
	showText?(page: TextPage, signal: AbortSignal): Promise<void>;
	/** The current screen. */
	screen?(): ScreenFacts;
	/** Shows rows instead of the editor. @returns `insert` of the chosen row, or null */
	showList?(page: ListPage, signal: AbortSignal): Promise<string | null>;
}
