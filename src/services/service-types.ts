import type { Api, AssistantMessage, Model } from "@mariozechner/pi-ai";
import type { StreamFunction } from "../agent/stream.js";
import type { ArgumentValidator } from "../agent/tool-calls.js";
import type { CommandAccounts, CommandTrust, SlashCommand } from "../commands/command.js";
import type { CommandModels, CommandTools } from "../commands/pickers.js";
import type { Environment } from "../config/paths.js";
import type { SettingsStore } from "../config/settings-store.js";
import type { CorePreamble } from "../context/preamble.js";
import type { PiError } from "../errors.js";
import type { DiscoveredHooks } from "../hooks/discover.js";
import type { ReadFlags } from "../hooks/flags.js";
import type { ResourcePaths } from "../hooks/hook-resources.js";
import type { BuiltinHook, FoundHooks } from "../hooks/load.js";
import type { HookProvider } from "../hooks/providers.js";
import type { ConfigFile } from "../hooks/types.js";
import type { HandlerWatch } from "../hooks/watchdog.js";
import type { ThinkingLevel } from "../log/entry.js";
import type { SessionLog } from "../log/session-log.js";
import type { RequestAuth } from "../models/credentials.js";
import type { Network } from "../network/network.js";
import type { ContextFile } from "../resources/context-files.js";
import type { PromptTemplate } from "../resources/prompt-templates.js";
import type { Skill } from "../resources/skills.js";
import type { ToolHost } from "../tools/machine/machine.js";
import type { AnyTool } from "../tools/tool.js";
import type { AcceptedCode } from "../trust/gate.js";
import type { HookGrants } from "./code/hook-grants.js";
import type { McpFiles } from "./code/mcp-files.js";
import type { AcceptedPackages, PackageFile } from "./code/package-code.js";
import type { SessionTools } from "./code/session-tools.js";
import type { LoggedMachine, SessionMachine } from "./machine/session-machine.js";

/** The models that a session can use, and their credentials. @internal */
export interface SessionModels {
	find(provider: string, id: string): Model<Api> | null;
	/**
	 * A model that the settings or a session name. One that pi's list lacks has the facts of its nearest relative.
	 * @param needsKey null without a key for its provider. Default: false
	 */
	findUsed(provider: string, id: string, needsKey?: boolean): Model<Api> | null;
	/** A model of a provider with a key; one that pi's list lacks has the facts of its nearest relative. */
	findWithKey(provider: string, id: string): Promise<Model<Api> | null>;
	/** Models with a known key. */
	available(): Promise<Model<Api>[]>;
	/** Models that Ctrl+P cycles through: those of `--models`, else the recent ones of providers with a key. */
	cycle(): Promise<Model<Api>[]>;
	resolveApiKey(model: Pick<Model<Api>, "provider">): Promise<string | undefined>;
	/** @throws PiError `key_missing` */
	requestAuth(model: Model<Api>): Promise<RequestAuth>;
	/** Searches the local servers if the model is one that only they can offer and is unknown. */
	searchServer(used: { provider: string; id: string }): Promise<void>;
	/** Lets a local server load a model, if the next request would, and asks it what the model offers. */
	load(model: Model<Api>, signal: AbortSignal): Promise<void>;
	/** Asks the local server of a model again what the model offers; other models do not change. */
	refresh(model: Model<Api>): Promise<void>;
	/** Names a model that is not available anymore, and the one used now. */
	describeReplaced(used: { provider: string; id: string }, by: Model<Api> | null): string;
	/** The error for a model whose hook is not loaded anymore; null if the model is available. */
	describeUnloaded(model: Model<Api>): PiError | null;
	/** The error for a session without a model, with the next step. */
	describeMissingModel(): PiError;
}

/** Prompt templates, skills and context files of a session. */
export interface SessionResources {
	templates: readonly PromptTemplate[];
	skills: readonly Skill[];
	/** Paths of AGENTS.md and similar files. */
	contextFiles: readonly string[];
	/** Problems of skills and templates that are used nevertheless, one line each. */
	remarks: readonly string[];
}

/** The interface to pi-ai, which is loaded late. Tests and the demo pass their own. */
export interface ModelClient {
	stream: StreamFunction;
	/** Loads what checks the arguments of tool calls. */
	validator(): Promise<ArgumentValidator>;
	/** True when the model refused a request as too long. */
	isOverflow(message: AssistantMessage, contextWindow: number): boolean;
	/** The nearest level that a model supports. */
	clampThinkingLevel(model: Model<Api>, level: ThinkingLevel): ThinkingLevel;
	/** Loads the code for requests to a model; call before `stream`. @throws PiError `package_missing` */
	prepare(model: Model<Api>): Promise<void>;
	/** Releases the resources that the client holds for a session. */
	release(sessionId: string): void;
}

