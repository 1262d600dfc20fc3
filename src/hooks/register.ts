import { PiError } from "../errors.js";
import { checkAttachments } from "./answers.js";
import { findBundled } from "./bundled.js";
import type { HookFile } from "./discover.js";
import { EVENT_NAMES, isHookEventName } from "./events.js";
import { type GrantRequest, HOST_HANDLE_NAMES, type HostHandleName } from "./handles.js";
import { hookFileName } from "./hook-name.js";
import { type LoadLimits, withinTime } from "./module-loader.js";
import type { LoadedHook } from "./registry.js";
import type {
	Attachment,
	CommandOptions,
	EntryOptions,
	HookAPI,
	HookEventName,
	HookFactory,
	HookHandler,
} from "./types.js";

/** What a hook's registrations need of the session. */
export interface RegisterOptions extends LoadLimits {
	/** Handles `pi.send` of a hook. */
	send(hook: LoadedHook, text: string, attachments: Attachment[]): void;
	/** The handles granted to a hook; absent: none. */
	grants?(file: HookFile): readonly HostHandleName[];
	/** Asks the user for a required handle; true if `grants` now includes it. Absent: the user cannot be asked. */
	requestGrant?(request: GrantRequest): Promise<boolean>;
}

/** Runs a factory and collects its registrations. @throws its error, or the refusal of a required handle */
export async function register(file: HookFile, factory: HookFactory, options: RegisterOptions): Promise<LoadedHook> {
	const contextTypes = findBundled(file.path)?.contextTypes;
	const hook: LoadedHook = {
		...file,
		...(contextTypes ? { contextTypes } : {}),
		handlers: {},
		places: new WeakMap(),
		commands: new Map(),
		entryTypes: new Map(),
		grants: new Set(options.grants?.(file)),
		active: true,
	};
	const missing: MissingHandle[] = [];
	try {
		await withinTime(options.timeoutMs, "its factory", factory(createHookApi(hook, missing, options)));
		// Also if the factory caught the error: a hook must not run without a handle that it requires.
		if (missing[0]) throw missing[0].refusal;
		return hook;
	} catch (cause) {
		hook.active = false;
		const handle = HOST_HANDLE_NAMES.find((name) => name === missing[0]?.handle);
		const isGranted = handle !== undefined && (await options.requestGrant?.({ file, handle })) === true;
		// Run the factory again with the new grant; this happens at most once for each handle.
		if (isGranted && options.grants?.(file).includes(handle)) return register(file, factory, options);
		throw cause;
	}
}

/** A required handle that is not granted. */
interface MissingHandle {
	handle: unknown;
	refusal: PiError;
}

const COMMAND_NAME = /^[a-z0-9][a-z0-9_:-]{0,63}$/i;

function createHookApi(hook: LoadedHook, missing: MissingHandle[], options: RegisterOptions): HookAPI {
	const use = <T>(member: string, action: () => T): T => {
		if (hook.active) return action();
		throw new PiError("hook_stale", `pi.${member} of ${hook.path} was used after the hook was unloaded`, {
			hint: "use the pi that the factory of the reloaded hook receives",
		});
	};
	return Object.freeze<HookAPI>({
		on: (event, handler) =>
			use("on", () => {
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
			use("command", () => {
				if (typeof name !== "string" || !COMMAND_NAME.test(name)) {
					throw new TypeError(
						`${JSON.stringify(name)} is not a valid command name: use letters, digits, "_", ":" and "-"`,
					);
				}
				if (typeof command?.handler !== "function") throw new TypeError(`the command ${name} has no handler`);
				hook.places.set(command, new Error());
				hook.commands.set(name, command);
			}),
		send: (text: string, attachments: Attachment[] = []) =>
			use("send", () => options.send(hook, text, checkAttachments(attachments))),
		entry: (type: string, entry: EntryOptions = {}) =>
			use("entry", () => {
				if (typeof type !== "string" || type === "") throw new TypeError("an entry type must be a non-empty string");
				hook.places.set(entry, new Error());
				hook.entryTypes.set(type, entry);
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

function describeMissing(hook: LoadedHook, handle: unknown): PiError {
	const name = JSON.stringify(handle) ?? String(handle);
	if (!HOST_HANDLE_NAMES.some((known) => known === handle)) {
		return new PiError("hook_load_failed", `unknown handle ${name}`, {
			hint: `the handles are ${HOST_HANDLE_NAMES.join(", ")}`,
		});
	}
	return new PiError("hook_load_failed", `it requires ${name}, which is not granted`, {
		hint: `add "hookGrants": {${JSON.stringify(hookFileName(hook.path))}: [${name}]} to your settings.json and restart pi`,
	});
}

function addHandler<N extends HookEventName>(hook: LoadedHook, event: N, handler: HookHandler<N>): void {
	const handlers: HookHandler<N>[] = hook.handlers[event] ?? [];
	handlers.push(handler);
	hook.handlers[event] = handlers as LoadedHook["handlers"][N];
}
