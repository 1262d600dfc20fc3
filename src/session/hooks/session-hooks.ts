import type { ContextStage } from "../../context/build-context.js";
import type { ContextProblem } from "../../context/context-message.js";
import { describeProblem } from "../../context/describe-problem.js";
import { StabilityWatch } from "../../context/stability.js";
import { describeError, HookError, PiError } from "../../errors.js";
import type { BundledHook } from "../../hooks/bundled-hook.js";
import { bundledFile, bundledPath, isOptional } from "../../hooks/bundled-words.js";
import type { HookSession } from "../../hooks/context-object.js";
import type { HookFile } from "../../hooks/discover.js";
import { EventBus } from "../../hooks/event-bus.js";
import { type FlagValues, flagValues } from "../../hooks/flags.js";
import { HOST_HANDLE_NAMES } from "../../hooks/granted-handles.js";
import type { HookCallOptions } from "../../hooks/handler-calls.js";
import { HookRegistry, type LoadedHook, replacedBundled, unloadHook } from "../../hooks/hook-registry.js";
import { isPartOfPi } from "../../hooks/hook-scope.js";
import { HookTools } from "../../hooks/hook-tool.js";
import { type FoundHooks, type LoadHooksOptions, loadBuiltinHooks, loadHooks } from "../../hooks/load.js";
import { byBundledOrder, inOrder } from "../../hooks/load-order.js";
import type { CustomTool } from "../../hooks/load-tools.js";
import { HookRunner } from "../../hooks/runner.js";
import { retainClaims } from "../../hooks/screen-claims.js";
import { positionOfError } from "../../hooks/source-position.js";
import { isCalledBy } from "../../hooks/stack-owner.js";
import type { Attachment, SendOptions } from "../../hooks/types.js";
import type { SessionEntry } from "../../log/entry.js";
import type { Code, Store } from "../../services/service-types.js";
import type { StageInput } from "../session-context.js";
import { adaptExtension } from "./adapt-extension.js";
import { HookDrawings } from "./hook-drawings.js";
import { HookHealth, LongCalls } from "./hook-health.js";
import type { RequiredHooks } from "./required-hooks.js";
import { StrayErrorOwner } from "./stray-error-owner.js";

export interface SessionHooksOptions {
	host: HookSession;
	store: Pick<Store, "hookCacheDir" | "settings">;
	code: Pick<Code, "findHooks" | "readFlags" | "bundledHooks" | "builtinHooks" | "grants" | "verbose" | "watch">;
	/** Command names that hooks cannot use. */
	reservedNames(): ReadonlySet<string>;
	onError(error: HookError): void;
	/** Called for handlers that keep the session waiting. */
	onLongCall: ConstructorParameters<typeof LongCalls>[0];
	onWarning(line: string): void;
	required: Pick<RequiredHooks, "refuses" | "use">;
	/** Called when the registrations of the active hooks change, first when they have loaded (`isFirst`). */
	onChange(isFirst: boolean): void;
	resourcesRead(): Promise<void>;
	onSend(text: string | null, attachments: Attachment[], options: SendOptions): void;
	/** Receives the tools of all running hooks when they may have changed. */
	onTools(tools: readonly CustomTool[]): void;
	/** Emits a session event of the current session to the hooks of a runner. */
	notify(runner: HookRunner, reason: "start" | "shutdown"): Promise<void>;
}

/** A hook that failed to load, and the reason. */
export interface HookFailure {
	path: string;
	name: string;
	scope: string;
	problem: string;
}

/** Loads, reloads and holds the hooks of a session. */
export class SessionHooks {
	readonly health = new HookHealth();
	readonly drawings: HookDrawings;
	/** Paths of hooks that the user turned off for this session. */
	readonly #off = new Set<string>();
	#loaded: readonly LoadedHook[] = [];
	#replaced: ReadonlyMap<string, LoadedHook> = new Map();
	/** Every file found so far, even if it failed to load or was replaced: its timers and promises may still run. */
	#files: readonly HookFile[] = [];
	#failures: readonly HookFailure[] = [];
	#loadErrors: readonly string[] = [];
	readonly #longCalls: LongCalls;
	#stability = new StabilityWatch();
	readonly #tools: HookTools;
	readonly #bus: EventBus;
	readonly #strays = new StrayErrorOwner();
	#hasLoaded = false;
	#flags: FlagValues = {};
	/** A flag on the command line that no hook declares, or that has no value. */
	#flagProblem: PiError | null = null;
	#registry: HookRegistry;
	#runner: HookRunner;

