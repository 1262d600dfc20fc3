/** The command of pi that runs instead, or what to do. */
type ForeignName = { command: string } | { hint: string };

/**
 * Names of commands in other agents. A command of a hook, prompt, skill or server with the same name takes precedence.
 */
export const FOREIGN_NAMES: ReadonlyMap<string, ForeignName> = new Map<string, ForeignName>([
	...same("branch", "fork"),
	...same("compact", "summarize"),
	...same("hotkeys", "keybindings", "keys", "shortcuts"),
	...same("model", "models"),
	...same("name", "rename", "title"),
	...same("resume", "continue", "history", "sessions"),
	...same("session", "stats", "status"),
	...same("settings", "config"),
	...same("thinking", "effort", "think"),
	...same("usage", "cost"),
	...hint(
		"/rewind restores files from before a turn, with the hook git-checkpoint on in /hooks; /pop replaces turns by a summary",
		"undo",
	),
	...hint("!git diff shows the changes", "diff"),
	...hint("ask the model to write AGENTS.md, which pi reads at each start", "init"),
	...hint("pi reads AGENTS.md of the project and of its agent directory at each start; /context lists them", "memory"),
	...hint("ctrl+g opens your editor for the prompt", "vim"),
	...hint("/debug writes a report; pi doctor checks the installation", "bug", "doctor", "feedback"),
	...hint("the hooks permissions and permission-gate in /hooks ask before tools run", "allow", "approvals"),
]);

function same(command: string, ...names: string[]): [string, { command: string }][] {
	return names.map((name) => [name, { command }]);
}

function hint(text: string, ...names: string[]): [string, { hint: string }][] {
	return names.map((name) => [name, { hint: text }]);
}
