import type { PermissionRule, PermissionSettings } from "../config/permission-rules.js";
import { errorText, PiError } from "../errors.js";
import type { ApprovalEntry } from "../log/entry.js";
import { linkSignals } from "../util/abort.js";
import { withCallerStack } from "../util/caller-stack.js";
import { isRecord } from "../util/is-record.js";
import { type ExecOptions, type ExecResult, exec } from "../util/process.js";
import { splitArgs } from "../util/split-args.js";
import { boundUI, type DialogMarks } from "./bound-ui.js";
import { jsonCopy } from "./check-values.js";
import { textOf } from "./dialog-options.js";
import { createSystemItemsHandle, type SystemItemSink, type SystemItemsHandle } from "./granted-handles.js";
import { type HookCall, holdClocks } from "./hook-call.js";
import type { LoadedHook } from "./hook-registry.js";
import { checkRead, checkSearch } from "./session-arguments.js";
import type { SessionUI } from "./session-ui.js";
import type {
	CommandContext,
	HookEventContext,
	HookSessions,
	HookTools,
	ReadSessionOptions,
	SearchSessionsOptions,
	SessionHandle,
	ToolCallResult,
} from "./types.js";

/** Members of the context object that read the host each time. */
const LIVE_MEMBERS = [
	"hasUI",
	"cwd",
	"sessionFile",
	"model",
	"thinkingLevel",
	"entries",
	"messages",
	"systemPrompt",
	"flags",
	"projectTrusted",
	"toolHost",
	"isIdle",
	"queued",
	"usage",
	"sessionName",
	"mode",
	"commands",
	"webSearch",
] as const;
type LiveMember = (typeof LIVE_MEMBERS)[number];

/** Members of the context object that tell the session to do something. `src/operations` declares them and checks their arguments. */
export type OperationMember =
	| "setModel"
	| "setThinkingLevel"
	| "setSessionName"
	| "abort"
	| "compact"
	| "quit"
	| "rebuildContext"
	| "newSession"
	| "branch"
	| "switchSession"
	| "reload"
	| "undo"
	| "waitForIdle";

/** The call of a hook that uses a member of its context object. */
export interface ContextCall extends HookCall {
	/** Whether a command makes it: nothing that the session does waits for the end of a command. */
	readonly isCommand: boolean;
}

/** A member of the context object that tells the session to do something. `src/operations` declares them. */
export interface HookOperation {
	readonly member: OperationMember;
	/** `commands`: handlers of events lack it, because they are awaited by what it would end or wait for. */
	readonly callers: "all" | "commands";
	/** Whether failures reject or throw. */
	readonly returns: "promise" | "value";
	/** Hooks are loaded without type checks: `args` are unchecked. */
	call(call: ContextCall, args: readonly unknown[]): unknown;
}

