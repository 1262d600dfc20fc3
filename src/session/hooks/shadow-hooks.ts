import { notPlayed, type ShadowFigures } from "../../commands/shadow-figures.js";
import { describeError } from "../../errors.js";
import { bundledFile, bundledPath, changesRequests, findBundled, isBundledWord } from "../../hooks/bundled-words.js";
import type { HookFile } from "../../hooks/discover.js";
import { hookName } from "../../hooks/hook-name.js";
import { type HookRegistry, type LoadedHook, unloadHook } from "../../hooks/hook-registry.js";
import { loadHooks } from "../../hooks/load.js";
import type { SessionEntry } from "../../log/entry.js";
import type { SessionLog } from "../../log/session-log.js";
import type { Code, Store } from "../../services/service-types.js";
import type { SessionState } from "../session-state.js";
import { adaptExtension } from "./adapt-extension.js";
import type { SessionHooks } from "./session-hooks.js";

/** A hook that is off and whose effect is computed. */
export interface ShadowHook {
	path: string;
	name: string;
	/** null for a word of the settings that names no hook. */
	file: HookFile | null;
	/** Why there is no file; else null. */
	problem: string | null;
}

/** How figures are computed. */
export interface ShadowPlayOptions {
	signal: AbortSignal;
	/** Receives the share of the work that is done, 0 to 1. */
	onProgress(share: number): void;
}

/** What the session is played with. */
export interface ShadowPlay extends ShadowPlayOptions {
	path: string | null;
	entries: readonly SessionEntry[];
	/** Copies, which belong to the play. */
	shadows: readonly LoadedHook[];
	/** The hooks that are on, with nothing but their `context` handlers: what else they did is in the log. */
	base: readonly LoadedHook[];
}

export interface ShadowHooksOptions {
	store: Pick<Store, "settings" | "hookCacheDir">;
	code: Pick<Code, "bundledHooks" | "locateHook" | "grants" | "watch">;
	state: Pick<SessionState, "log">;
	hooks: SessionHooks;
	/** @returns figures by path; null if it was stopped */
	play(play: ShadowPlay): Promise<ReadonlyMap<string, ShadowFigures> | null>;
}

/**
 * The hooks of the setting `shadowHooks` that are off. What they would have sent is computed from the log when somebody asks, with
 * copies that cannot change the session, and remembered until the log or the hooks that are on change.
 */
export class ShadowHooks {
	readonly #figures = new Map<string, ShadowFigures>();
	/** What the figures were computed from. */
	#of: { log: SessionLog; length: number; registry: HookRegistry } | null = null;

	constructor(private readonly options: ShadowHooksOptions) {}

	/** In the order of the setting, each once. */
	list(): ShadowHook[] {
		const found = new Map<string, ShadowHook>();
		if (!this.options.code.bundledHooks) return [];
		for (const word of this.options.store.settings.current.shadowHooks) {
			const hook = this.#find(word);
			if (!found.has(hook.path)) found.set(hook.path, hook);
		}
		const { hooks } = this.options;
		const isOn = (path: string) => hooks.loaded.some((hook) => hook.path === path && hooks.isEnabled(hook));
		return [...found.values()].filter(({ path }) => !isOn(path));
	}

	/** Puts a hook into the shadow or takes it out, in the user's settings. @throws PiError `config_write_failed` */
	async set(path: string, isShadow: boolean): Promise<void> {
		const { settings } = this.options.store;
		const words = settings.current.shadowHooks;
		const others = words.filter((word) => this.#find(word).path !== path);
		if (!isShadow && others.length === words.length) return;
		await settings.set("shadowHooks", isShadow ? [...others, path] : others);
	}

	/** @returns the figures of all hooks in the shadow, by path; null if it was stopped */
	async play({ signal, onProgress }: ShadowPlayOptions): Promise<ReadonlyMap<string, ShadowFigures> | null> {
		const { log } = this.options.state;
		const { registry } = this.options.hooks;
		const { entries } = log;
		const of = this.#of;
		if (of?.log !== log || of.length !== entries.length || of.registry !== registry) this.#figures.clear();
		this.#of = { log, length: entries.length, registry };
		const all = this.list();
		const missing = all.filter(({ path }) => !this.#figures.has(path));
		const computed = new Map<string, ShadowFigures>();
		for (const { path, problem } of missing) if (problem !== null) computed.set(path, notPlayed(problem));
		const { hooks: shadows, failures } = await this.#loadCopies(missing.flatMap(({ file }) => file ?? []));
		for (const { file, error } of failures) computed.set(file.path, notPlayed(describeError(error)));
		try {
			const base = registry.hooks.filter(({ handlers }) => handlers.context).map(withoutEffects);
			const play = { signal, onProgress, path: log.path, entries, shadows, base };
			const figures = shadows.length > 0 ? await this.options.play(play) : new Map<string, ShadowFigures>();
			if (!figures || signal.aborted) return null;
			for (const [path, one] of figures) computed.set(path, one);
		} finally {
			for (const hook of shadows) unloadHook(hook);
		}
		const known = new Map([...this.#figures, ...computed]);
		// The log may have grown in the meantime.
		if (this.#of.length === entries.length && this.#of.registry === registry && this.#of.log === log)
			for (const [path, one] of computed) this.#figures.set(path, one);
		return new Map(all.flatMap(({ path }) => [[path, known.get(path) ?? NO_REQUESTS] as const]));
	}

	#find(word: string): ShadowHook {
		const { hooks, code } = this.options;
		const bundled = findBundled(word) ?? findBundled(bundledPath(word));
		const names = [word, ...(bundled ? [bundledPath(bundled.name)] : [])];
		const named = hooks.loaded.find(({ path, name }) => names.includes(path) || name === word);
		const missing = (problem: string, path = word) => ({ path, name: hookName(path), file: null, problem });
		if (named && !findBundled(named.path)) return ofFile(named);
		if (bundled) {
			const path = bundledPath(bundled.name);
			if (!changesRequests(bundled.group))
				return missing("It changes no request, so there is nothing to compute", path);
			return ofFile({ path, realPath: bundledFile(bundled.name), scope: "bundled", name: bundled.name });
		}
		if (isBundledWord(word)) return missing(`There is no bundled hook ${word}`);
		const { files, errors } = code.locateHook(word);
		const [file] = files;
		if (!file) return missing(errors[0] ? describeError(errors[0]) : `There is no hook ${word}`);
		return ofFile(hooks.loaded.find(({ realPath }) => realPath === file.realPath) ?? file);
	}

	#loadCopies(files: readonly HookFile[]): ReturnType<typeof loadHooks> {
		const { store, code, hooks } = this.options;
		hooks.knowFiles(files);
		return loadHooks(files, {
			cacheDir: store.hookCacheDir,
			adaptExtension,
			timeoutMs: store.settings.current.hookTimeout,
			...(code.watch ? { watch: code.watch } : {}),
			grants: (file) => code.grants.of(file),
			send() {},
		});
	}
}

const NO_REQUESTS = notPlayed("it was not played");

/** The file without what a hook has registered. */
function ofFile({ path, realPath, scope, name, factory, kind }: HookFile): ShadowHook {
	const file = { path, realPath, scope, name, ...(factory && { factory }), ...(kind && { kind }) };
	return { path, name, file, problem: null };
}

function withoutEffects(hook: LoadedHook): LoadedHook {
	const { context = [] } = hook.handlers;
	return { ...hook, handlers: { context }, tools: new Map() };
}
