import {
	type Keybinding,
	type KeybindingDefinition,
	type KeybindingDefinitions,
	TUI_KEYBINDINGS,
} from "@mariozechner/pi-tui";

/** pi's own actions with their default keys, by scope. pi-tui's editor adds more. */
const PI_ACTIONS = {
	editor: {
		"app.abort": { defaultKeys: "escape", description: "Stop the run; twice: branch" },
		"app.interrupt": { defaultKeys: "ctrl+c", description: "Clear the editor, or stop the run; twice: quit" },
		"app.exit": { defaultKeys: "ctrl+d", description: "Quit when the editor is empty; ask while something runs" },
		"app.suspend": { defaultKeys: "ctrl+z", description: "Suspend; fg resumes" },
		"app.help": { defaultKeys: "?", description: "Show help when the editor is empty" },
		"app.model": { defaultKeys: "ctrl+l", description: "Choose the model" },
		"app.modelNext": { defaultKeys: "ctrl+p", description: "Next model" },
		"app.modelPrevious": { defaultKeys: "shift+ctrl+p", description: "Previous model" },
		"app.mode": { defaultKeys: "shift+tab", description: "Next mode" },
		"app.thinkingLevel": { defaultKeys: "alt+t", description: "Next thinking level" },
		"app.toggleThinking": { defaultKeys: "ctrl+t", description: "Show or hide thinking" },
		"app.externalEditor": { defaultKeys: "ctrl+g", description: "Write the prompt in your editor" },
		"app.followUp": { defaultKeys: "alt+enter", description: "Send after the run" },
		"app.editQueue": { defaultKeys: "alt+up", description: "Edit the prompt that was queued last" },
		"app.background": { defaultKeys: "ctrl+b", description: "Move the running command to the background" },
		"app.previousPrompt": { defaultKeys: "alt+u", description: "Go to your last prompt in the transcript" },
		"app.redo": { defaultKeys: ["alt+z", "shift+ctrl+z"], description: "Redo" },
		"app.searchHistory": { defaultKeys: "ctrl+r", description: "Search earlier prompts" },
		"app.pasteImage": { defaultKeys: "ctrl+v", description: "Paste an image" },
	},
	vim: {
		"vim.normal": { defaultKeys: "escape", description: "Normal mode" },
		"vim.oneCommand": { defaultKeys: "ctrl+o", description: "Run one normal command" },
		"vim.redo": { defaultKeys: "ctrl+r", description: "Redo" },
		"vim.deleteWord": { defaultKeys: "ctrl+w", description: "Delete word backward" },
		"vim.deleteLine": { defaultKeys: "ctrl+u", description: "Delete to line start" },
	},
	everywhere: {
		"app.transcript": { defaultKeys: "ctrl+o", description: "Read and search the complete transcript" },
	},
	completions: {},
	dialog: {
		"dialog.accept": { defaultKeys: "enter", description: "Accept" },
		"dialog.cancel": { defaultKeys: ["escape", "ctrl+c"], description: "Cancel" },
		"dialog.up": { defaultKeys: ["up", "ctrl+p"], description: "Up" },
		"dialog.down": { defaultKeys: ["down", "ctrl+n"], description: "Down" },
		"dialog.pageUp": { defaultKeys: "pageUp", description: "Page up" },
		"dialog.pageDown": { defaultKeys: "pageDown", description: "Page down" },
		"dialog.top": { defaultKeys: "home", description: "Go to the start" },
		"dialog.bottom": { defaultKeys: "end", description: "Go to the end" },
	},
	toggle: {
		"dialog.toggle": { defaultKeys: "space", description: "Turn on or off, or choose the next value" },
	},
	list: {
		"dialog.scope": { defaultKeys: "tab", description: "Switch between this directory, all, and other programs" },
		"dialog.printed": { defaultKeys: "ctrl+t", description: "Show or hide the sessions of pi -p" },
		"dialog.rename": { defaultKeys: "ctrl+r", description: "Rename the selected item" },
		"dialog.delete": { defaultKeys: ["ctrl+d", "delete"], description: "Delete the selected item" },
	},
	modelPicker: {
		"modelPicker.update": { defaultKeys: "ctrl+r", description: "Ask the providers for their models" },
	},
	question: {
		"question.yes": { defaultKeys: ["y", "shift+y"], description: "Yes" },
		"question.no": { defaultKeys: ["n", "shift+n"], description: "No" },
		"question.once": { defaultKeys: ["o", "shift+o"], description: "Yes, for this run only" },
	},
	answer: {
		"answer.yes": { defaultKeys: "left", description: "Select yes" },
		"answer.no": { defaultKeys: "right", description: "Select no" },
		"answer.other": { defaultKeys: "tab", description: "Select the other answer" },
	},
	code: {
		"question.code": { defaultKeys: ["v", "shift+v"], description: "Show or hide the code in question" },
	},
	pager: {
		"pager.up": { defaultKeys: "k", description: "Scroll up" },
		"pager.down": { defaultKeys: "j", description: "Scroll down" },
		"pager.pageDown": { defaultKeys: "space", description: "Scroll down a page" },
		"pager.top": { defaultKeys: "g", description: "Go to the start" },
		"pager.bottom": { defaultKeys: "shift+g", description: "Go to the end" },
		"pager.close": { defaultKeys: "q", description: "Close" },
		"pager.copy": { defaultKeys: "y", description: "Copy the message or item" },
	},
	transcript: {
		"transcript.expandAll": { defaultKeys: "shift+e", description: "Expand or collapse all items" },
		"transcript.previousPrompt": { defaultKeys: "[", description: "Go to the previous prompt" },
		"transcript.nextPrompt": { defaultKeys: "]", description: "Go to the next prompt" },
		"transcript.search": { defaultKeys: "/", description: "Search the transcript" },
		"transcript.nextMatch": { defaultKeys: "n", description: "Go to the next match" },
		"transcript.previousMatch": { defaultKeys: "shift+n", description: "Go to the previous match" },
		"transcript.branch": { defaultKeys: "b", description: "Branch from the selected prompt" },
		"transcript.editor": { defaultKeys: "e", description: "Open a copy of the item in your editor" },
	},
	contextPanel: {
		"contextPanel.hidden": { defaultKeys: "h", description: "Show or omit hidden entries" },
		"contextPanel.diff": { defaultKeys: "d", description: "Show changes since the previous request, or all messages" },
		"contextPanel.previous": { defaultKeys: "[", description: "Go to the previous request" },
		"contextPanel.next": { defaultKeys: "]", description: "Go to the next request" },
		"contextPanel.latest": { defaultKeys: "0", description: "Go back to the next request" },
		"contextPanel.toggleHook": { defaultKeys: "t", description: "Show the request without a hook, or with it again" },
		"contextPanel.disableHooks": { defaultKeys: "x", description: "Turn off the omitted hooks for this session" },
		"contextPanel.filter": { defaultKeys: "/", description: "Filter the messages" },
		"contextPanel.copy": { defaultKeys: "y", description: "Copy the selected message" },
		"contextPanel.copyAll": { defaultKeys: "shift+y", description: "Copy all messages" },
	},
	compactionPanel: {
		"compactionPanel.edit": { defaultKeys: "e", description: "Edit the summary" },
		"compactionPanel.redraft": { defaultKeys: "r", description: "Write the summary again" },
		"compactionPanel.expand": { defaultKeys: "space", description: "Show the selected message" },
		"compactionPanel.summary": { defaultKeys: "s", description: "Show the full summary" },
	},
	diffPanel: {
		"diffPanel.keep": { defaultKeys: "k", description: "Keep the selected change, or all changes of the file" },
		"diffPanel.revert": { defaultKeys: "r", description: "Revert the selected change, or all changes of the file" },
		"diffPanel.takeBack": { defaultKeys: "u", description: "Take back the last decision" },
		"diffPanel.comment": { defaultKeys: "c", description: "Comment on the selected change, for the next prompt" },
		"diffPanel.scope": { defaultKeys: "tab", description: "Switch between the session and its last prompt" },
	},
	hooksPanel: {
		"hooksPanel.reload": { defaultKeys: "ctrl+r", description: "Reload the hooks" },
		"hooksPanel.shadow": { defaultKeys: "ctrl+t", description: "Try a hook in the shadow, or stop trying it" },
	},
	mcpPanel: {
		"mcpPanel.restart": { defaultKeys: "r", description: "Restart the MCP server" },
		"mcpPanel.log": { defaultKeys: "l", description: "Show the log of the MCP server" },
		"mcpPanel.login": { defaultKeys: "i", description: "Log in to the MCP server" },
	},
} as const satisfies Record<string, KeybindingDefinitions>;

