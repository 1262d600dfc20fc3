import type { Api, ImageContent, Model } from "@mariozechner/pi-ai";
import type { CommandShell, PaletteItem, SessionStats } from "../commands/command.js";
import type { Inspector } from "../commands/inspection.js";
import { type CommandSources, paletteItems } from "../commands/registry.js";
import type { Settings } from "../config/settings-schema.js";
import { buildContext } from "../context/build-context.js";
import type { BuiltContext } from "../context/context-message.js";
import { describeError, PiError } from "../errors.js";
import { type HookHost, NO_UI } from "../hooks/host-context.js";
import type { CompletionItem, EntryOptions, HookUI } from "../hooks/types.js";
import type { SessionEntry, ThinkingLevel } from "../log/entry.js";
import { AutoCompaction } from "./auto-compaction.js";
import { createCommandHost } from "./command-host.js";
import { CommandRunner } from "./command-runner.js";
import { createCompactionControls } from "./compaction-controls.js";
import { createControls, type SessionControls } from "./controls.js";
import { problemEvent } from "./describe-context.js";
import type { QueuedPrompts, SessionEvent } from "./events.js";
import { createHookHost } from "./hook-host.js";
import { SessionInspector } from "./inspector.js";
import { Lifecycle } from "./lifecycle.js";
import { type LogView, viewLog } from "./log-view.js";
import { cycleModel, cycleThinkingLevel } from "./model-cycle.js";
import { type LoadedSummary, type PromptOutcome, summarizeLoaded } from "./outcomes.js";
import { Prompter } from "./prompter.js";
import { SessionContext } from "./session-context.js";
import { SessionHooks } from "./session-hooks.js";
import { SessionName } from "./session-name.js";
import type { SessionParts } from "./session-parts.js";
import { requireModel, SessionRunner } from "./session-run.js";
import { SessionState } from "./session-state.js";
import { StatsCounter } from "./stats.js";
import { UserShell } from "./user-bash.js";
import type { PromptExtras } from "./user-message.js";

/**
 * A conversation with an agent: owns log, context, model, tools and hooks, and knows no terminal. Modes drive it and
 * listen to its events. Create it with `createAgentSession`, then `start()`.
 */
export class AgentSession {
	readonly #parts: SessionParts;
	readonly #listeners = new Set<(event: SessionEvent) => void>();
	readonly #state: SessionState;
	readonly #context: SessionContext;
	readonly #runner: SessionRunner;
	readonly #userShell: UserShell;
	readonly controls: SessionControls;
	/** Shows what the model is given and how the hooks do. */
	readonly inspector: Inspector;
	readonly #hooks: SessionHooks;
	readonly #hookHost: HookHost;
	readonly #commands: CommandRunner;
	readonly #prompter: Prompter;
	readonly #compaction: AutoCompaction;
	readonly #lifecycle: Lifecycle;
	readonly #stats = new StatsCounter();
	readonly #name = new SessionName();
	readonly #warnings: string[];
	readonly #ended = new AbortController();
	#ui: HookUI = NO_UI;
	#hasUI = false;
	#shell: CommandShell | null = null;
	#disposed: Promise<void> | null = null;

