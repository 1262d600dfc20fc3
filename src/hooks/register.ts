import { PiError } from "../errors.js";
import { findBundled } from "./bundled-words.js";
import { checkAttachments, checkSendOptions } from "./check-values.js";
import { createDerivation } from "./derive.js";
import type { HookFile } from "./discover.js";
import { EVENT_NAMES, isHookEventName } from "./events.js";
import { checkFlag } from "./flags.js";
import { type GrantRequest, grantName, HOST_HANDLE_NAMES, type HostHandleName } from "./granted-handles.js";
import { createLoadedHook, type LoadedHook, unloadHook } from "./hook-registry.js";
import { checkResources } from "./hook-resources.js";
import { type LoadLimits, withinTime } from "./module-loader.js";
import { checkProvider } from "./providers.js";
import { checkShortcut } from "./shortcuts.js";
import { checkHookTool } from "./tool-definition.js";
import type {
	Attachment,
	BusHandler,
	CommandOptions,
	EntryOptions,
	HookAPI,
	HookEventBus,
	HookEventName,
	HookFactory,
	HookHandler,
	SendOptions,
	ToolHostFactory,
} from "./types.js";

/** What a hook's registrations need of the session. */
export interface RegisterOptions extends LoadLimits {
	/** Handles `pi.send` of a hook. */
	send(hook: LoadedHook, text: string | null, attachments: Attachment[], options: SendOptions): void;
	/** The handles granted to a hook; absent: none. */
	grants?(file: HookFile): readonly HostHandleName[];
	/** Asks the user for a required handle; true if `grants` now includes it. Absent: the user cannot be asked. */
	requestGrant?(request: GrantRequest): Promise<boolean>;
	/** Passes an event of a hook to the others. Absent: nobody gets it. */
	emit?(hook: LoadedHook, name: string, data: unknown): void;
	/** Resolves when the resources that hooks have registered are read. */
	resourcesRead?(): Promise<void>;
	/** Called after each registration, also while the hook loads. */
	onChange?(hook: LoadedHook): void;
}

/** Runs a factory and collects its registrations. @throws its error, or the refusal of a required handle */
export async function register(file: HookFile, factory: HookFactory, options: RegisterOptions): Promise<LoadedHook> {
	const bundled = findBundled(file.path);
	const hook = createLoadedHook(file, { grants: options.grants?.(file) ?? [], bundled });
	const missing: MissingHandle[] = [];
	let isLoading = true;
	const api = createHookApi(hook, { missing, isLoading: () => isLoading }, options);
	try {
		await withinTime(options.timeoutMs, "its factory", factory(api));
		// Also if the factory caught the error: a hook must not run without a handle that it requires.
		if (missing[0]) throw missing[0].refusal;
		return hook;
	} catch (cause) {
		unloadHook(hook);
		const handle = HOST_HANDLE_NAMES.find((name) => name === missing[0]?.handle);
		const isGranted = handle !== undefined && (await options.requestGrant?.({ file, handle })) === true;
		// Run the factory again with the new grant; this happens at most once for each handle.
		if (isGranted && options.grants?.(file).includes(handle)) return register(file, factory, options);
		throw cause;
	} finally {
		isLoading = false;
	}
}

/** A required handle that is not granted. */
interface MissingHandle {
	handle: unknown;
	refusal: PiError;
}

const COMMAND_NAME = /^[a-z0-9][a-z0-9_:-]{0,63}$/i;

/** What the members of `pi` know of the load. */
interface Loading {
	/** Receives the handles that are missing. */
	missing: MissingHandle[];
	isLoading(): boolean;
}