/** What a sub-session shares with the session that started it. @internal */
export interface SessionParent {
	/** The project's code that may run; null for none. */
	readonly acceptedCode: AcceptedCode | null;
	/** The files of packages that may be used. */
	readonly acceptedPackages: AcceptedPackages | null;
	readonly keyOverride: KeyOverride | null;
	/** Decides whether more may be spent. */
	readonly budget: { ask(signal: AbortSignal): Promise<string | null>; isExceeded(): Promise<boolean> };
	/** A client that also records the usage of its requests in the log of the parent. */
	meter(client: ModelClient): ModelClient;
}

/** The entries with which a forked sub-session begins. @internal */
export interface ForkedLog {
	/** Copies them. @param dir for the file; null: into memory @throws PiError `log_write_failed` */
	openLog(dir: string | null): SessionLog;
}

/** A key that replaces those of the user for one provider, as `--api-key` does. */
export interface KeyOverride {
	provider: string;
	key: string;
}

/** What is on this machine's disk: the log of the session, the settings, and where things are. @internal */
export interface Store {
	/** The working directory on this machine. */
	cwd: string;
	/** The log to begin with. */
	log: SessionLog;
	/** True if the log was copied from another for this session. */
	isCopy: boolean;
	settings: SettingsStore;
	/** The agent directory. */
	agentDir: string;
	hookCacheDir: string;
	/** The file that remembers the models of directories. */
	lastModels: string;
	/** A private directory for long outputs. */
	tmpDir: string;
	/** Directory of new sessions; null keeps them in memory. */
	sessionDir: string | null;
	/** Directory of the saved sessions of the working directory, also when new ones are kept in memory. */
	savedSessionsDir: string;
	/** Holds one directory of sessions per working directory. */
	sessionsRoot: string;
	/** The file with what is known of the usage of sessions. */
	usageIndex: string;
}

/** Model and thinking level of a session whose log does not record them. */
export interface SessionDefaults {
	model: Model<Api> | null;
	thinkingLevel: ThinkingLevel;
	/** Values that the user chose explicitly: they override the log. */
	chosen?: { model: boolean; thinkingLevel: boolean };
}

/** The models of the session, their keys, the choice among them, and the client that sends requests to them. @internal */
export interface Models {
	readonly list: SessionModels;
	/** The models as commands offer them. */
	readonly offers: CommandModels;
	readonly accounts: CommandAccounts;
	client: ModelClient;
	/** The choice to begin with. */
	defaults: SessionDefaults;
	readonly keyOverride: KeyOverride | null;
	/** The model to start with, by the current files; null for none. */
	findDefault(): Promise<Model<Api> | null>;
	/**
	 * Chooses the model again, once the hooks have loaded; null if no hook can add models.
	 * @param isNew whether hooks have added providers; if not, the first choice is kept
	 * @throws PiError `model_unknown`
	 */
	late: ((isNew: boolean) => Promise<SessionDefaults & { warnings: string[] }>) | null;
	/**
	 * Replaces the providers of hooks. Their models can be found and called at once; their keys and `available` wait for
	 * what is read. @returns a line for each new problem
	 */
	useProviders(providers: readonly HookProvider[]): Promise<string[]>;
	/** Calls code of a hook: the requests that it sends with pi-ai are of this session. */
	enterHooks<T>(action: () => T): T;
	/** Releases the providers of hooks, at the end of the session. */
	endProviders(): void;
	/** Reads models and keys again. A broken file keeps its last good state. @returns a line for each problem */
	reread(): Promise<string[]>;
	/** Number of models with a known key, local ones excluded. */
	count(): number;
	/** Replaces known keys in text that leaves the program. */
	redact(text: string): string;
}

