import type { Api, Model } from "@mariozechner/pi-ai";
import type { Environment } from "../config/paths.js";
import type { SettingsFile } from "../config/settings-schema.js";
import type { SettingsStore } from "../config/settings-store.js";
import type { ReadFlags } from "../hooks/flags.js";
import type { GrantAnswer, GrantRequest } from "../hooks/granted-handles.js";
import type { HookFactory, SessionHandle } from "../hooks/types.js";
import type { HandlerWatch } from "../hooks/watchdog.js";
import type { ThinkingLevel } from "../log/entry.js";
import type { FindLocalOptions } from "../models/local-servers.js";
import type { ToolHost } from "../tools/machine/machine.js";
import type { AnyTool } from "../tools/tool.js";
import type { TrustAnswer } from "../trust/gate.js";
import type { ProjectSet } from "../trust/store.js";
import type { ModelClient } from "./service-types.js";

/** Which log a session uses. */
export type SessionChoice =
	| { kind: "new" }
	/**
	 * The session of this directory that was used last; a new one when none exists. Unless
	 * `printed` is true, sessions that only `pi -p` and JSON mode used follow all others. With it, as `pi -p` sets it, a latest
	 * session that another process has open is the error `log_locked`; otherwise an earlier one is continued, with a warning.
	 */
	| { kind: "continue"; printed?: boolean }
	/**
	 * The session of this directory with exactly this name that was used last; a new one of this name when none exists. One that
	 * another process has open is the error `log_locked`.
	 */
	| { kind: "named"; name: string }
	/** A path, which need not exist yet, an id or the start of one. With `copy` the session continues in a new file with all its entries. */
	| { kind: "open"; target: string; copy?: boolean }
	/** A saved session that another process may have open. Whatever would write to it fails with `log_read_only`. */
	| { kind: "read"; target: string }
	/** Keeps the entries in memory. */
	| { kind: "memory" };

/** Options of a session. Omitted ones are discovered on this machine. */
export interface CreateAgentSessionOptions {
	/** Working directory. Default: that of the process. */
	cwd?: string;
	/**
	 * Environment variables with keys, proxies and the agent directory. Default: those of the process, which shell commands get
	 * in any case.
	 */
	env?: Environment;
	home?: string;
	/**
	 * The machine on which tools and `!` commands work; the session records it as `on`. The caller disposes of it. Default: that
	 * of `on`, or this one.
	 */
	host?: ToolHost;
	/**
	 * Names a host that a hook provides, such as `ssh://build-01/src`; `local`: this machine. Default: that of the opened
	 * session, else the setting `on`.
	 */
	on?: string;
	/** Directory of settings, keys, models, hooks and sessions. Default: `PI_CODING_AGENT_DIR` of `env`, or `~/.pi/agent`. */
	agentDir?: string;
	/**
	 * Settings for this session, as in settings.json; they override those of the files. Or a store that other code also
	 * uses.
	 */
	settings?: SettingsFile | SettingsStore;
	session?: SessionChoice;
	sessionDir?: string;
	/** `provider/id`, an id or part of one, with an optional thinking level such as `:high`; or a model. */
	model?: string | Model<Api>;
	provider?: string;
	/** Patterns of the models that Ctrl+P cycles through. */
	models?: readonly string[];
	apiKey?: string;
	thinkingLevel?: ThinkingLevel;
	/** Receives a line that says which providers pi waits for, if it has to ask them for `model` and that takes a while. */
	onWait?(line: string): void;
	/** Names of built-in tools; default: all. */
	tools?: readonly string[];
	/** Tool files to load along with the discovered ones. */
	customTools?: readonly string[];
	/** Tools to add, whatever `tools` names. They replace built-in tools of the same name; those of hooks replace them. */
	extraTools?: readonly AnyTool[];
	/** Use the MCP servers of mcp.json and, once trusted, of the project. Default true. */
	mcp?: boolean;
	/** Files like mcp.json to use along with the discovered ones; absolute. */
	mcpFiles?: readonly string[];
	/** MCP servers by name, as in mcp.json. */
	mcpServers?: Readonly<Record<string, unknown>>;
	/** Use no MCP servers on other machines. */
	offline?: boolean;
	/**
	 * Hooks to load after the discovered ones, in this order: files, bundled hooks as `pi:name`, and functions, which may use
	 * every handle. A function is called again at each reload; `inline:` and its name are its path in messages.
	 */
	hooks?: readonly (string | HookFactory)[];
	/** Extensions to load after the discovered ones and `hooks`: files, or directories with a package.json or an index file. */
	extensions?: readonly string[];
	/** Packages for this session, as sources: `npm:name@version`, `git:url@ref` or a directory. */
	packages?: readonly string[];
	discoverHooks?: boolean;
	/** Reads the flags that hooks declare. Without it, each has its default. */
	readFlags?: ReadFlags;
	/** Load the bundled hooks that are on. Default: like `discoverHooks`. */
	bundledHooks?: boolean;
	/**
	 * True: a file of `hooks`, `extensions`, `customTools`, `skills` or `mcpFiles` that cannot be used is an error,
	 * `bad_arguments`, and the session does not start. Default: it becomes a warning.
	 */
	requireNamed?: boolean;
	contextFiles?: boolean;
	skills?: readonly string[];
	discoverSkills?: boolean;
	systemPrompt?: string;
	appendSystemPrompt?: string;
	/** True runs the project's own code in this session, false does not. Default: `askTrust` and earlier answers decide. */
	trust?: boolean;
	/** True: errors of hooks carry their stack trace. */
	verbose?: boolean;
	/** Asks whether the project's own code may run. Without it, only trusted code runs. */
	askTrust?(set: ProjectSet): Promise<TrustAnswer>;
	/** Asks whether a hook gets a handle it requires. Without it, hooks get only what the settings grant. */
	askGrant?(request: GrantRequest): Promise<GrantAnswer>;
	/**
	 * `ctx.session` of a hook: the session becomes a sub-session. Other options default to those of the parent, its cost
	 * counts as cost of the parent, and its file is in a directory next to the parent's file.
	 */
	parent?: SessionHandle;
	/**
	 * Only with `parent`: forks it. The session begins with this number of entries of the parent; `ctx.entries.length` for all.
	 * Its requests begin with the bytes of the parent's last request before them, so that the provider's cache has them: with the
	 * recorded system prompt and tools, and the same model, thinking level and cache key, unless other options change them.
	 */
	from?: number;
	/** Watches running hook handlers. It ends the process when one hangs, which SDK users may not want. */
	watch?: HandlerWatch;
	/** Ports of local model servers, and how long to wait for an answer. Default: the addresses of `env`. */
	localServers?: Pick<FindLocalOptions, "ports" | "timeoutMs">;
	client?: ModelClient;
	/** Models to add to those of pi-ai and models.json. */
	extraModels?: readonly Model<Api>[];
}