function createHookApi(hook: LoadedHook, { missing, isLoading }: Loading, options: RegisterOptions): HookAPI {
	const use = <T>(member: string, action: () => T): T => {
		if (hook.active) return action();
		throw new PiError("hook_stale", `pi.${member} of ${hook.path} was used after the hook was unloaded`, {
			hint: "use the pi that the factory of the reloaded hook receives",
		});
	};
	const add = (member: string, action: () => void): void =>
		use(member, () => {
			action();
			options.onChange?.(hook);
		});
	/** Keeps where something is registered. A name that comes twice while the hook loads is a mistake, and later an update. */
	const place = (registered: object, what: string, before: object | undefined): void => {
		const created = new Error();
		const first = before && hook.places.get(before);
		if (first && isLoading()) hook.repeats.push({ what, places: [first, created] });
		hook.places.set(registered, created);
	};
	return Object.freeze<HookAPI>({
		on: (event, handler) =>
			add("on", () => {
				if (!isHookEventName(event)) {
					throw new PiError("hook_load_failed", `unknown event ${JSON.stringify(event)}`, {
						hint: `the events are ${EVENT_NAMES.join(", ")}`,
					});
				}
				if (typeof handler !== "function") throw new TypeError(`the handler of ${event} is not a function`);
				hook.places.set(handler, new Error());
				addHandler(hook, event, handler);
			}),
		command: (name: string, command: CommandOptions) =>
			add("command", () => {
				if (typeof name !== "string" || !COMMAND_NAME.test(name)) {
					throw new TypeError(
						`${JSON.stringify(name)} is not a valid command name: use letters, digits, "_", ":" and "-"`,
					);
				}
				if (typeof command?.handler !== "function") throw new TypeError(`the command ${name} has no handler`);
				place(command, `/${name}`, hook.commands.get(name));
				hook.commands.set(name, command);
			}),
		shortcut: (key, shortcut) =>
			add("shortcut", () => {
				const checked = checkShortcut(key, shortcut);
				hook.places.set(shortcut, new Error());
				hook.shortcuts.push(checked);
			}),
		flag: (name, flag) =>
			add("flag", () => {
				const checked = checkFlag(name, flag, hook);
				if (!isLoading()) throw lateFlag(name);
				place(checked, `--${name}`, hook.flags.get(name));
				hook.flags.set(name, checked);
			}),
		provider: (name, provider) =>
			add("provider", () => {
				if (provider === undefined) hook.providers.delete(name);
				else hook.providers.set(name, checkProvider(name, provider, hook));
			}),
		send: (text: string | null, attachments: readonly Attachment[] = [], how: SendOptions = {}) =>
			use("send", () => options.send(hook, text, checkAttachments(attachments), checkSendOptions(how))),
		entry: (type: string, entry: EntryOptions = {}) =>
			add("entry", () => {
				if (typeof type !== "string" || type === "") throw new TypeError("an entry type must be a non-empty string");
				place(entry, `The entry type ${type}`, hook.entryTypes.get(type));
				hook.entryTypes.set(type, entry);
			}),
		derive: (name, deriveOptions) =>
			use("derive", () => {
				const { type, event, handler, derived } = createDerivation(hook.name, name, deriveOptions);
				if (hook.derived.has(type)) throw new TypeError(`there are two derivations ${name}`);
				hook.derived.add(type);
				hook.places.set(handler, new Error());
				addHandler(hook, event, handler);
				if (!hook.entryTypes.has(type)) hook.entryTypes.set(type, {});
				options.onChange?.(hook);
				return derived;
			}),
		tool: (definition) =>
			add("tool", () => {
				const tool = checkHookTool(definition);
				place(tool, `The tool ${tool.name}`, hook.tools.get(tool.name));
				hook.tools.set(tool.name, tool);
			}),
		toolHost: (scheme, factory) =>
			add("toolHost", () => {
				const checked = checkToolHost(scheme, factory);
				place(factory, `The host ${scheme}:`, hook.toolHosts.get(scheme));
				hook.toolHosts.set(scheme, checked);
			}),
		async resources(paths) {
			add("resources", () => {
				hook.resources = checkResources(paths, hook.realPath);
			});
			if (!isLoading()) await options.resourcesRead?.();
		},
		events: Object.freeze<HookEventBus>({
			emit: (name, data) => use("events.emit", () => options.emit?.(hook, checkEventName(name), data)),
			on: (name, handler) => use("events.on", () => addBusHandler(hook, checkEventName(name), handler)),
		}),
		requires: (...handles) =>
			use("requires", () => {
				for (const handle of handles) {
					if (hook.grants.has(handle)) continue;
					const refusal = describeMissing(hook, handle);
					missing.push({ handle, refusal });
					throw refusal;
				}
			}),
	});
}

function lateFlag(name: string): PiError {
	return new PiError("bad_arguments", `pi.flag(${JSON.stringify(name)}) was called after the hook had loaded`, {
		hint: "declare flags in the factory; pi checks the command line when all hooks have loaded",
	});
}

function describeMissing(hook: LoadedHook, handle: unknown): PiError {
	const name = JSON.stringify(handle) ?? String(handle);
	if (!HOST_HANDLE_NAMES.some((known) => known === handle)) {
		return new PiError("hook_load_failed", `unknown handle ${name}`, {
			hint: `the handles are ${HOST_HANDLE_NAMES.join(", ")}`,
		});
	}
	return new PiError("hook_load_failed", `it requires ${name}, which is not granted`, {
		hint: `add "hookGrants": {${JSON.stringify(grantName(hook))}: [${name}]} to your settings.json and restart pi`,
	});
}

function addHandler<N extends HookEventName>(hook: LoadedHook, event: N, handler: HookHandler<N>): void {
	const handlers: HookHandler<N>[] = hook.handlers[event] ?? [];
	handlers.push(handler);
	hook.handlers[event] = handlers as LoadedHook["handlers"][N];
}

function checkEventName(name: unknown): string {
	if (typeof name === "string" && name.trim() !== "") return name;
	throw new TypeError("the name of an event must be a non-empty string");
}

/** @returns a function that removes the handler */
function addBusHandler({ busHandlers, places }: LoadedHook, name: string, handler: BusHandler): () => void {
	if (typeof handler !== "function") throw new TypeError("the handler of an event is not a function");
	places.set(handler, new Error());
	const handlers = busHandlers.get(name) ?? new Set();
	busHandlers.set(name, handlers);
	const record = { handler };
	handlers.add(record);
	return () => {
		handlers.delete(record);
		if (handlers.size === 0 && busHandlers.get(name) === handlers) busHandlers.delete(name);
	};
}

const SCHEME = /^[a-z][a-z0-9-]*$/;

/** Checks the arguments of `pi.toolHost`. @throws TypeError */
function checkToolHost(scheme: unknown, factory: unknown): ToolHostFactory {
	if (typeof scheme !== "string" || !SCHEME.test(scheme)) {
		const given = JSON.stringify(scheme) ?? String(scheme);
		throw new TypeError(`${given} is not a valid scheme: use lowercase letters, digits and "-"`);
	}
	if (typeof factory !== "function") throw new TypeError(`the factory of the host ${scheme}: is not a function`);
	return factory as ToolHostFactory;
}
