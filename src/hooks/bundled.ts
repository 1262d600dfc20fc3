/** What bundled hooks are for, in the order of lists. */
export const HOOK_GROUPS = ["context", "guards", "model", "git", "prompts", "screen", "machines"] as const;

/** What a bundled hook is for. */
export type HookGroup = (typeof HOOK_GROUPS)[number];

/** A hook of hooks-examples/. pi contains all of them and loads those that are on. */
export interface BundledHook {
	name: string;
	group: HookGroup;
	/** One line for lists. */
	description: string;
	/** Names of its commands, without the slash: known before it is loaded. */
	commands: readonly string[];
	/** True if it is on unless the user turns it off. */
	isDefault?: boolean;
	/** Schemes of the hosts that it provides: it is on while one of them is used. */
	hosts?: readonly string[];
	/** Hooks of one family are presets of one hook: of those that are on, the first works for all of them. */
	family?: string;
	/** Types of the entries that it saves, known before it is loaded. */
	entryTypes?: readonly string[];
	/** Its `context` handler changes nothing as long as the session has no entry of these types. */
	contextTypes?: readonly string[];
	/** Imports the module. */
	load(): Promise<{ default: unknown }>;
}

/** What the presets of the guard have in common. */
const GUARD = {
	commands: ["permissions", "mode", "plan"],
	family: "permissions",
	entryTypes: ["permission_mode", "plan_mode"],
	contextTypes: ["permission_mode", "plan_mode"],
} as const;

