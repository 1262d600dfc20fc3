import type { Api, Model } from "@mariozechner/pi-ai";
import { PiError } from "../errors.js";
import type { ThinkingLevel } from "../log/entry.js";
import { withCallerStack } from "../util/caller-stack.js";
import { isRecord } from "../util/is-record.js";
import { type ExecOptions, type ExecResult, exec } from "../util/process.js";
import { splitArgs } from "../util/split-args.js";
import { boundUI, type DialogHost } from "./bound-ui.js";
import { createSystemItemsHandle, type SystemItemSink, type SystemItemsHandle } from "./handles.js";
import type { HookCall } from "./hook-call.js";
import type { LoadedHook } from "./registry.js";
import type { SessionUI } from "./session-ui.js";
import type { CommandContext, HookEventContext, HookTools } from "./types.js";

/** Members of the context object that read the host each time. */
const LIVE_MEMBERS = [
	"hasUI",
	"cwd",
	"sessionFile",
	"session",
	"model",
	"thinkingLevel",
	"entries",
	"messages",
	"systemPrompt",
	"flags",
	"projectTrusted",
	"toolHost",
] as const;
const LIVE_CONTROL = ["isIdle", "queued", "usage", "sessionName", "mode", "commands"] as const;
type LiveControl = (typeof LIVE_CONTROL)[number];
type LiveMember = (typeof LIVE_MEMBERS)[number];

/** What hooks can do to the session and read of its state. The session implements it; every member reads current state. */
export interface HookControl
	extends Readonly<Pick<HookEventContext, LiveControl>>,
		Pick<HookEventContext, "abort" | "setSessionName">,
		Pick<CommandContext, SessionMember> {
	/** @param whenIdle waits until nothing is active */
	quit(whenIdle: boolean): boolean;
	compact(focus: string | undefined, signal: AbortSignal): ReturnType<HookEventContext["compact"]>;
	waitForIdle(signal: AbortSignal): Promise<void>;
}

/** Members that only commands have: handlers of events are awaited by what these would end or wait for. */
const SESSION_MEMBERS = ["newSession", "branch", "switchSession", "reload"] as const;
type SessionMember = (typeof SESSION_MEMBERS)[number];

/** The part of the session that hooks can reach. The session implements it; every member reads current state. */
export interface HookHost
	extends DialogHost,
		Pick<
			HookEventContext,
			LiveMember | "configFiles" | "findModel" | "availableModels" | "resolveApiKey" | "requestAuth" | "rebuildContext"
		> {
	/** The user interface of the current mode. */
	readonly ui: SessionUI;
	/** Increases when the session changes, which makes older context objects stale. */
	readonly generation: number;
	readonly control: HookControl;
	/** Sends a request of a hook, and counts it. @throws PiError `key_missing` */
	stream(hook: LoadedHook, ...request: Parameters<HookEventContext["stream"]>): ReturnType<HookEventContext["stream"]>;
	/** Appends entries of a hook as one write. @throws PiError `entry_refused` */
	saveEntries(hook: LoadedHook, entries: readonly unknown[]): number[];
	/** Runs a program where tools work. */
	execOnHost(command: string, args: readonly string[], options: ExecOptions): Promise<ExecResult>;
	/** Absent if nothing can be added, such as in a read-only session. */
	readonly systemItems?: SystemItemSink;
	readonly tools: HookTools;
	setModel(model: Model<Api>): Promise<void>;
	setThinkingLevel(level: ThinkingLevel): void;
	setEditorText(text: string): void;
	/** Calls code of a hook: the requests that it sends with pi-ai are of this session. */
	enter<T>(action: () => T): T;
}

/** Creates the context object of one call. Its members throw after the hook is unloaded or the session has changed. */
export function createHookContext(host: HookHost, call: HookCall): HookEventContext {
	const context = {};
	Object.defineProperties(context, Object.getOwnPropertyDescriptors(contextMembers(host, call)));
	for (const member of [...SESSION_MEMBERS, "waitForIdle"]) {
		Object.defineProperty(context, member, { value: () => Promise.reject(onlyInCommands(member, call)) });
	}
	return Object.freeze(context) as HookEventContext;
}