type KeyScope = keyof typeof PI_ACTIONS;

/** The name of an action that a key can run. */
export type KeyAction = Keybinding | { [S in KeyScope]: keyof (typeof PI_ACTIONS)[S] }[KeyScope];

/** An action as `/hotkeys` and the documentation list it. */
export interface ListedAction {
	action: KeyAction;
	/** Title of its scope. */
	scope: string;
	/** Default keys. */
	keys: readonly string[];
	description: string;
}

/** Title of the keys that only the editor with the keys of vim has. */
export const VIM_SCOPE = "Vim keys of the editor";

const SCOPE_TITLES: Readonly<Record<string, string>> = {
	editor: "Editor",
	vim: VIM_SCOPE,
	everywhere: "Editor and dialogs",
	completions: "Completions",
	dialog: "All dialogs",
	toggle: "Lists",
	list: "Lists",
	modelPicker: "Models",
	question: "Questions",
	answer: "Questions",
	code: "Questions",
	pager: "Pagers",
	transcript: "Transcript",
	contextPanel: "Context panel",
	compactionPanel: "Compaction panel",
	diffPanel: "Changes",
	hooksPanel: "Hooks panel",
	mcpPanel: "MCP panel",
} satisfies Record<KeyScope, string>;
/** The scopes that are active at the same time, for each component that reads keys. */
const LISTENING_TOGETHER: readonly (readonly string[])[] = [
	["editor", "everywhere"],
	["vim"],
	["completions"],
	["dialog", "everywhere", "list", "toggle"],
	["dialog", "everywhere", "modelPicker"],
	["dialog", "everywhere", "question", "code"],
	["dialog", "everywhere", "question", "answer"],
	["dialog", "everywhere", "pager", "code"],
	["dialog", "pager", "transcript"],
	["dialog", "everywhere", "contextPanel"],
	["dialog", "everywhere", "compactionPanel"],
	["dialog", "everywhere", "diffPanel"],
	["dialog", "everywhere", "hooksPanel", "toggle"],
	["dialog", "everywhere", "mcpPanel", "toggle"],
] satisfies KeyScope[][];
/** Pairs that share a key on purpose: one of them ignores it in some situations. */
const SHARED: ReadonlySet<string> = new Set([
	"app.exit tui.editor.deleteCharForward",
	"app.background tui.editor.cursorLeft",
	"tui.input.newLine tui.input.submit",
]);
/**
 * pi-tui actions without effect in pi: the terminal's own selection copies, completions have no pages, the arrows alone
 * step through the history, and pi has full screens of its own.
 */