	constructor(parts: SessionParts) {
		this.#parts = parts;
		this.#warnings = [...parts.warnings];
		const emit = (event: SessionEvent) => this.#emit(event);
		this.#state = new SessionState(parts.log, parts.defaults, emit, parts.settings);
		this.#state.restore(parts.models.find);
		this.#context = new SessionContext({
			log: () => this.#state.log,
			stages: (entries, signal, length) => this.#hooks.contextStages(entries, signal, length),
			preambleTokens: () => parts.preamble.tokens,
			onProblem: (problem) => emit(problemEvent(problem)),
			onChange: (context) => emit({ type: "context_changed", context }),
		});
		this.#hookHost = createHookHost({
			parts,
			state: this.#state,
			context: this.#context,
			ui: () => this.#ui,
			hasUI: () => this.#hasUI,
			shell: () => this.#shell,
			systemItems: () => this.#runner.systemItems,
			rebuild: () => this.rebuildContext(),
		});
		this.#hooks = new SessionHooks({
			host: this.#hookHost,
			parts,
			onError: (report) => emit({ type: "hook_error", ...report }),
			onLongCall: emit,
			onWarning: (line) => this.#warn(line),
			onSend: (text, attachments) => this.#prompter.receive(text, attachments),
		});
		this.inspector = new SessionInspector(this, parts, this.#context, this.#hooks, this.#ended.signal, () => {
			// A program that drives the session itself may do what no mode of pi does.
			const isDriven = this.#shell === null && this.#prompter.acceptsSend;
			return {
				tools: parts.tools.length > 0,
				sessions: parts.sessionDir !== null || isDriven,
				screen: this.#shell !== null || (isDriven && this.#ui === NO_UI),
			};
		});
		const shared = {
			parts,
			state: this.#state,
			context: this.#context,
			hooks: () => this.#hooks.runner,
			tryContext: (entries: readonly SessionEntry[], signal: AbortSignal) =>
				buildContext(
					entries,
					this.#hooks.trialStages(() => entries, signal),
				),
			emit,
		};
		this.#compaction = new AutoCompaction(shared);
		this.#runner = new SessionRunner({
			parts,
			state: this.#state,
			context: this.#context,
			compaction: this.#compaction,
			hooks: () => this.#hooks.runner,
			emit,
		});
		this.#userShell = new UserShell({ parts, state: this.#state, runner: this.#runner, emit });
		this.controls = createControls({ parts, context: this.#context, runner: this.#runner, userShell: this.#userShell });
		this.#lifecycle = new Lifecycle({
			...shared,
			knowsType: (type) => this.#hooks.registry.knowsEntryType(type),
			warn: (line) => this.#warn(line),
			stop: () => this.abort().then(() => this.#runner.systemItems.settle()),
			ended: this.#ended.signal,
		});
		this.#commands = new CommandRunner({
			sources: () => this.#sources(),
			resources: parts.resources,
			host: createCommandHost(
				this,
				this.#lifecycle,
				parts,
				createCompactionControls({
					...shared,
					compaction: this.#compaction,
					isRunning: () => this.isRunning,
					ended: this.#ended.signal,
				}),
			),
			hooks: () => this.#hooks.runner,
			ui: () => this.#ui,
			shell: () => this.#shell,
			emit,
		});
		this.#prompter = new Prompter({
			commands: this.#commands,
			runner: this.#runner,
			ended: this.#ended.signal,
			notice: (level, message) => this.#notice(level, message),
		});
		this.#lifecycle.watchLog((error) => this.#notice("error", describeError(error)));
	}

	/** Loads the hooks, tells them of the start and computes the context. Call once, after `attachUI`. */
	async start(): Promise<void> {
		await this.#hooks.load();
		await this.#lifecycle.start();
	}

	/** Gives hooks and commands a person to ask. Without it dialogs return their cancelled values at once. */
	attachUI(ui: HookUI, shell: CommandShell | null, hasUI = shell !== null): void {
		this.#ui = ui;
		this.#shell = shell;
		this.#hasUI = hasUI;
	}

	/** Hears everything that happens, in order. @returns a function that stops it */
	subscribe(listener: (event: SessionEvent) => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	get cwd(): string {
		return this.#parts.cwd;
	}
	get sessionFile(): string | null {
		return this.#state.log.path;
	}
	get sessionId(): string {
		return this.#state.log.id;
	}
	get sessionName(): string | null {
		return this.#name.of(this.#state.log);
	}
	/** The log as it is at each moment, entries read when they are asked for. */
	get log(): LogView {
		return viewLog(this.#state.log);
	}
	/** All entries, index 0 is the header; frozen. Reads them all: see `log`. */
	get entries(): readonly SessionEntry[] {
		return this.#state.log.entries;
	}
	/** The context as last computed. */
	get context(): BuiltContext {
		return this.#context.current;
	}
	get model(): Model<Api> | null {
		return this.#state.model;
	}
	get thinkingLevel(): ThinkingLevel {
		return this.#state.thinkingLevel;
	}
	get settings(): Settings {
		return this.#parts.settings.current;
	}
	get isRunning(): boolean {
		return this.#runner.isRunning;
	}
	get isCompacting(): boolean {
		return this.#compaction.isRunning;
	}
	get queue(): QueuedPrompts {
		return this.#runner.queue.texts;
	}
	/** Whether hooks may start runs; false in print mode, where nothing can but the prompt. */
	set acceptsSend(accepts: boolean) {
		this.#prompter.acceptsSend = accepts;
	}
	get autoCompaction(): boolean {
		return this.#compaction.enabled;
	}
	set autoCompaction(enabled: boolean) {
		this.#compaction.enabled = enabled;
	}
	get loaded(): LoadedSummary {
		return summarizeLoaded(this.#parts.resources, this.#hooks.registry.hooks, this.#warnings);
	}

	/**
	 * Takes a line of the user: runs a command, steers a run that is on, or begins a run and waits for its end.
	 * @throws PiError `key_missing`, `model_missing` before anything is written; `bad_arguments`, `command_failed` of commands
	 */
	prompt(text: string, extras: PromptExtras = {}): Promise<PromptOutcome> {
		return this.#prompter.prompt(text, extras);
	}

	/** As `prompt`, but a leading slash means nothing. */
	send(text: string, extras: PromptExtras = {}): Promise<PromptOutcome> {
		return this.#prompter.send(text, extras);
	}

	/** Says something once the run is over; at once when none is on. */
	followUp(text: string, images: readonly ImageContent[] = []): Promise<void> {
		return this.#prompter.followUp(text, images);
	}

	/** Takes the waiting prompts back, for the editor. */
	takeQueue(): string[] {
		return this.#runner.queue.clear();
	}

	/** Stops run, command, compaction and shell command, and waits until all is quiet. @returns the prompts that waited */
	async abort(): Promise<string[]> {
		this.#prompter.abortCommand();
		this.#userShell.abort();
		this.#compaction.abort();
		this.#lifecycle.abort();
		return this.#runner.abort();
	}

	/** Runs a shell command of the user and keeps it as an entry. */
	runBash(command: string, { excludeFromContext = false } = {}): Promise<void> {
		return this.#userShell.run(command, excludeFromContext);
	}

	/** Computes the context from the entries now. */
	async rebuildContext(): Promise<void> {
		await this.#context.rebuild(this.#runner.signal ?? this.#ended.signal);
	}

	async setModel(model: Model<Api>): Promise<void> {
		this.#state.setModel(model);
	}

	setThinkingLevel(level: ThinkingLevel): void {
		this.#state.setThinkingLevel(level);
	}

	/** Goes to the next or previous usable model. @returns it, or null when there is no other */
	cycleModel(direction: 1 | -1): Promise<Model<Api> | null> {
		return cycleModel(this.#parts, this.#state, direction);
	}

	/** Goes to the next thinking level that the model knows. */
	cycleThinkingLevel(): ThinkingLevel {
		return cycleThinkingLevel(this.#parts, this.#state);
	}

	/** How full the model's window is. */
	contextUsage(): { tokens: number; contextWindow: number } {
		return { tokens: this.#context.tokens(), contextWindow: this.model?.contextWindow ?? 0 };
	}

	stats(): SessionStats {
		return this.#stats.count(this.#state.log);
	}

	/** The same as far as it is counted at once: a long session takes several calls. @returns null when there is more */
	statsSoFar(): SessionStats | null {
		return this.#stats.countSome(this.#state.log);
	}

	/** Names the session. */
	setName(name: string): void {
		this.#lifecycle.setName(name);
	}

	/** Replaces earlier messages by a summary. @throws PiError `compaction_failed` */
	async compact(focus?: string, signal?: AbortSignal): Promise<{ tokensBefore: number; tokensAfter: number }> {
		requireModel(this.#parts, this.#state);
		if (this.isRunning)
			throw new PiError("session_busy", "The agent is running", { hint: "press escape first, then /compact" });
		return this.#compaction.compact("manual", focus, signal);
	}

	/** Loads all hooks anew. @returns a line that says what is loaded */
	async reload(): Promise<string> {
		this.#warnings.splice(0, this.#warnings.length, ...this.#parts.settings.reload());
		const { count, kept } = await this.#hooks.reload(() => this.#lifecycle.tellHooks("shutdown"));
		await this.#lifecycle.tellHooks("start");
		await this.rebuildContext();
		const old = kept.length > 0 ? `; the previous version still runs of ${kept.join(", ")}` : "";
		return `${count} ${count === 1 ? "hook" : "hooks"} loaded${old}`;
	}

	/** Rows of the palette. */
	palette(): PaletteItem[] {
		return paletteItems(this.#sources());
	}

	completeArguments(name: string, prefix: string): Promise<CompletionItem[]> {
		return this.#commands.complete(name, prefix, this.#ended.signal);
	}

	/** How a hook draws its entries; undefined when it does not. */
	entryRenderer(type: string): EntryOptions["render"] {
		return this.#hooks.registry.entryType(type)?.render;
	}

	/** Reports an error that was thrown outside of every handler, unless it is pi's own. @returns whether it did */
	blameHook(error: unknown): boolean {
		return this.#hooks.blame(error);
	}

	/** True when what a stack shows was called by a hook itself. */
	isCalledByHook(stack: string): boolean {
		return this.#hooks.called(stack);
	}

	/** New session, switch and branch, which ask the hooks first; and what is to be known of a session that was opened. */
	get lifecycle(): Omit<Lifecycle, "start" | "watchLog" | "setName" | "tellHooks"> {
		return this.#lifecycle;
	}

	/** Stops everything, tells the hooks, and closes the log. Safe to call more than once. */
	dispose(): Promise<void> {
		this.#disposed ??= this.#dispose();
		return this.#disposed;
	}

	async #dispose(): Promise<void> {
		await this.abort();
		await this.#lifecycle.tellHooks("shutdown");
		this.#runner.systemItems.settle();
		this.#ended.abort();
		this.#hooks.unload();
		await this.#state.log.flush();
		this.#parts.client.release(this.sessionId);
		this.#state.close();
		this.#listeners.clear();
	}

	#sources(): CommandSources {
		const { builtins, resources } = this.#parts;
		return { builtins, hooks: this.#hooks.registry, templates: resources.templates, skills: resources.skills };
	}

	#notice(level: "info" | "warning" | "error", message: string): void {
		this.#emit({ type: "notice", level, message: this.#parts.redact(message) });
	}

	/** A warning of start or reload: shown in the header, and said. */
	#warn(line: string): void {
		this.#warnings.push(line);
		this.#notice("warning", line);
	}

	#emit(event: SessionEvent): void {
		for (const listener of this.#listeners) listener(event);
	}
}
