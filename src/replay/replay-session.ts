import { agentDir } from "../config/paths.js";
import { PiError } from "../errors.js";
import type { HookOperation, HookSession, OperationMember } from "../hooks/context-object.js";
import { checkCustomEntry } from "../hooks/custom-entry.js";
import type { FlagValues } from "../hooks/flags.js";
import { checkSystemItem, ownerOf } from "../hooks/granted-handles.js";
import { hookProjectDir } from "../hooks/project-dir.js";
import { NO_UI, type SessionUI } from "../hooks/session-ui.js";
import type { HookEventContext, SessionToolInfo } from "../hooks/types.js";
import type { AppMessage, PromptSection, SessionEntry, ToolInfo } from "../log/entry.js";
import { hookOperations } from "../operations/index.js";
import { subjectText } from "../util/approval.js";
import { exec } from "../util/process.js";

/** Effects are truncated to this many characters. */
const MAX_EFFECT_CHARS = 160;

export interface ReadOnlySessionOptions {
	cwd: string;
	sessionFile: string | null;
	entries: readonly SessionEntry[];
	/** The context before all hooks; called only if a hook reads it. */
	messages(): readonly AppMessage[];
	/** The system prompt before all hooks. Default: none. */
	systemPrompt?: readonly PromptSection[];
	/** Values of `ctx.flags`. */
	flags: FlagValues;
}

/** What operations do that a session which cannot be changed can do, in words; the others are refused. */
const REPLAYED: Partial<Record<OperationMember, (...args: never[]) => string>> = {
	rebuildContext: () => "would rebuild the context",
	setModel: ({ provider, id }: { provider: string; id: string }) => `would switch to the model ${provider}/${id}`,
	setThinkingLevel: (level: string) => `would set the thinking level to ${level}`,
	setSessionName: (name: string) => `would name the session ${name}`,
	abort: () => "would stop what the session does",
	quit: () => "would quit",
};

/** The operations of a session that cannot be changed. @param onEffect receives one line for each that would do something */
function readOnlyOperations(onEffect: (line: string) => void): HookOperation[] {
	const session = () => {
		throw new PiError("command_failed", "The session is read-only");
	};
	return hookOperations(session).map((operation) => {
		const { member } = operation;
		const describe = REPLAYED[member];
		const call = (_: unknown, args: readonly unknown[]) => {
			if (member === "waitForIdle") return;
			if (!describe) return session();
			onEffect(shorten(describe(...(args as never[]))));
			return member === "quit" ? false : undefined;
		};
		return { ...operation, call };
	});
}

/** The start of the effect of `ctx.tools.call`. */
export const CALLS_TOOL = "would call the tool ";

/** The result of a tool that a hook calls. */
const NOT_CALLED = Object.freeze({
	content: Object.freeze([{ type: "text" as const, text: "not run: this is a replay" }]),
	isError: true,
});

/** A read-only session for hooks: effects are rejected or ignored, and dialogs are canceled. */
export function createReadOnlySession({
	cwd,
	sessionFile,
	entries,
	messages,
	flags,
	systemPrompt = [],
}: ReadOnlySessionOptions): HookSession {
	return {
		cwd,
		sessionFile,
		projectDirOf: ({ name }) => hookProjectDir(agentDir(), cwd, name),
		sessionFor: () => ({ id: "" }),
		configFiles: () => [],
		permissions: { list: async () => [], add: async () => {}, remove: async () => {} },
		webSearch: {},
		projectTrusted: false,
		toolHost: { name: "", cwd },
		execOnHost: (command, args, options) => exec(command, args, { cwd, ...options }),
		entries,
		get messages() {
			return messages();
		},
		systemPrompt,
		model: null,
		thinkingLevel: "off",
		flags,
		ui: NO_UI,
		hasUI: false,
		generation: 0,
		operations: readOnlyOperations(() => {}),
		isIdle: true,
		queued: 0,
		commands: Object.freeze([]),
		usage: Object.freeze({ tokens: 0, contextWindow: 0, percent: null }),
		sessionName: null,
		mode: "sdk",
		findModel: () => null,
		availableModels: async () => [],
		resolveApiKey: async () => undefined,
		requestAuth: async () => undefined,
		stream: async (hook, { provider, id }) => {
			throw new PiError("key_missing", `${hook.name} sends a request to ${provider}/${id}, and a replay sends none`);
		},
		saveEntries: ({ path }) => {
			throw new PiError("entry_refused", `saveEntry of ${path}: the session is read-only`);
		},
		// Those of today are not those of the time that is replayed.
		sessions: {
			search: async () => [],
			read: async (id) => {
				throw new PiError("log_not_found", `There is no session "${id}": a replay has no other sessions`);
			},
		},
		tools: { all: [], active: [], offered: [], setActive: () => {} },
		callTool: async () => NOT_CALLED,
		openDialog: () => () => {},
		rankOf: () => 0,
		reportScreen: () => {},
		recordDraw: () => {},
		setEditorText: () => {},
		enter: (_, action) => action(),
	};
}