/** Creates the context object of a command: that of handlers plus arguments and session changes. */
export function createCommandContext(host: HookHost, call: HookCall, argsRaw: string): CommandContext {
	const use = guard(host, call);
	const wait = later(use);
	const context = {};
	Object.defineProperties(context, {
		...Object.getOwnPropertyDescriptors(contextMembers(host, call)),
		...Object.getOwnPropertyDescriptors({
			args: Object.freeze(splitArgs(argsRaw)),
			argsRaw,
			setEditorText: (text: string) => use("setEditorText", () => host.setEditorText(text)),
			newSession: () => wait("newSession", () => host.control.newSession()),
			branch: (entryIndex: number) => wait("branch", () => host.control.branch(entryIndex)),
			switchSession: (path: string) => wait("switchSession", () => host.control.switchSession(String(path))),
			reload: () => wait("reload", () => host.control.reload()),
			quit: () => use("quit", () => host.control.quit(false)),
			waitForIdle: () => wait("waitForIdle", () => host.control.waitForIdle(call.signal)),
		}),
	});
	return Object.freeze(context) as CommandContext;
}

function onlyInCommands(member: string, { event }: HookCall): PiError {
	return new PiError("context_locked", `ctx.${member} cannot be called from a handler of ${event}`, {
		hint:
			member === "waitForIdle"
				? "pi waits for this handler, so it would wait for itself; call it from a command"
				: "only commands can change or leave the session",
	});
}

function guard(host: HookHost, call: HookCall): Guard {
	const { generation } = host;
	return (member, action) => {
		if (!call.hook.active) throw stale(member, call, "the hook was unloaded");
		if (host.generation !== generation) throw stale(member, call, "the session changed");
		return action();
	};
}

type Guard = <T>(member: string, action: () => T) => T;

/** Guards members that return promises. A hook need not wait for them, so their failures name their caller. */
function later(use: Guard): <T>(member: string, action: () => Promise<T>) => Promise<T> {
	return withCallerStack(async <T>(member: string, action: () => Promise<T>) => use(member, action));
}

function stale(member: string, { event, hook }: HookCall, why: string): PiError {
	return new PiError("hook_stale", `ctx.${member} of ${event} in ${hook.path} was used after ${why}`, {
		hint: "use the ctx that each handler receives, and do not keep it",
	});
}

function contextMembers(host: HookHost, call: HookCall): HookEventContext {
	const use = guard(host, call);
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
	const members: Omit<HookEventContext, LiveMember | LiveControl> = {
		exec: (command, args, { onHost = false, ...options } = {}) =>
			read("exec", () => {
				const signal = options.signal ? AbortSignal.any([options.signal, call.signal]) : call.signal;
				if (onHost) return host.execOnHost(command, args, { ...options, signal });
				return exec(command, args, { ...options, cwd: options.cwd ?? host.cwd, signal });
			}),
		ui: boundUI(() => use("ui", () => host.ui), host, call),
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
		rebuildContext: () =>
			effect("rebuildContext", () => (call.defersRebuild ? Promise.resolve() : host.rebuildContext())),
		setModel: (model) => effect("setModel", () => host.setModel(model)),
		setThinkingLevel: (level) => act("setThinkingLevel", () => host.setThinkingLevel(level)),
		quit: () => act("quit", () => host.control.quit(true)),
		abort: () => act("abort", () => host.control.abort()),
		compact: (options) => effect("compact", () => host.control.compact(readFocus(options), call.signal)),
		setSessionName: (name) => act("setSessionName", () => host.control.setSessionName(readName(name))),
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
			setActive: (names, options) =>
				use("tools", () => {
					requireEffects("tools.setActive");
					host.tools.setActive(names, options);
				}),
		}),
		signal: call.signal,
	};
	for (const name of LIVE_MEMBERS)
		Object.defineProperty(members, name, { enumerable: true, get: () => use(name, () => host[name]) });
	for (const name of LIVE_CONTROL)
		Object.defineProperty(members, name, { enumerable: true, get: () => use(name, () => host.control[name]) });
	return members as HookEventContext;
}

// Hooks are loaded without type checks, so pi checks their arguments.

function readName(name: unknown): string {
	if (typeof name === "string" && name.trim() !== "") return name.trim();
	throw new PiError("bad_arguments", "ctx.setSessionName expects a text that is not empty");
}

function readFocus(options: unknown): string | undefined {
	if (options === undefined) return undefined;
	const focus = isRecord(options) ? options.focus : null;
	if (focus === undefined || typeof focus === "string") return focus;
	throw new PiError("bad_arguments", "ctx.compact expects { focus } with a text");
}
