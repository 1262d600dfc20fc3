import { PiError } from "../errors.js";
import type { HookFile } from "./discover.js";
import { EVENT_NAMES, isHookEventName } from "./events.js";
import { createModuleLoader, loadFailure, withinTime } from "./module-loader.js";
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

/** What loading needs. */
export interface LoadHooksOptions {
	/** A private directory (0700) for compiled hooks. */
	cacheDir: string;
	/** Takes what a hook sends with `pi.send`. */
	send(hook: LoadedHook, text: string, attachments: Attachment[]): void;
	/** ms that a factory may take. */
	timeoutMs: number;
}

/** Hooks that loaded, and an error for each that did not. */
export interface LoadHooksResult {
	hooks: LoadedHook[];
	errors: PiError[];
}

/** Compiles and runs hook files, in order. A file that fails is reported; the others load. */
export async function loadHooks(files: readonly HookFile[], options: LoadHooksOptions): Promise<LoadHooksResult> {
	if (files.length === 0) return { hooks: [], errors: [] };
	const loader = await createModuleLoader(files, options.cacheDir);
	const hooks: LoadedHook[] = [];
	const errors: PiError[] = [];
	for (const file of files) {
		const hook: LoadedHook = {
			...file,
			handlers: {},
			commands: new Map(),
			entryTypes: new Map(),
			active: true,
		};
		try {
			const factory = await loader.loadDefault(file);
			if (typeof factory !== "function") throw new Error("it has no default export that is a function");
			await withinTime(options.timeoutMs, (factory as HookFactory)(createHookApi(hook, options)));
			hooks.push(hook);
		} catch (cause) {
			hook.active = false;
			errors.push(loadFailure("Hook", file, cause));
		}
	}
	return { hooks, errors };
}

const COMMAND_NAME = /^[a-z0-9][a-z0-9_:-]{0,63}$/i;

function createHookApi(hook: LoadedHook, options: LoadHooksOptions): HookAPI {
	const use = <T>(what: string, action: () => T): T => {
		if (hook.active) return action();
		throw new PiError("hook_stale", `pi.${what} of ${hook.path} was used after the hook was unloaded`, {
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
				addHandler(hook, event, handler);
			}),
		command: (name: string, command: CommandOptions) =>
			use("command", () => {
				if (typeof name !== "string" || !COMMAND_NAME.test(name)) {
					throw new TypeError(`${JSON.stringify(name)} cannot be a command: use letters, digits, "_", ":" and "-"`);
				}
				if (typeof command?.handler !== "function") throw new TypeError(`the command ${name} has no handler`);
				hook.commands.set(name, command);
			}),
		send: (text: string, attachments: Attachment[] = []) => use("send", () => options.send(hook, text, attachments)),
		entry: (type: string, entry: EntryOptions = {}) =>
			use("entry", () => {
				if (typeof type !== "string" || type === "") throw new TypeError("an entry type is a non-empty string");
				hook.entryTypes.set(type, entry);
			}),
	});
}

function addHandler<N extends HookEventName>(hook: LoadedHook, event: N, handler: HookHandler<N>): void {
	const handlers: HookHandler<N>[] = hook.handlers[event] ?? [];
	handlers.push(handler);
	hook.handlers[event] = handlers as LoadedHook["handlers"][N];
}