/** The part of the session that hooks can reach. The session implements it; every member reads current state. */
export interface HookSession
	extends DialogMarks,
		Pick<
			HookEventContext,
			LiveMember | "configFiles" | "permissions" | "findModel" | "availableModels" | "resolveApiKey" | "requestAuth"
		> {
	/** `ctx.projectDir` of a hook. */
	projectDirOf(hook: LoadedHook): string;
	/** `ctx.session` of a hook. */
	sessionFor(hook: LoadedHook): SessionHandle;
	/** The user interface of the current mode. */
	readonly ui: SessionUI;
	/** Increases when the session changes, which makes older context objects stale. */
	readonly generation: number;
	readonly operations: readonly HookOperation[];
	/** Sends a request of a hook, and counts it. @throws PiError `key_missing` */
	stream(hook: LoadedHook, ...request: Parameters<HookEventContext["stream"]>): ReturnType<HookEventContext["stream"]>;
	/** Appends entries of a hook as one write. @throws PiError `entry_refused` */
	saveEntries(hook: LoadedHook, entries: readonly unknown[]): number[];
	/** Runs a program where tools work. */
	execOnHost(command: string, args: readonly string[], options: ExecOptions): Promise<ExecResult>;
	/** Absent if nothing can be added, such as in a read-only session. */
	readonly systemItems?: SystemItemSink;
	/** The user's saved sessions; arguments are checked. */
	readonly sessions: {
		search(text: string, options: Required<SearchSessionsOptions>): ReturnType<HookSessions["search"]>;
		read(id: string, options: Required<ReadSessionOptions>): ReturnType<HookSessions["read"]>;
	};
	readonly tools: Omit<HookTools, "call">;
	/** Runs a tool for a hook. @param signal ends the call @throws as `HookTools.call` */
	callTool(call: HookCall, name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<ToolCallResult>;
	setEditorText(text: string): void;
	/** Keeps the answer to a question before a tool call; its message is sent to the model. Absent: nothing is kept. */
	noteApproval?(answer: Omit<ApprovalEntry, "type" | "timestamp">): void;
	/** Calls code of a hook: the requests that it sends with pi-ai are of this session, and counted. */
	enter<T>(hook: LoadedHook, action: () => T): T;
}

/** Creates the context object of one call. Its members throw after the hook is unloaded or the session has changed. */
export function createHookContext(host: HookSession, call: HookCall): HookEventContext {
	return Object.freeze(contextMembers(host, { ...call, isCommand: false })) as HookEventContext;
}

/** Creates the context object of a command: that of handlers plus arguments and session changes. */
export function createCommandContext(host: HookSession, call: HookCall, argsRaw: string): CommandContext {
	const use = whileCurrent(host, call);
	return Object.freeze(
		Object.defineProperties(
			contextMembers(host, { ...call, isCommand: true }),
			Object.getOwnPropertyDescriptors({
				args: Object.freeze(splitArgs(argsRaw)),
				argsRaw,
				setEditorText: (text: string) => use("setEditorText", () => host.setEditorText(text)),
			}),
		),
	) as CommandContext;
}

function onlyInCommands(member: string, { event }: HookCall): PiError {
	return new PiError("context_locked", `ctx.${member} cannot be called from a handler of ${event}`, {
		hint:
			member === "waitForIdle"
				? "pi waits for this handler, so it would wait for itself; call it from a command"
				: "only commands can change or leave the session",
	});
}

/** Makes uses of the context fail once the hook is unloaded or the session has changed. */
function whileCurrent(host: HookSession, call: HookCall): CurrentUse {
	const { generation } = host;
	return (member, action) => {
		if (!call.hook.active) throw stale(member, call, "the hook was unloaded");
		if (host.generation !== generation) throw stale(member, call, "the session changed");
		return action();
	};
}

type CurrentUse = <T>(member: string, action: () => T) => T;

/** Checks members that return promises. A hook need not wait for them, so their failures name their caller. */
function later(use: CurrentUse): <T>(member: string, action: () => Promise<T>) => Promise<T> {
	return withCallerStack(async <T>(member: string, action: () => Promise<T>) => use(member, action));
}

function stale(member: string, { event, hook }: HookCall, why: string): PiError {
	return new PiError("hook_stale", `ctx.${member} of ${event} in ${hook.path} was used after ${why}`, {
		hint: "use the ctx that each handler receives, and do not keep it",
	});
}

/** Hooks are loaded without type checks. @throws PiError `bad_arguments` */
function checkRule(rule: unknown): PermissionRule {
	const { action, rule: text, scope }: Record<string, unknown> = Object(rule);
	const isKnown = ["allow", "ask", "deny"].includes(String(action)) && typeof text === "string";
	if (isKnown && typeof scope === "string") return { action, rule: text, scope } as PermissionRule;
	throw new PiError("bad_arguments", 'ctx.permissions expects { action: "allow", "ask" or "deny", rule, scope }');
}

/** Hooks are loaded without type checks. @throws PiError `bad_arguments` */
function checkToolCall(name: unknown, args: unknown, options: unknown) {
	const refuse = (message: string) => new PiError("bad_arguments", `ctx.tools.call ${message}`);
	if (typeof name !== "string") throw refuse(`expects the name of a tool, not ${textOf(name)}`);
	if (args !== undefined && !isRecord(args)) throw refuse(`expects arguments as an object, not ${textOf(args)}`);
	const signal = isRecord(options) ? options.signal : undefined;
	if (signal !== undefined && !(signal instanceof AbortSignal)) throw refuse("expects { signal } with an AbortSignal");
	try {
		// A copy: the entry of the call is frozen.
		return { input: jsonCopy(args ?? {}) as Record<string, unknown>, signal };
	} catch (error) {
		throw refuse(`expects arguments that JSON can represent: ${errorText(error)}`);
	}
}

/** @returns the members, of which those of commands are only complete for a command */
function contextMembers(host: HookSession, call: ContextCall): object {
	const use = whileCurrent(host, call);
	const requireEffects = (member: string) => {
		if (call.effects) return;
		const [where, task] =
			call.event === "context" ? ["a context handler", "the request"] : [`complete of ${call.event}`, "completions"];
		throw new PiError("context_locked", `ctx.${member} cannot be called from ${where}`, {
			hint: `it only computes ${task}; save entries from a command or another event`,
		});
	};
	// Async: members that return promises reject. One that throws would end callers that handle only rejections.
	const read = later(use);
	const effect = later((member, action) => {
		requireEffects(member);
		return use(member, action);
	});
	let systemItems: SystemItemsHandle | undefined;
	const act = <T>(member: string, action: () => T): T => {
		requireEffects(member);
		return use(member, action);
	};
	const members: Omit<HookEventContext, LiveMember | OperationMember> = {
		exec: (command, args, { onHost = false, ...options } = {}) =>
			read("exec", async () => {
				const signal = options.signal ? AbortSignal.any([options.signal, call.signal]) : call.signal;
				// A program with a limit of its own may take longer than a handler.
				const release = options.timeout ? call.deadline?.hold() : undefined;
				try {
					if (onHost) return await host.execOnHost(command, args, { ...options, signal });
					return await exec(command, args, { ...options, cwd: options.cwd ?? host.cwd, signal });
				} finally {
					release?.();
				}
			}),
		ui: boundUI(() => use("ui", () => host.ui), host, call),
		permissions: Object.freeze<PermissionSettings>({
			list: () => read("permissions.list", () => host.permissions.list()),
			add: (rule) => effect("permissions.add", () => host.permissions.add(checkRule(rule))),
			remove: (rule) => effect("permissions.remove", () => host.permissions.remove(checkRule(rule))),
		}),
		configFiles: (folder) => use("configFiles", () => host.configFiles(folder)),
		findModel: (provider, id) => use("findModel", () => host.findModel(provider, id)),
		availableModels: () => read("availableModels", () => host.availableModels()),
		resolveApiKey: (model) => read("resolveApiKey", () => host.resolveApiKey(model)),
		requestAuth: (model) => read("requestAuth", () => host.requestAuth(model)),
		stream: (model, context, { signal, ...options } = {}) =>
			effect("stream", () => {
				const either = signal ? AbortSignal.any([signal, call.signal]) : call.signal;
				return host.stream(call.hook, model, context, { ...options, signal: either });
			}),
		saveEntry: (entry) => effect("saveEntry", async () => host.saveEntries(call.hook, [entry])[0] ?? -1),
		saveEntries: (entries) => effect("saveEntries", async () => host.saveEntries(call.hook, entries)),
		get projectDir() {
			return use("projectDir", () => host.projectDirOf(call.hook));
		},
		get session() {
			return use("session", () => host.sessionFor(call.hook));
		},
		sessions: Object.freeze<HookSessions>({
			search: (text, options) =>
				read("sessions.search", async () => host.sessions.search(...checkSearch(text, options, call.signal))),
			read: (id, options) =>
				read("sessions.read", async () => host.sessions.read(...checkRead(id, options, call.signal))),
		}),
		get systemItems() {
			return use("systemItems", () => {
				if (!host.systemItems || !call.hook.grants.has("systemItems")) return undefined;
				systemItems ??= createSystemItemsHandle(call.hook, host.systemItems, () =>
					use("systemItems.append", () => requireEffects("systemItems.append")),
				);
				return systemItems;
			});
		},
		tools: Object.freeze<HookTools>({
			get all() {
				return use("tools", () => host.tools.all);
			},
			get active() {
				return use("tools", () => host.tools.active);
			},
			get offered() {
				return use("tools", () => host.tools.offered);
			},
			setActive: (names, options) =>
				use("tools", () => {
					requireEffects("tools.setActive");
					host.tools.setActive(names, options);
				}),
			call: (name, args, options) =>
				effect("tools.call", async () => {
					if (call.defersRebuild)
						throw new PiError("context_locked", `ctx.tools.call cannot be called from a handler of ${call.event}`, {
							hint: "a call waits for this handler; call tools from the run of a tool, from turn_end or from a command",
						});
					const { input, signal } = checkToolCall(name, args, options);
					// What goes on after an abort must not begin anything.
					call.signal.throwIfAborted();
					const release = holdClocks(call);
					// A signal for each call, as many may run at the same time and listen.
					const linked = linkSignals(AbortSignal.any([call.signal]), signal);
					try {
						return await host.callTool(call, name, input, linked.signal);
					} finally {
						linked.unlink();
						release();
					}
				}),
		}),
		signal: call.signal,
	};
	for (const name of LIVE_MEMBERS)
		Object.defineProperty(members, name, { enumerable: true, get: () => use(name, () => host[name]) });
	for (const operation of host.operations) Object.defineProperty(members, operation.member, memberOf(operation));
	return members;

	function memberOf({ member, callers, returns, call: operate }: HookOperation): PropertyDescriptor {
		if (callers === "commands" && !call.isCommand) return { value: () => Promise.reject(onlyInCommands(member, call)) };
		if (returns === "value")
			return { enumerable: true, value: (...args: unknown[]) => act(member, () => operate(call, args)) };
		return { enumerable: true, value: (...args: unknown[]) => effect(member, async () => operate(call, args)) };
	}
}
