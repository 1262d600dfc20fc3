import { describeError, errorText } from "../errors.js";
import { HOST_HANDLE_NAMES } from "../hooks/handles.js";
import type { HookHost } from "../hooks/host-context.js";
import { type LoadHooksOptions, loadBuiltinHooks, loadHooks } from "../hooks/load.js";
import { HookRegistry, type LoadedHook } from "../hooks/registry.js";
import { type HookErrorReport, HookRunner } from "../hooks/runner.js";
import type { Attachment } from "../hooks/types.js";
import type { SessionParts } from "./session-parts.js";

/** What the hooks of a session are loaded and run with. */
export interface SessionHooksOptions {
	host: HookHost;
	parts: Pick<SessionParts, "findHooks" | "hookCacheDir" | "settings" | "builtins" | "builtinHooks" | "grants">;
	onError(report: HookErrorReport): void;
	onWarning(line: string): void;
	onSend(text: string, attachments: Attachment[]): void;
}

/** Loads, reloads and holds the hooks of a session. */
export class SessionHooks {
	/** Command names that hooks may not take. */
	readonly #builtinNames: ReadonlySet<string>;
	#registry: HookRegistry;
	#runner: HookRunner;

	constructor(private readonly options: SessionHooksOptions) {
		this.#builtinNames = new Set(options.parts.builtins.flatMap(({ name, aliases = [] }) => [name, ...aliases]));
		this.#registry = new HookRegistry([], this.#builtinNames);
		this.#runner = this.#createRunner(this.#registry);
	}

	get registry(): HookRegistry {
		return this.#registry;
	}

	get runner(): HookRunner {
		return this.#runner;
	}

	/** Loads all hooks that are found. Failures and clashes become warnings. */
	async load(): Promise<void> {
		const { hooks } = await this.#loadFresh();
		this.#use(hooks);
	}

	/**
	 * Loads all hooks anew. One that fails keeps its previous version. @param beforeUnload runs while the old hooks are
	 * still there, for their `shutdown`
	 * @returns how many are loaded, and the paths that kept their old version
	 */
	async reload(beforeUnload: () => Promise<void>): Promise<{ count: number; kept: string[] }> {
		const old = this.#registry.hooks;
		const { hooks, failed } = await this.#loadFresh();
		await beforeUnload();
		const kept = old.filter(({ realPath }) => failed.has(realPath));
		for (const hook of old) if (!kept.includes(hook)) hook.active = false;
		this.#use(inOrder(hooks, kept, old));
		return { count: this.#registry.hooks.length, kept: kept.map(({ path }) => path) };
	}

	/**
	 * Reports an error that was thrown outside of every handler, such as by a timer, to the hook whose file it comes from.
	 * @returns false when its stack names no hook
	 */
	blame(error: unknown): boolean {
		const stack = error instanceof Error ? (error.stack ?? "") : "";
		const hook = this.#registry.hooks.find(({ path, realPath }) => stack.includes(path) || stack.includes(realPath));
		if (!hook) return false;
		this.options.onError({ hookPath: hook.path, event: "outside a handler", error: errorText(error) });
		return true;
	}

	/** Makes every `pi` and every context of these hooks throw. */
	unload(): void {
		for (const hook of this.#registry.hooks) hook.active = false;
		this.#use([]);
	}

	async #loadFresh(): Promise<{ hooks: LoadedHook[]; failed: Set<string> }> {
		const { parts, onSend, onWarning } = this.options;
		const { files, errors } = await parts.findHooks();
		const loading: LoadHooksOptions = {
			cacheDir: parts.hookCacheDir,
			timeoutMs: parts.settings.hookTimeout,
			// What comes with the program may use everything; for hooks the user says.
			grants: (file) => (file.scope === "builtin" ? HOST_HANDLE_NAMES : parts.grants(file)),
			send: (_, text, attachments) => onSend(text, attachments),
		};
		const builtin = await loadBuiltinHooks(parts.builtinHooks, loading);
		const loaded = await loadHooks(files, loading);
		for (const error of [...errors, ...builtin.errors, ...loaded.errors]) onWarning(describeError(error));
		const succeeded = new Set(loaded.hooks.map(({ realPath }) => realPath));
		const failed = files.filter(({ realPath }) => !succeeded.has(realPath)).map(({ realPath }) => realPath);
		return { hooks: [...builtin.hooks, ...loaded.hooks], failed: new Set(failed) };
	}

	#use(hooks: readonly LoadedHook[]): void {
		this.#registry = new HookRegistry(hooks, this.#builtinNames);
		this.#runner = this.#createRunner(this.#registry);
		for (const warning of this.#registry.warnings) this.options.onWarning(warning);
	}

	#createRunner(registry: HookRegistry): HookRunner {
		const { host, parts, onError } = this.options;
		return new HookRunner({ registry, host, hookTimeoutMs: () => parts.settings.hookTimeout, onError });
	}
}

/** Fresh hooks with the kept ones back in the places that they had. */
function inOrder(fresh: LoadedHook[], kept: LoadedHook[], old: readonly LoadedHook[]): LoadedHook[] {
	const order = [...fresh];
	for (const hook of kept) {
		const before = old.slice(0, old.indexOf(hook)).map(({ realPath }) => realPath);
		const at = order.findLastIndex(({ realPath }) => before.includes(realPath)) + 1;
		order.splice(at, 0, hook);
	}
	return order;
}
