import type { JsonObject } from "../config/json-file.js";
import type { Environment } from "../config/paths.js";
import type { SettingsStore } from "../config/settings-store.js";
import type { ExportFormat } from "../export/formats.js";
import type { ReadFlags } from "../hooks/flags.js";
import type { SetupProgram } from "../imports/setup/setup-item.js";
import type { ThinkingLevel } from "../log/entry.js";
import type { RunLimits } from "../modes/run-limits.js";
import type { UsageGrouping } from "../usage/usage-report.js";

/** Which hooks to load. */
export interface HookOptions {
	/** Files of `--hook`. */
	hooks: string[];
	/** Values of `--extension`: files, directories and sources of packages; absent: none. */
	extensions?: string[];
	/** False with `--no-hooks`. */
	findHooks: boolean;
	trust: boolean;
}

/** The parsed command line of a session. Paths and names are not resolved yet. */
export interface CliOptions extends HookOptions {
	provider?: string;
	model?: string;
	/** Patterns of `--models`. */
	models?: string[];
	apiKey?: string;
	thinking?: ThinkingLevel;
	print: boolean;
	/** Line-by-line output for screen readers and dumb terminals. */
	plain: boolean;
	/** `acp`: the subcommand of this name. */
	mode?: "text" | "json" | "rpc" | "acp";
	/** `pi acp --login`: open pi in the terminal to log in. */
	login?: true;
	continue: boolean;
	resume: boolean;
	/** Name of the session to continue, or to begin. */
	resumeOrNew?: string;
	/** Path or id. */
	session?: string;
	/** False with `--no-session`. */
	keepSession: boolean;
	sessionDir?: string;
	/** A text, or the path of a file that contains it. */
	systemPrompt?: string;
	/** Texts or paths, in order. */
	appendSystemPrompt: string[];
	/** Names of `--tools`; empty with `--no-tools`; absent: all. */
	tools?: string[];
	/** Files of `--tool`. */
	customTools: string[];
	/** Paths of `--skill`. */
	skills: string[];
	/** False with `--no-skills`. */
	findSkills: boolean;
	/** False with `--no-context-files`. */
	contextFiles: boolean;
	/** Files of `--mcp`. */
	mcpFiles: string[];
	/** False with `--no-mcp`. */
	mcp: boolean;
	/** Spec of the machine on which tools work. */
	on?: string;
	offline: boolean;
	/** What a run without a screen may take. */
	limits?: RunLimits;
	/** JSON Schema of the answer: a text that begins with a brace, or the path of a file. */
	outputSchema?: string;
	/** Without `out`, pi chooses the file name. */
	export?: { file: string; out?: string };
	/** Search text; empty: the available models. */
	listModels?: string;
	demo: boolean;
	verbose: boolean;
	/** `@file` arguments without the `@`. */
	files: string[];
	messages: string[];
	/** Set if the arguments contain flags that only hooks can declare: `files` and `messages` may then include their values. */
	hookFlags?: HookFlags;
}

/** Flags on a command line that pi does not know, so that a hook may declare them. */
export interface HookFlags {
	/** Reads the values of the declared flags. Called when the hooks have loaded, and when they change. */
	readonly read: ReadFlags;
	/** Files and messages without the values of flags; final once the hooks have loaded. */
	words(): Pick<CliOptions, "files" | "messages">;
}

/** Options that every subcommand accepts. */
export interface SubcommandOptions extends HookOptions {
	/** Path or id. */
	session?: string;
	sessionDir?: string;
	offline: boolean;
	verbose: boolean;
	/** Print JSON. */
	json: boolean;
	/** Set if options are unknown that hooks may declare. */
	readFlags?: ReadFlags;
}

