import { readFileSync } from "node:fs";
import { errorText, PiError } from "../errors.js";
import type { HookFile } from "./discover.js";
import { EVENT_NAMES, isHookEventName } from "./events.js";
import { loadHostModules } from "./host-modules.js";
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
	const sources = files.map(({ realPath }) => readSource(realPath));
	const [{ createJiti }, virtualModules] = await Promise.all([import("jiti"), loadHostModules(sources)]);
	const jiti = createJiti(import.meta.url, {
		// Each load evaluates the file and its imports anew, so that /reload sees edits.
		moduleCache: false,
		fsCache: options.cacheDir,
		tsconfigPaths: false,
		virtualModules,
	});
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
			const factory: unknown = await jiti.import(file.realPath, { default: true });
			if (typeof factory !== "function") throw new Error("it has no default export that is a function");
			await within(options.timeoutMs, (factory as HookFactory)(createHookApi(hook, options)));
			hooks.push(hook);
		} catch (cause) {
			hook.active = false;
			errors.push(loadError(file, cause));
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

async function within(timeoutMs: number, factory: void | Promise<void>): Promise<void> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<never>((_, reject) => {
		timer = setTimeout(() => reject(new Error(`its factory did not settle within ${timeoutMs} ms`)), timeoutMs);
		timer.unref();
	});
	try {
		await Promise.race([factory, late]);
	} finally {
		clearTimeout(timer);
	}
}

function readSource(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch {
		// The import reports it, with its reason.
		return "";
	}
}

/** Path, line and message of what went wrong. */
function loadError(file: HookFile, cause: unknown): PiError {
	const line = cause instanceof Error ? lineIn(cause, file) : null;
	const where = line === null ? file.path : `${file.path}:${line}`;
	const reason = cause instanceof PiError && cause.hint ? `${cause.message} (${cause.hint})` : errorText(cause);
	return new PiError("hook_load_failed", `Hook ${where} did not load: ${shorten(reason, file)}`, { cause });
}

function lineIn(error: Error, file: HookFile): string | null {
	const text = `${error.message}\n${error.stack ?? ""}`;
	for (const path of [file.realPath, file.path]) {
		const at = text.indexOf(`${path}:`);
		const match = at < 0 ? null : /^:(\d+)/.exec(text.slice(at + path.length));
		if (match?.[1]) return match[1];
	}
	return null;
}

/** A parse error repeats the path and shows an excerpt: its first line without the path is enough. */
function shorten(reason: string, file: HookFile): string {
	const text = reason.replaceAll(file.realPath, file.name).split(" Require stack:")[0] ?? reason;
	return text.length > 300 ? `${text.slice(0, 300)} …` : text;
}