const UNUSED: ReadonlySet<string> = new Set([
	"tui.input.copy",
	"tui.select.pageUp",
	"tui.select.pageDown",
	"tui.editor.historyPrevious",
	"tui.editor.historyNext",
	...Object.keys(TUI_KEYBINDINGS).filter((action) => action.startsWith("tui.altScreen.")),
]);

/** Keys that pi-tui adds for its own full screen, where the keys without Ctrl scroll. */
const FULL_SCREEN_KEY = /^ctrl\+(?:home|end|page)/;

const scopes = new Map<string, string>();
const definitions = Object.fromEntries(
	Object.entries<KeybindingDefinition>(TUI_KEYBINDINGS).map(([action, { defaultKeys, description = action }]) => {
		const keys = [defaultKeys].flat().filter((key) => !FULL_SCREEN_KEY.test(key));
		return [action, { defaultKeys: keys, description }];
	}),
);
const listed: ListedAction[] = [];
for (const [scope, own] of Object.entries<KeybindingDefinitions>(PI_ACTIONS)) {
	Object.assign(definitions, own);
	const ofEditor = Object.keys(TUI_KEYBINDINGS).filter((action) => scopeOfEditorAction(action) === scope);
	for (const action of [...Object.keys(own), ...ofEditor].filter(isAction)) {
		if (UNUSED.has(action)) continue;
		scopes.set(action, scope);
		const { defaultKeys = [], description = action } = definitions[action] ?? {};
		listed.push({ action, scope: SCOPE_TITLES[scope] ?? scope, keys: [defaultKeys].flat(), description });
	}
}

/** Every action with its default keys, as pi-tui expects them. */
export const KEY_DEFINITIONS: Readonly<KeybindingDefinitions> = definitions;

/** Every action that can be bound, by scope. */
export const KEY_ACTIONS: readonly ListedAction[] = listed;

/** The description of an action of pi. */
export function describeAction(action: string): string | undefined {
	return definitions[action]?.description;
}

/**
 * Whether two actions are active at the same time, so that a key can run only one of them. All others are keys of hooks,
 * which work in the editor.
 */
export function canConflict(one: string, other: string): boolean {
	const [a, b] = [scopes.get(one) ?? "editor", scopes.get(other) ?? "editor"];
	if (UNUSED.has(one) || UNUSED.has(other) || SHARED.has([one, other].sort().join(" "))) return false;
	return LISTENING_TOGETHER.some((together) => together.includes(a) && together.includes(b));
}

function isAction(name: string): name is KeyAction {
	return Object.hasOwn(definitions, name);
}

function scopeOfEditorAction(action: string): string {
	return action.startsWith("tui.select.") ? "completions" : "editor";
}