/** A subcommand and its operands. */
export type Subcommand =
	| { name: "hooks"; action: "list" | "trust" | "untrust" }
	/** `more`: further hooks; `types`: also run TypeScript. */
	| { name: "hooks"; action: "check"; target: string; more?: readonly string[]; types?: boolean }
	/** `runs`: commands to run at the end, such as `/budget 200`. */
	| { name: "hooks"; action: "test"; target: string; runs?: readonly string[] }
	/** `target`: name of the hook; `inProject`: create it in `.pi/hooks`; `asPackage`: `target` is a directory for a package. */
	| { name: "hooks"; action: "new"; target: string; inProject: boolean; asPackage?: boolean }
	/** `at`: entry index to show the context at; `verify`: recompute every request; `without`: hooks to exclude. */
	| { name: "context"; at?: number; verify: boolean; without?: readonly string[] }
	| BenchSubcommand
	| SessionsSubcommand
	/** `days`: only the last days, today included; null: all. */
	| { name: "usage"; by: UsageGrouping; days: number | null }
	/** `source`: absent to install what is missing; `local`: in this project. */
	| { name: "install"; source?: string; local: boolean }
	| { name: "list" }
	/** Without `package`: all. */
	| { name: "update"; package?: string; local: boolean }
	| { name: "remove"; package: string; local: boolean }
	| ModelsSubcommand
	| McpSubcommand
	/** `yes`: takes over everything without a question. */
	| { name: "import"; program: SetupProgram; yes: boolean }
	| { name: "doctor" };

/** `pi context bench`. */
export interface BenchSubcommand {
	name: "bench";
	/** Hooks joined with `+`, or `none`. */
	strategies: readonly string[];
	/** `last:20`, ids, files and directories; empty: the default. */
	sessions: readonly string[];
	/** `provider/id`: computes all requests with its prices and window. */
	model?: string;
	/** File for the page. */
	html?: string;
	/** Limits such as `cost > +5%`. */
	failIf: readonly string[];
	/** Index of a reply: prints the request that it answers under each strategy, instead of the figures. */
	show?: number;
	/** Asks models for summaries, and what hooks ask them. */
	ask?: boolean;
}

/** `pi models`. */
export type ModelsSubcommand =
	| { name: "models"; action: "list"; search: string }
	/** `model`: `provider/id`. */
	| { name: "models"; action: "show"; model: string }
	/** `providers`: absent: all with a key. */
	| { name: "models"; action: "update"; providers?: readonly string[] };

/** `pi mcp`. `inProject`: .pi/mcp.json instead of the user's. */
export type McpSubcommand =
	| { name: "mcp"; action: "list" }
	/** `definition`: as in mcp.json; `check`: starts the server once. */
	| {
			name: "mcp";
			action: "add";
			server: string;
			definition: JsonObject;
			inProject: boolean;
			replace: boolean;
			check: boolean;
	  }
	| { name: "mcp"; action: "remove"; server: string; inProject: boolean };

/** `pi sessions`. `all`: the sessions of all directories. */
export type SessionsSubcommand =
	| { name: "sessions"; action: "list"; search?: string; all?: true }
	| { name: "sessions"; action: "show" | "repair"; target: string; all?: true }
	| { name: "sessions"; action: "search"; text: string; all?: true }
	/** Without `target`: every session. */
	| { name: "sessions"; action: "check"; target?: string; all?: true }
	/** `target`: a file, a directory or the start of an id; none lists what is there. */
	| { name: "sessions"; action: "export"; target: string; out?: string; format?: ExportFormat; all?: true }
	| { name: "sessions"; action: "import"; target?: string; from?: string; list: boolean; again: boolean };

/** A parsed command line. */
export type ParsedArguments =
	/**
	 * `topic`: the words of a subcommand; absent: the help of pi. `hooks`: whose flags to list; absent for subcommands.
	 */
	| { kind: "help"; topic?: readonly string[]; hooks?: HookOptions }
	| { kind: "version" }
	| { kind: "session"; options: CliOptions }
	| { kind: "subcommand"; command: Subcommand; options: SubcommandOptions };

/** Whether the command line asks for print or JSON mode, which run without a person. */
export function isHeadless({ print, mode }: Pick<CliOptions, "print" | "mode">): boolean {
	return mode === undefined ? print : mode === "text" || mode === "json";
}

/** Environment of a command line, read once at the start. */
export interface CliContext {
	env: Environment;
	home: string;
	cwd: string;
	settings: SettingsStore;
}

/** Options of an empty command line, so that it does not load the parser. */
export const NO_ARGUMENTS: CliOptions = {
	print: false,
	plain: false,
	continue: false,
	resume: false,
	keepSession: true,
	appendSystemPrompt: [],
	customTools: [],
	hooks: [],
	findHooks: true,
	skills: [],
	findSkills: true,
	contextFiles: true,
	mcpFiles: [],
	mcp: true,
	trust: false,
	offline: false,
	demo: false,
	verbose: false,
	files: [],
	messages: [],
};
