import type { Api, AssistantMessage, Model } from "@mariozechner/pi-ai";
import type { StreamFunction } from "../agent/stream.js";
import type { ArgumentValidator } from "../agent/tool-calls.js";
import type { CommandAccounts, CommandTrust, SlashCommand } from "../commands/command.js";
import type { RequestPreamble } from "../commands/inspection.js";
import type { CommandModels, CommandTools } from "../commands/pickers.js";
import type { RequestAuth } from "../config/credentials.js";
import type { SettingsStore } from "../config/settings-store.js";
import type { BuiltContext } from "../context/context-message.js";
import type { PiError } from "../errors.js";
import type { BuiltinHook, FoundHooks } from "../hooks/load.js";
import type { HookRunner } from "../hooks/runner.js";
import type { HandlerWatch } from "../hooks/watchdog.js";
import type { SessionEntry, ThinkingLevel } from "../log/entry.js";
import type { SessionLog } from "../log/session-log.js";
import type { PromptTemplate } from "../resources/prompt-templates.js";
import type { Skill } from "../resources/skills.js";
import type { AnyTool } from "../tools/tool.js";
import type { SessionActivity } from "./activity.js";
import type { AgentSessionEvent } from "./events.js";
import type { HookGrants } from "./hook-grants.js";
import type { SessionContext } from "./session-context.js";
import type { SessionDefaults, SessionState } from "./session-state.js";

/** The models that a session can use, and how to reach them. */
export interface SessionModels {
	find(provider: string, id: string): Model<Api> | null;
	/** Those for which a key is known. */
	available(): Promise<Model<Api>[]>;
	/** Those that Ctrl+P goes through: what `--models` names, else all available. */
	cycle(): Promise<Model<Api>[]>;
	resolveApiKey(model: Model<Api>): Promise<string | undefined>;
	/** @throws PiError `key_missing` */
	requestAuth(model: Model<Api>): Promise<RequestAuth>;
	/** Why there is no model at all, and what to do. */
	describeMissingModel(): PiError;
}

/** What was found for a session besides its log. */
export interface SessionResources {
	templates: readonly PromptTemplate[];
	skills: readonly Skill[];
	/** Paths of AGENTS.md and the like. */
	contextFiles: readonly string[];
}

/** What the model client offers; loaded late, handed in so that tests and the demo can bring their own. */
export interface ModelClient {
	stream: StreamFunction;
	validate: ArgumentValidator;
	/** True when the model refused a request as too long. */
	isOverflow(message: AssistantMessage, contextWindow: number): boolean;
	/** The nearest level that a model knows. */
	clampThinkingLevel(model: Model<Api>, level: ThinkingLevel): ThinkingLevel;
	/** Loads what requests to a model need; call before `stream`. */
	prepare(model: Model<Api>): Promise<void>;
	/** Lets go of what the client keeps open for a session. */
	release(sessionId: string): void;
}

/** Everything a session is made of. `create-session.ts` brings it together. */
export interface SessionSetup {
	cwd: string;
	log: SessionLog;
	settings: SettingsStore;
	/** The user's own directory. */
	agentDir: string;
	defaults: SessionDefaults;
	models: SessionModels;
	/** The models as commands offer them. */
	offers: CommandModels;
	accounts: CommandAccounts;
	client: ModelClient;
	tools: readonly AnyTool[];
	/** Turns tools off and on. */
	toolSwitch: CommandTools;
	/** Runs the user's `!` commands, also when the model has no bash tool. */
	bashTool: AnyTool;
	/** What goes with every request; the same object for as long as it stays the same. */
	preamble: RequestPreamble;
	resources: SessionResources;
	/** Hook files in load order, as far as they may run. Called again at each reload. */
	findHooks(): Promise<FoundHooks>;
	/** The user's word on the project's own code. */
	trust: CommandTrust;
	/** Features that are written as hooks; they load before the files. */
	builtinHooks: readonly BuiltinHook[];
	/** What the user lets hooks do beyond what every hook may. */
	grants: Pick<HookGrants, "of" | "request">;
	/** Watches over handlers while they run. */
	watch?: HandlerWatch;
	hookCacheDir: string;
	/** A private directory for long outputs. */
	tmpDir: string;
	/** Where new sessions go; null keeps them in memory. */
	sessionDir: string | null;
	/** Holds one directory of sessions per working directory. */
	sessionsRoot: string;
	builtins: readonly SlashCommand[];
	/** Replaces known keys in text that leaves the program. */
	redact(text: string): string;
	/** What went wrong on the way here, one line each. */
	warnings: readonly string[];
}

/** The components and functions that most parts of a session work with. */
export interface SessionCore {
	setup: SessionSetup;
	activity: SessionActivity;
	state: SessionState;
	context: SessionContext;
	/** The runner of the hooks loaded now. */
	hooks(): HookRunner;
	/** Computes a context apart from the session's own: records no figures and reports nothing. */
	tryContext(entries: readonly SessionEntry[], signal: AbortSignal): Promise<BuiltContext>;
	emit(event: AgentSessionEvent): void;
	/** Aborted when the session ends. */
	ended: AbortSignal;
}

/** @returns the session's model @throws PiError `model_missing` */
export function requireModel({ models }: SessionSetup, { model }: { readonly model: Model<Api> | null }): Model<Api> {
	if (!model) throw models.describeMissingModel();
	return model;
}