/** Hooks, tools, packages and MCP servers: found, trusted, and turned on or off. @internal */
export interface Code {
	readonly tools: readonly AnyTool[];
	/** Turns tools off and on, and receives the tools of hooks. */
	toolSwitch: CommandTools & Pick<SessionTools, "setActive" | "useHooks" | "useServers" | "checkNames">;
	/** Reads the user's own tools again. @returns a line for each problem */
	rereadTools(): Promise<string[]>;
	/** True if a file of a hook or tool was added, changed or removed since they were loaded. */
	hasChanged(): boolean;
	/** Finds the hook files that may run, in load order. Called again at each reload. */
	findHooks(): Promise<FoundHooks>;
	/** The hook file at a path of the user's settings. */
	locateHook(path: string): DiscoveredHooks;
	/** Reads the flags of hooks on the command line, with every change of their registrations. Absent: none are given. */
	readFlags?: ReadFlags;
	/** False when bundled hooks are not part of the session, as with `--no-hooks`. */
	bundledHooks: boolean;
	/** Whether a hook that was named for this session and cannot be used is an error. */
	requireNamed: boolean;
	/** The user's decision on the project's own code. */
	trust: CommandTrust;
	/** True if questions about code can be answered while the session starts. */
	asksAboutCode: boolean;
	/** Features written as hooks; they load before the hook files. */
	readonly builtinHooks: readonly BuiltinHook[];
	/** The project's code that may run; null for none. */
	acceptedCode(): AcceptedCode | null;
	/** The files of packages that may be used; null before they were found, and without packages. */
	acceptedPackages(): AcceptedPackages | null;
	/** See `HookEventContext.configFiles`. */
	configFiles(folder: string): ConfigFile[];
	/** Handles that the user grants to hooks. */
	grants: Pick<HookGrants, "of" | "request">;
	/** With `--verbose`: errors of hooks carry their stack trace. */
	verbose: boolean;
	/** Watches running handlers. */
	watch?: HandlerWatch;
	builtins: readonly SlashCommand[];
	/** The files that define MCP servers. */
	mcp: Pick<McpFiles, "sources">;
	/** What MCP servers need of this machine. */
	mcpContext: {
		env: Environment;
		network: Network;
		cwd: string;
		home: string;
		/** True: no requests to other machines, except those to the model. */
		isOffline: boolean;
		/** Path of auth.json, where logins to servers are kept. */
		authFile: string;
		/** Names of the tools that the user chose; undefined: all. */
		toolNames: readonly string[] | undefined;
	};
}

/** Finds context files below the working directory. `ResourceFiles` implements it. */
export interface NestedFileFinder {
	/** Changes when the user or a switch of the session has all files read again. */
	readonly generation: number;
	/** As `findNestedContextFiles`. */
	findNested(paths: readonly string[]): Promise<{ files: ContextFile[]; warnings: string[] }>;
}

/** Context files, skills, prompts and themes, and the system prompt made from them. @internal */
export interface Resources {
	readonly current: SessionResources;
	/**
	 * System prompt and tools of a request before hooks: without tools if the model cannot call them. The same object until
	 * they change.
	 */
	preamble(model: Model<Api> | null): CorePreamble;
	/** Replaces the skills, prompts and themes of hooks. @returns a line for each problem of theirs */
	useHooks(paths: ResourcePaths): Promise<string[]>;
	/** Themes of packages and hooks: the path to show and that of the file to read. */
	themes(): readonly PackageFile[];
	/** The prompt of a skill, which is read now. @throws PiError `file_unreadable` */
	readSkill(skill: Skill, rest: string): Promise<string>;
	/** Reads the files of the project again, as the connected sandbox shows them. Nothing without one. */
	enterSandbox(): Promise<void>;
	/** Reads everything again. A broken file keeps its last good state. @returns a line for each problem */
	reread(): Promise<string[]>;
	/** Finds context files below the working directory. */
	nestedFiles: NestedFileFinder;
}

/** The machine on which tools and `!` commands work. @internal */
export interface Machine extends Pick<SessionMachine, "connect" | "prepare" | "recorded" | "dispose"> {
	readonly host: ToolHost;
	/**
	 * The machine that a log names last; null if it names none.
	 * @param source the file with its entries: of a copy, the original; null for a log in memory
	 */
	loggedMachine(log: SessionLog, source: string | null): LoggedMachine | null;
}

/** What a session consists of before it starts. None of these knows a later one. @internal */
export interface SessionServices {
	store: Store;
	models: Models;
	code: Code;
	resources: Resources;
	machine: Machine;
}

/** @returns the session's model @throws PiError `model_missing` @internal */
export function requireModel({ list }: Models, { model }: { readonly model: Model<Api> | null }): Model<Api> {
	if (!model) throw list.describeMissingModel();
	const unloaded = list.describeUnloaded(model);
	if (unloaded) throw unloaded;
	return model;
}