/** All bundled hooks in the order in which they run, which is that of a hooks directory. */
export const BUNDLED_HOOKS: readonly BundledHook[] = [
	{
		name: "agents",
		group: "model",
		description: "lets the model start sub-agents",
		commands: ["agents"],
		entryTypes: ["agent_session"],
		load: () => import("#hooks-examples/agents"),
	},
	{
		name: "aside",
		group: "model",
		description: "/aside answers a question without adding to the session",
		commands: ["aside"],
		load: () => import("#hooks-examples/aside"),
	},
	{
		name: "auto-commit",
		group: "git",
		description: "commits the changes of a session when you leave it",
		commands: ["auto-commit"],
		entryTypes: ["auto_commit_mode"],
		load: () => import("#hooks-examples/auto-commit"),
	},
	{
		name: "batch",
		group: "model",
		description: "lets the model run several tools with one call",
		commands: [],
		load: () => import("#hooks-examples/batch"),
	},
	{
		name: "claude-hooks",
		group: "guards",
		description: "runs hooks of Claude Code, after pi import claude",
		commands: [],
		load: () => import("#hooks-examples/claude-hooks"),
	},
	{
		name: "clear",
		group: "context",
		description: "clears old tool results when that saves money",
		commands: ["cleared"],
		entryTypes: ["clear"],
		contextTypes: ["clear"],
		load: () => import("#hooks-examples/clear"),
	},
	{
		name: "commit-compact",
		group: "context",
		description: "compacts a large context after a commit",
		commands: [],
		load: () => import("#hooks-examples/commit-compact"),
	},
	{
		name: "confirm-destructive",
		group: "guards",
		description: "asks when you leave a session with uncommitted changes",
		commands: [],
		load: () => import("#hooks-examples/confirm-destructive"),
	},
	{
		name: "containers",
		group: "machines",
		description: "runs tools in a running container, with --on",
		commands: [],
		hosts: ["docker", "podman", "kubectl"],
		load: () => import("#hooks-examples/containers"),
	},
	{
		name: "custom-compaction",
		group: "context",
		description: "lets a cheaper model write compaction summaries",
		commands: ["compact-with"],
		entryTypes: ["compaction_model"],
		load: () => import("#hooks-examples/custom-compaction"),
	},
	{
		name: "dedupe",
		group: "context",
		description: "keeps only the latest of repeated reads and searches",
		commands: ["deduped"],
		entryTypes: ["dedupe"],
		contextTypes: ["dedupe"],
		load: () => import("#hooks-examples/dedupe"),
	},
	{
		name: "describe-images",
		group: "context",
		description: "lets another model describe images",
		commands: [],
		entryTypes: ["describe-images:description"],
		load: () => import("#hooks-examples/describe-images"),
	},
	{
		name: "diagnostics",
		group: "model",
		description: "adds findings of type checker and linter to edits",
		commands: [],
		load: () => import("#hooks-examples/diagnostics"),
	},
	{
		name: "dirty-repo-guard",
		group: "guards",
		description: "asks once before changes to a dirty work tree",
		commands: [],
		load: () => import("#hooks-examples/dirty-repo-guard"),
	},
	{
		name: "distill",
		group: "context",
		description: "lets a cheap model rewrite tool results as notes",
		commands: ["distilled"],
		entryTypes: ["distill"],
		contextTypes: ["distill"],
		load: () => import("#hooks-examples/distill"),
	},
	{
		name: "file-trigger",
		group: "prompts",
		description: "sends the text that another program writes to a file",
		commands: [],
		load: () => import("#hooks-examples/file-trigger"),
	},
	{
		name: "fold",
		group: "context",
		description: "replaces a range of turns with a summary",
		commands: ["fold", "unfold"],
		isDefault: true,
		entryTypes: ["fold", "fold_undo"],
		contextTypes: ["fold"],
		load: () => import("#hooks-examples/fold"),
	},
	{
		name: "git-checkpoint",
		group: "git",
		description: "saves the files at each turn and restores them",
		commands: ["rewind"],
		entryTypes: ["git_checkpoint", "git_rewind"],
		load: () => import("#hooks-examples/git-checkpoint"),
	},
	{
		name: "git-context",
		group: "git",
		description: "completes commits after ^ and inserts changed files",
		commands: ["changes"],
		load: () => import("#hooks-examples/git-context"),
	},
	{
		name: "handoff",
		group: "context",
		description: "continues in a new session with a summary",
		commands: ["handoff"],
		load: () => import("#hooks-examples/handoff"),
	},
	{
		name: "hide",
		group: "context",
		description: "/hide takes the work of turns out of the context",
		commands: ["hide", "unhide"],
		entryTypes: ["hide", "unhide"],
		load: () => import("#hooks-examples/hide"),
	},
	{
		name: "idle-compact",
		group: "context",
		description: "compacts before the provider forgets a long context",
		commands: [],
		entryTypes: ["idle_compact"],
		load: () => import("#hooks-examples/idle-compact"),
	},
	{
		name: "macros",
		group: "prompts",
		description: "expands :name: in prompts and shell commands",
		commands: [],
		load: () => import("#hooks-examples/macros"),
	},
	{
		name: "model-by-cost",
		group: "model",
		description: "offers a cheaper model at a budget or rate limit",
		commands: ["cheaper"],
		load: () => import("#hooks-examples/model-by-cost"),
	},
	{
		name: "notes",
		group: "context",
		description: "keeps what the model notes on a project",
		commands: ["notes"],
		entryTypes: ["note", "note_undo", "notes_shown"],
		contextTypes: ["notes_shown"],
		load: () => import("#hooks-examples/notes"),
	},
	{
		name: "past-sessions",
		group: "context",
		description: "lets the model search earlier sessions of the project",
		commands: [],
		load: () => import("#hooks-examples/past-sessions"),
	},
	{
		name: "permission-gate",
		group: "guards",
		description: "asks before each command that is not clearly harmless",
		...GUARD,
		load: () => import("#hooks-examples/permission-gate"),
	},
	{
		name: "permissions",
		group: "guards",
		description: "asks before everything but reading, by your rules",
		...GUARD,
		load: () => import("#hooks-examples/permissions"),
	},
	{
		name: "pin",
		group: "context",
		description: "keeps a turn verbatim when the session is compacted",
		commands: ["pin", "unpin"],
		isDefault: true,
		entryTypes: ["pin", "unpin"],
		contextTypes: ["pin"],
		load: () => import("#hooks-examples/pin"),
	},
	{
		name: "plan-mode",
		group: "model",
		description: "lets the model plan first and change files later",
		...GUARD,
		load: () => import("#hooks-examples/plan-mode"),
	},
	{
		name: "pr",
		group: "git",
		description: "lets the agent describe the branch as a pull request",
		commands: ["pr"],
		load: () => import("#hooks-examples/pr"),
	},
	{
		name: "protected-paths",
		group: "guards",
		description: "blocks writes to .env, .git and node_modules, unasked",
		...GUARD,
		load: () => import("#hooks-examples/protected-paths"),
	},
	{
		name: "question",
		group: "model",
		description: "lets the model ask you questions",
		commands: [],
		load: () => import("#hooks-examples/question"),
	},
	{
		name: "quiet-screen",
		group: "screen",
		description: "shows a screen with less on it",
		commands: ["quiet"],
		load: () => import("#hooks-examples/quiet-screen"),
	},
	{
		name: "recall",
		group: "context",
		description: "lets the model read what has left its context",
		commands: [],
		load: () => import("#hooks-examples/recall"),
	},
	{
		name: "redact",
		group: "guards",
		description: "masks secrets in tool results",
		commands: [],
		load: () => import("#hooks-examples/redact"),
	},
	{
		name: "sandbox",
		group: "machines",
		description: "runs tools and commands in a sandbox with --on sandbox:",
		commands: [],
		hosts: ["sandbox"],
		load: () => import("#hooks-examples/sandbox"),
	},
	{
		name: "server-clear",
		group: "context",
		description: "lets Claude clear old tool results on its side",
		commands: [],
		load: () => import("#hooks-examples/server-clear"),
	},
	{
		name: "snake",
		group: "screen",
		description: "a game for the time in which the agent works",
		commands: ["snake"],
		load: () => import("#hooks-examples/snake"),
	},
	{
		name: "ssh",
		group: "machines",
		description: "runs tools on another machine, with --on ssh:",
		commands: [],
		hosts: ["ssh"],
		load: () => import("#hooks-examples/ssh"),
	},
	{
		name: "stack",
		group: "context",
		description: "lets the model keep only the result of a part of its work",
		commands: [],
		entryTypes: ["stack_push"],
		load: () => import("#hooks-examples/stack"),
	},
	{
		name: "stacking",
		group: "context",
		description: "replaces work since a turn with a summary",
		commands: ["pop", "unpop"],
		isDefault: true,
		entryTypes: ["stack_pop", "stack_unpop"],
		contextTypes: ["stack_pop"],
		load: () => import("#hooks-examples/stacking"),
	},
	{
		name: "status-line",
		group: "screen",
		description: "shows branch, cost, rate limit and model in one line",
		commands: [],
		load: () => import("#hooks-examples/status-line"),
	},
	{
		name: "task-reminder",
		group: "context",
		description: "reminds the model of its task every ten requests",
		commands: ["task"],
		entryTypes: ["task_reminder_task"],
		load: () => import("#hooks-examples/task-reminder"),
	},
	{
		name: "test-command",
		group: "model",
		description: "runs the tests and sends failures to the agent",
		commands: ["test"],
		load: () => import("#hooks-examples/test-command"),
	},
	{
		name: "toolbox",
		group: "context",
		description: "--toolbox a,b: tools that the model gets when it asks",
		commands: [],
		entryTypes: ["toolbox_opened"],
		load: () => import("#hooks-examples/toolbox"),
	},
	{
		name: "web",
		group: "model",
		description: "lets the model read web pages",
		commands: [],
		load: () => import("#hooks-examples/web"),
	},
	{
		name: "webhook",
		group: "prompts",
		description: "opens a local port for prompts",
		commands: ["webhook"],
		load: () => import("#hooks-examples/webhook"),
	},
];
