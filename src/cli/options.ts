import type { Environment } from "../config/paths.js";
import type { SettingsStore } from "../config/settings-store.js";
import type { ThinkingLevel } from "../log/entry.js";

/** The command line of a session, as it was written. Nothing is looked up yet. */
export interface CliOptions {
	provider?: string;
	model?: string;
	/** Patterns of `--models`. */
	models?: string[];
	apiKey?: string;
	thinking?: ThinkingLevel;
	print: boolean;
	/** A talk in lines, for screen readers and terminals that cannot do more. */
	plain: boolean;
	mode?: "text" | "json" | "rpc";
	continue: boolean;
	resume: boolean;
	/** Path or id. */
	session?: string;
	/** False with `--no-session`. */
	keepSession: boolean;
	sessionDir?: string;
	/** Text, or path of a file with it. */
	systemPrompt?: string;
	/** Texts or paths, in order. */
	appendSystemPrompt: string[];
	/** Names of `--tools`; empty with `--no-tools`; absent: all. */
	tools?: string[];
	/** Files of `--tool`. */
	customTools: string[];
	/** Files of `--hook`. */
	hooks: string[];
	/** False with `--no-hooks`. */
	findHooks: boolean;
	/** Paths of `--skill`. */
	skills: string[];
	/** False with `--no-skills`. */
	findSkills: boolean;
	/** False with `--no-context-files`. */
	contextFiles: boolean;
	trust: boolean;
	offline: boolean;
	/** `out` is absent when pi shall choose a name. */
	export?: { file: string; out?: string };
	/** Search text; empty lists all. */
	listModels?: string;
	demo: boolean;
	verbose: boolean;
	/** `@file` arguments without the `@`. */
	files: string[];
	messages: string[];
}

/** Options that every sub-command takes. */
export interface SubcommandOptions {
	/** Path or id. */
	session?: string;
	sessionDir?: string;
	hooks: string[];
	findHooks: boolean;
	trust: boolean;
	offline: boolean;
	verbose: boolean;
	/** Print JSON. */
	json: boolean;
}

/** A sub-command and what it works on. */
export type Subcommand =
	| { name: "hooks"; action: "list" | "trust" | "untrust" }
	| { name: "hooks"; action: "check" | "test"; target: string }
	/** `target`: the hook's name; `inProject`: into `.pi/hooks`. */
	| { name: "hooks"; action: "new"; target: string; inProject: boolean }
	/** `at`: entry index to show the context at; `verify`: recompute every request; `without`: hooks to leave out. */
	| { name: "context"; at?: number; verify: boolean; without?: readonly string[] }
	| { name: "sessions"; action: "list"; search?: string }
	| { name: "sessions"; action: "show"; target: string }
	| { name: "doctor" };

/** What a command line asks for. */
export type ParsedArguments =
	| { kind: "help" }
	| { kind: "version" }
	| { kind: "session"; options: CliOptions }
	| { kind: "subcommand"; command: Subcommand; options: SubcommandOptions };

/** The environment of a command line: read once, by main.ts. */
export interface CliContext {
	env: Environment;
	home: string;
	cwd: string;
	settings: SettingsStore;
}

/** What an empty command line asks for: known without the parser, which takes a while to load. */
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
	trust: false,
	offline: false,
	demo: false,
	verbose: false,
	files: [],
	messages: [],
};
