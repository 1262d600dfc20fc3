import type { SetupProgram } from "../imports/setup/setup-item.js";

export const PACKAGE_COMMANDS = ["install", "list", "update", "remove"] as const;
/** The first words that are subcommands. */
export const SUBCOMMAND_NAMES = [
	"hooks",
	"context",
	"sessions",
	"usage",
	"models",
	"mcp",
	"import",
	"doctor",
	...PACKAGE_COMMANDS,
] as const;
export const MODEL_ACTIONS = ["list", "show", "update"] as const;
export const MCP_ACTIONS = ["list", "add", "remove"] as const;
/** The actions of `pi sessions`. */
export const SESSION_ACTIONS = ["list", "show", "search", "check", "repair", "import", "export"] as const;
export const SETUP_NAMES = ["claude", "codex", "opencode"] as const satisfies readonly SetupProgram[];
export const HOOK_ACTIONS = ["list", "new", "check", "test", "trust", "untrust"] as const;

/** The actions of the subcommands that have some. */
export const SUBCOMMAND_ACTIONS: Readonly<Record<string, readonly string[]>> = {
	context: ["bench"],
	hooks: HOOK_ACTIONS,
	import: SETUP_NAMES,
	mcp: MCP_ACTIONS,
	models: MODEL_ACTIONS,
	sessions: SESSION_ACTIONS,
};

export type SubcommandName = (typeof SUBCOMMAND_NAMES)[number];

/** True for a first argument that names a subcommand. */
export function isSubcommandName(word: string): word is SubcommandName {
	return SUBCOMMAND_NAMES.some((name) => name === word);
}