/** A session at a point of its replay. What needs time is computed only if a handler reads it. */
export interface ReplaySessionOptions extends Pick<ReadOnlySessionOptions, "cwd" | "sessionFile"> {
	/** Number of entries. */
	length: number;
	entries(): readonly SessionEntry[];
	/** The context that was computed last, and the messages added since. */
	messages(): readonly AppMessage[];
	systemPrompt(): readonly PromptSection[];
	flags(): FlagValues;
	model(): HookEventContext["model"];
	usage(): HookEventContext["usage"];
}

/**
 * A session for hooks during a replay: effects are recorded instead of carried out, and every dialog is canceled.
 * @param onEffect receives one line for each effect
 */
export function createReplaySession(options: ReplaySessionOptions, onEffect: (line: string) => void): HookSession {
	const ask = async <T>(kind: string, title: string, canceled: T): Promise<T> => {
		onEffect(`asks (${kind}): ${title} · canceled`);
		return canceled;
	};
	const ui: SessionUI = {
		approve: ({ question, subject }) =>
			ask("approve", `${question} ${subjectText(subject)}`, { allowed: false, isClosed: true }),
		select: (title: string) => ask("select", title, null),
		selectMany: (title) => ask("select", title, null),
		confirm: (title, message) => ask("confirm", `${title} ${message}`, false),
		input: (title) => ask("input", title, null),
		editor: (title) => ask("editor", title, null),
		notify: (message) => onEffect(`shows: ${message}`),
	};
	const { cwd, sessionFile } = options;
	const session = createReadOnlySession({ cwd, sessionFile, entries: [], messages: () => [], flags: {} });
	return {
		...session,
		get entries() {
			return options.entries();
		},
		get messages() {
			return options.messages();
		},
		get systemPrompt() {
			return options.systemPrompt();
		},
		get flags() {
			return options.flags();
		},
		get model() {
			return options.model();
		},
		get usage() {
			return options.usage();
		},
		ui,
		saveEntries(hook, entries) {
			const checked = entries.map((entry) => checkCustomEntry(hook, entry));
			for (const { timestamp: _, ...entry } of checked) onEffect(`would save ${shorten(JSON.stringify(entry))}`);
			return checked.map((_, position) => options.length + position);
		},
		systemItems: {
			append(handle, item) {
				const { kind, text } = checkSystemItem(ownerOf(handle), item);
				onEffect(`would add a system item (${kind}): ${shorten(text)}`);
			},
		},
		operations: readOnlyOperations(onEffect),
		callTool: async (_, name) => {
			onEffect(`${CALLS_TOOL}${name}`);
			return NOT_CALLED;
		},
		setEditorText: (text) => onEffect(`would put into the editor: ${shorten(text)}`),
		tools: {
			all: [],
			active: [],
			offered: [],
			setActive: (names) => onEffect(`would turn on only the tools ${names.join(", ")}`),
		},
	};
}

/** A copy of a context object whose `exec` records the command instead of running it, and returns exit code 127. */
export function withoutPrograms<C extends HookEventContext>(ctx: C, onEffect: (line: string) => void): C {
	const exec: HookEventContext["exec"] = async (command, args) => {
		onEffect(`would run ${shorten([command, ...args].join(" "))}`);
		return { stdout: "", stderr: "not run: this is a replay", code: 127, killed: false };
	};
	const members: PropertyDescriptorMap = { ...Object.getOwnPropertyDescriptors(ctx), exec: { value: exec } };
	// The copy has all members of `ctx`, so its type is the same.
	return Object.freeze(Object.create(Object.prototype, members)) as C;
}

function shorten(text: string): string {
	const line = text.replace(/\s+/g, " ");
	return line.length > MAX_EFFECT_CHARS ? `${line.slice(0, MAX_EFFECT_CHARS)}…` : line;
}

/** A tool as hooks see it. */
export function describeTool({ name, description, parameters, hook = "built-in" }: ToolInfo): SessionToolInfo {
	return { name, description, parameters: parameters as SessionToolInfo["parameters"], source: hook };
}