	constructor(private readonly options: SessionHooksOptions) {
		this.#longCalls = new LongCalls(options.onLongCall);
		this.#registry = new HookRegistry([], options.reservedNames());
		this.drawings = new HookDrawings({
			registry: () => this.#registry,
			health: this.health,
			verbose: options.code.verbose,
		});
		this.#tools = new HookTools({
			...this.#calls(),
			onFailure: (error) => this.health.recordError(error, options.code.verbose),
			onProblem: (error) => this.report(error),
		});
		this.#bus = new EventBus({
			...this.#calls(),
			hooks: () => this.#registry.hooks,
			onError: (error) => this.report(error),
		});
		this.#runner = this.#createRunner(this.#registry);
	}

	get registry(): HookRegistry {
		return this.#registry;
	}

	/** Values of the flags that the active hooks declare. */
	get flags(): FlagValues {
		return this.#flags;
	}

	get runner(): HookRunner {
		return this.#runner;
	}

	/** Every loaded hook, including those that are turned off. */
	get loaded(): readonly LoadedHook[] {
		return this.#loaded;
	}

	/** Loaded bundled hooks that do not run, because a hook of the user has one of their commands: path → the user's hook. */
	get replaced(): ReadonlyMap<string, LoadedHook> {
		return this.#replaced;
	}

	/** Hooks that failed to load last time; a previous version may still be loaded. */
	get failures(): readonly HookFailure[] {
		return this.#failures;
	}

	/** What could not be loaded last time, as it was reported: hooks, and files that the settings name. */
	get loadErrors(): readonly string[] {
		return this.#loadErrors;
	}

	isEnabled({ path }: LoadedHook): boolean {
		return !this.#off.has(path);
	}

	/**
	 * Loads a bundled hook into the running session, unless it is loaded. The caller computes the context again.
	 * @throws PiError `hook_load_failed`
	 */
	addBundled({ name }: BundledHook): Promise<void> {
		return this.add({ path: bundledPath(name), realPath: bundledFile(name), scope: "bundled", name });
	}

	/** Loads a hook of the user as `addBundled` does. @throws PiError `hook_load_failed` */
	async add(file: HookFile): Promise<void> {
		const { path } = file;
		if (this.#loaded.some((hook) => hook.path === path)) return;
		this.knowFiles([file]);
		const { hooks, failures } = await loadHooks([file], this.#loading());
		this.#failures = this.#failures.filter((failure) => failure.path !== path);
		if (failures[0]) throw failures[0].error;
		this.#hold([...this.#loaded, ...hooks].sort(byBundledOrder));
		await this.#notify(path, "start");
	}

	/** Unloads a bundled hook. The caller computes the context again. */
	async removeBundled({ name }: BundledHook): Promise<void> {
		const path = bundledPath(name);
		await this.#notify(path, "shutdown");
		for (const hook of this.#loaded) if (hook.path === path) unloadHook(hook);
		this.#hold(this.#loaded.filter((hook) => hook.path !== path));
	}

	/** Turns a hook off, after its `shutdown`, or on, before its `start`. The caller computes the context again. */
	async setEnabled(hook: LoadedHook, isEnabled: boolean): Promise<void> {
		if (isEnabled === this.isEnabled(hook)) return;
		if (isEnabled) this.#off.delete(hook.path);
		else this.#off.add(hook.path);
		if (!isEnabled && hook.handlers.session) await this.#notify(hook.path, "shutdown");
		this.#register();
		if (isEnabled) await this.#notify(hook.path, "start");
	}

	/** The stages of the context, watched for unstable answers. */
	contextStages({ entries, hasType, length }: StageInput, signal: AbortSignal): ContextStage[] {
		return this.#stability.watch(this.#runner.contextStages(entries, signal, hasType), length);
	}

	/** Like `contextStages`, for inspection: records no figures and reports nothing. @param isTrial see `ContextEvent.trial` */
	quietStages(entries: () => readonly SessionEntry[], signal: AbortSignal, isTrial: boolean): ContextStage[] {
		const { host, store } = this.options;
		const hookTimeoutMs = () => store.settings.current.hookTimeout;
		const quiet = new HookRunner({ registry: this.#registry, host, hookTimeoutMs, isTrial, onError: () => {} });
		return quiet.contextStages(entries, signal);
	}

	/** Reports, once, a hook that answers differently to the same input. */
	reportUnstable(hookPath: string): void {
		if (!this.health.markUnstable(hookPath)) return;
		this.options.onWarning(
			`Hook ${hookPath} returns a different request for the same entries, so the provider cannot cache what follows the difference`,
		);
	}

	/**
	 * Loads all hooks. Failures and name conflicts become warnings.
	 * @throws PiError `bad_arguments` for a flag on the command line that no hook declares, and as `RequiredHooks.use` does
	 */
	async load(): Promise<void> {
		const { hooks } = await this.#loadFresh();
		this.#use(hooks);
		this.#hasLoaded = true;
		if (this.#flagProblem) throw this.#flagProblem;
	}

	/**
	 * Loads all hooks again. A hook that fails to load keeps its previous version.
	 * @param beforeUnload runs while the old hooks are still active, for their `shutdown`
	 * @returns the number of loaded hooks, without those of pi; the bundled ones that the user turned on; and the paths that
	 * kept their old version
	 */
	async reload(beforeUnload: () => Promise<void>): Promise<{ count: number; bundled: string[]; kept: string[] }> {
		const old = this.#loaded;
		const { hooks, failed } = await this.#loadFresh();
		await beforeUnload();
		const kept = old.filter(({ path }) => failed.has(path));
		for (const hook of old) if (!kept.includes(hook)) unloadHook(hook);
		this.#strays.forget();
		this.#use(inOrder(hooks, kept, old));
		if (this.#flagProblem) this.options.onWarning(describeError(this.#flagProblem));
		return {
			count: this.#loaded.filter((hook) => !isPartOfPi(hook)).length,
			bundled: this.#loaded.flatMap(({ path }) => (isOptional(path) ? [path] : [])),
			kept: kept.map(({ path }) => path),
		};
	}

	/** Makes errors that timers and promises of these files throw errors of hooks. */
	knowFiles(files: readonly HookFile[]): void {
		this.#files = [...this.#files, ...files.filter(({ path }) => !this.#files.some((known) => known.path === path))];
	}

	/** True when a stack trace shows a call by a hook, even one that is still loading or failed to load. */
	called(stack: string): boolean {
		return isCalledBy(stack, this.#files);
	}

	/**
	 * Reports an error thrown outside of any handler, such as in a timer. See `StrayErrorOwner`. The use of a stale context
	 * object is reported once until the next reload.
	 * @returns false when pi itself threw it
	 */
	blame(thrown: unknown): boolean {
		const error = this.#strays.attribute(thrown, this.#files);
		if (error instanceof HookError) this.report(error);
		return error !== null;
	}

	/** Reports that the answer of a `context` handler was dropped. */
	reportProblem(hookPath: string, problem: ContextProblem, handler?: object): void {
		const hook = this.#loaded.find(({ path }) => path === hookPath);
		const place = hook && handler ? positionOfError(hook.places.get(handler), hook) : null;
		const reason = `${describeProblem(problem)}; its answer was dropped`;
		const source = { place, trace: null, rule: problem.rule };
		this.report(new HookError("context_invalid", hookPath, "context", reason, source));
	}

	/** Unloads all hooks: their `pi` and context objects throw from now on. */
	unload(): void {
		for (const hook of this.#loaded) unloadHook(hook);
		this.#use([]);
	}

	async #loadFresh(): Promise<{ hooks: LoadedHook[]; failed: ReadonlyMap<string, HookFailure> }> {
		const { code, onWarning } = this.options;
		const loading = this.#loading();
		const { hooks, failures } = await loadBuiltinHooks(code.builtinHooks, loading);
		const errors: PiError[] = [];
		const fail = (error: PiError) => {
			errors.push(error);
			if (!this.options.required.refuses(error)) onWarning(describeError(error));
		};
		for (const { error } of failures) fail(error);
		const failed = new Map<string, HookFailure>();
		for (let found: FoundHooks | undefined = await code.findHooks(); found; found = await found.next?.()) {
			const added = found.files.filter(
				({ path, realPath }) => !this.#files.some((known) => known.realPath === realPath && known.path === path),
			);
			this.#files = [...this.#files, ...added];
			const loaded = await loadHooks(found.files, loading);
			for (const error of found.errors) fail(error);
			for (const { file, error } of loaded.failures) {
				const { path, name, scope } = file;
				failed.set(path, { path, name, scope, problem: error.message });
				const isMissing = file.isRequired && !this.#loaded.some((hook) => hook.path === path);
				fail(isMissing ? new PiError("package_unloaded", error.message, error) : error);
			}
			hooks.push(...loaded.hooks);
		}
		this.#failures = [...failed.values()];
		this.#loadErrors = errors.map(describeError);
		this.options.required.use(errors);
		return { hooks, failed };
	}

	#loading(): LoadHooksOptions {
		const { store, code, onSend, onWarning } = this.options;
		return {
			cacheDir: store.hookCacheDir,
			adaptExtension,
			timeoutMs: store.settings.current.hookTimeout,
			...(code.watch ? { watch: code.watch } : {}),
			// Built-in hooks and those of the program itself may use every handle; for others the user decides.
			grants: (file) =>
				file.scope === "builtin" || file.scope === "inline" ? HOST_HANDLE_NAMES : code.grants.of(file),
			requestGrant: (request) => code.grants.request(request, onWarning),
			send: (_, ...sent) => onSend(...sent),
			emit: (hook, name, data) => this.#bus.emit(hook, name, data),
			onChange: (hook) => this.#update(hook),
			resourcesRead: this.options.resourcesRead,
		};
	}

	/** Emits a session event to one hook that is turned on or off during the session. */
	async #notify(path: string, reason: "start" | "shutdown"): Promise<void> {
		const { registry } = this;
		const hook = registry.hooks.find((candidate) => candidate.path === path);
		if (!hook?.handlers.session) return;
		await this.options.notify(this.#createRunner(new HookRegistry([hook], this.options.reservedNames())), reason);
	}

	#use(hooks: readonly LoadedHook[]): void {
		this.#hold(hooks);
		for (const warning of this.#registry.warnings) this.options.onWarning(warning);
	}

	#hold(hooks: readonly LoadedHook[]): void {
		this.#loaded = hooks;
		this.#strays.addLoaded(hooks);
		this.#replaced = replacedBundled(hooks);
		this.#register();
	}

	/** Applies a registration of a running hook. Hooks that load or are turned off are applied later, as a whole. */
	#update(changed: LoadedHook): void {
		if (!this.#loaded.includes(changed)) return;
		const replaced = replacedBundled(this.#loaded);
		if ([...replaced.keys()].some((path) => !this.#replaced.has(path))) this.#hold(this.#loaded);
		else {
			for (const clash of this.#registry.refresh()) this.options.onWarning(clash);
			this.#passOn();
		}
	}

	/** Passes on what hooks have registered. */
	#passOn(): void {
		const { flags } = this.#registry;
		const { values = {}, problem = null } = this.options.code.readFlags?.(flags) ?? {};
		this.#flags = flagValues(flags, values);
		this.#flagProblem = problem;
		this.options.onTools(this.#tools.of(this.#registry));
		this.options.onChange(!this.#hasLoaded);
	}

	#register(): void {
		const enabled = this.#loaded.filter((hook) => this.isEnabled(hook) && !this.#replaced.has(hook.path));
		retainClaims(this.#registry.hooks, enabled);
		this.#registry = new HookRegistry(enabled, this.options.reservedNames());
		this.#runner = this.#createRunner(this.#registry);
		// A reloaded hook may answer differently.
		this.#stability = new StabilityWatch((hookPath) => this.reportUnstable(hookPath));
		this.#passOn();
	}

	/** What every kind of call into a hook needs. */
	#calls(): Pick<Required<HookCallOptions>, "host" | "hookTimeoutMs" | "onCall"> & Pick<HookCallOptions, "watch"> {
		const { host, store, code } = this.options;
		return {
			host,
			...(code.watch ? { watch: code.watch } : {}),
			hookTimeoutMs: () => store.settings.current.hookTimeout,
			onCall: (report) => this.health.recordCall(report),
		};
	}

	#createRunner(registry: HookRegistry): HookRunner {
		return new HookRunner({
			...this.#calls(),
			registry,
			onError: (error) => this.report(error),
			onBlock: (hookPath) => this.health.recordBlock(hookPath),
			onBegin: (hookPath, event) => this.#longCalls.begin(hookPath, event),
		});
	}

	/** Records and reports an error of a hook. */
	report(error: HookError): void {
		this.health.recordError(error, this.options.code.verbose);
		this.options.onError(error);
	}
}
