import type { JsonObject } from "../../config/json-file.js";

/** Programs whose configuration pi can take over. */
export const SETUP_PROGRAMS = ["claude", "codex", "opencode"] as const;
export type SetupProgram = (typeof SETUP_PROGRAMS)[number];

/** Where the configuration of another program is, and where that of pi is. */
export interface SetupPlace {
	cwd: string;
	home: string;
	env: Readonly<Record<string, string | undefined>>;
	/** Directories of pi: that of the user, and `.pi` of the project. */
	agentDir: string;
	projectDir: string;
	/** Names of pi's commands. */
	commands: ReadonlySet<string>;
}

export type SetupScope = "user" | "project";
export type SetupKind = "command" | "agent" | "skill" | "MCP server" | "memory" | "hooks" | "permissions" | "other";

/** A change of pi's configuration. */
export type SetupChange =
	/** A new file. */
	| { type: "file"; path: string; bytes: Buffer; isExecutable?: boolean }
	/** A server in an mcp.json. */
	| { type: "server"; path: string; name: string; server: JsonObject }
	/** A bundled hook in the user's settings. */
	| { type: "hook"; name: string };

/** Something that another program has. */
export interface SetupItem {
	kind: SetupKind;
	scope: SetupScope;
	name: string;
	/** The file that defines it. */
	source: string;
	/** What it becomes; empty: it has no counterpart. */
	changes: readonly SetupChange[];
	/** What differs in pi, or why it has no counterpart; null for nothing. */
	note: string | null;
}

/** One that has no counterpart. */
export function withoutCounterpart(item: Omit<SetupItem, "changes" | "note">, reason: string): SetupItem {
	return { ...item, changes: [], note: reason };
}
