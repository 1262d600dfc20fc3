import type { Api, ImageContent, Model } from "@mariozechner/pi-ai";
import type { CommandShell, PaletteItem, SessionStats } from "../commands/command.js";
import type { CompactionRequest, CompactionTokens } from "../commands/compaction.js";
import type { Inspector } from "../commands/inspection.js";
import { type CommandSources, paletteItems } from "../commands/registry.js";
import type { Settings } from "../config/settings-schema.js";
import type { BuiltContext } from "../context/context-message.js";
import type { CompletionItem, EntryOptions, HookUI } from "../hooks/types.js";
import type { AppMessage, SessionEntry, ThinkingLevel } from "../log/entry.js";
import type { Activity, SessionActivity } from "./activity.js";
import type { CommandRunner } from "./command-runner.js";
import type { Compaction } from "./compaction.js";
import type { AgentSessionEvent, QueuedPrompts, SessionEvents } from "./events.js";
import type { Lifecycle } from "./lifecycle.js";
import type { QueueMode } from "./prompt-queue.js";
import type { PromptExtras, Prompter, PromptResult } from "./prompter.js";
import { type LogView, type SessionContext, viewLog } from "./session-context.js";
import type { SessionHooks } from "./session-hooks.js";
import { cycleModel, cycleThinkingLevel } from "./session-models.js";
import type { SessionRunner } from "./session-run.js";
import { requireModel, type SessionSetup } from "./session-setup.js";
import { SessionName, type SessionState } from "./session-state.js";
import { StatsCounter } from "./stats.js";
import type { UserShell } from "./user-shell.js";

/** Who can be asked, and on what; set by `attachUI`. */
export interface SessionSurface {
	ui: HookUI;
	shell: CommandShell | null;
	hasUI: boolean;
}

/** What is loaded, for the header. */
export interface LoadedSummary {
	hooks: { path: string; name: string; scope: string }[];
	skills: string[];
	templates: string[];
	contextFiles: string[];
	/** What went wrong while loading, one line each. */
	warnings: string[];
}

/** What programs that drive a session may look at and change besides what every mode does. */
export interface SessionControls {
	/** The messages that the model sees next. */
	readonly messages: readonly AppMessage[];
	/** Whether waiting prompts are delivered one in each turn or all at once; for this session, nothing is saved. */
	queueMode: QueueMode;
	/** Whether failed requests are sent again; for this session, nothing is saved. */
	autoRetry: boolean;
	/** Models for which a key is known, those of servers on this machine among them. */
	availableModels(): Promise<Model<Api>[]>;
	/** Stops the user's shell command; nothing happens when none runs. */
	abortBash(): void;
}

/** The components of a session, connected by `create-session.ts`. */
export interface SessionComponents {
	setup: SessionSetup;
	activity: SessionActivity;
	events: SessionEvents;
	state: SessionState;
	context: SessionContext;
	hooks: SessionHooks;
	compaction: Compaction;
	runner: SessionRunner;
	userShell: UserShell;
	lifecycle: Lifecycle;
	commands: CommandRunner;
	prompter: Prompter;
	inspector: Inspector;
	sources(): CommandSources;
	surface: SessionSurface;
	/** Of the start and of reloads, one line each. */
	warnings: string[];
	/** Aborted when the session ends. */
	ended: AbortController;
	/** Computes the context from the entries now. */
	rebuild(): Promise<void>;
}

/**
 * A conversation with an agent: owns log, context, model, tools and hooks, and knows no terminal. Modes drive it and
 * subscribe to its events. Create it with `createAgentSession`, then `start()`.
 */
export class AgentSession {
	readonly #components: SessionComponents;
	readonly #stats = new StatsCounter();
	readonly #name = new SessionName();
	readonly controls: SessionControls;
	/** Shows what the model is given and how the hooks do. */
	readonly inspector: Inspector;
	#disposed: Promise<void> | null = null;

	constructor(components: SessionComponents) {
		this.#components = components;
		this.controls = createControls(components);
		this.inspector = components.inspector;
	}

	/** Loads the hooks, notifies them of the start and computes the context. Call once, after `attachUI`. */
	start(): Promise<void> {
		const { lifecycle, hooks } = this.#components;
		return lifecycle.start(() => hooks.load());
	}

	/** Gives hooks and commands a person to ask. Without it dialogs return their canceled values at once. */
	attachUI(ui: HookUI, shell: CommandShell | null, hasUI = shell !== null): void {
		Object.assign(this.#components.surface, { ui, shell, hasUI });
	}

	/** Calls `listener` with everything that happens, in order. @returns a function that unsubscribes it */
	subscribe(listener: (event: AgentSessionEvent) => void): () => void {
		return this.#components.events.subscribe(listener);
	}

	get cwd(): string {
		return this.#components.setup.cwd;
	}
	get sessionFile(): string | null {
		return this.#components.state.log.path;
	}
	get sessionId(): string {
		return this.#components.state.log.id;
	}
	get sessionName(): string | null {
		return this.#name.of(this.#components.state.log);
	}
	/** The log as it is now, entries read when they are asked for. */
	get log(): LogView {
		return viewLog(this.#components.state.log);
	}
	/** All entries, index 0 is the header; frozen. Reads them all: see `log`. */
	get entries(): readonly SessionEntry[] {
		return this.#components.state.log.entries;
	}
	/** The context as last computed. */
	get context(): BuiltContext {
		return this.#components.context.current;
	}
	get model(): Model<Api> | null {
		return this.#components.state.model;
	}
	get thinkingLevel(): ThinkingLevel {
		return this.#components.state.thinkingLevel;
	}
	get settings(): Settings {
		return this.#components.setup.settings.current;
	}
	/** What the session is doing; each change is an `activity_changed` event. */
	get activity(): Activity {
		return this.#components.activity.current;
	}
	/** Whether a run is active, from its first request until all of it is on the disk. */
	get isRunning(): boolean {
		return this.#components.activity.has("run");
	}
	get isCompacting(): boolean {
		return this.#components.activity.has("compacting");
	}
	get queue(): QueuedPrompts {
		return this.#components.runner.queue.texts;
	}
	/** Whether hooks may start runs; false in print mode, where only the prompt can. */
	set acceptsSend(accepts: boolean) {
		this.#components.prompter.acceptsSend = accepts;
	}
	get autoCompaction(): boolean {
		return this.#components.compaction.enabled;
	}
	set autoCompaction(enabled: boolean) {
		this.#components.compaction.enabled = enabled;
	}
	get loaded(): LoadedSummary {
		const { setup, hooks, warnings } = this.#components;
		const { templates, skills, contextFiles } = setup.resources;
		return {
			hooks: hooks.registry.hooks.map(({ path, name, scope }) => ({ path, name, scope })),
			skills: skills.map(({ name }) => name),
			templates: templates.map(({ name }) => name),
			contextFiles: [...contextFiles],
			warnings: [...warnings],
		};
	}

	/**
	 * Accepts a line of the user: runs a command, steers the active run, or starts a run and waits for its end.
	 * @throws PiError `key_missing`, `model_missing` before anything is written; `bad_arguments`, `command_failed` of
	 * commands; `session_busy` when the session is closing
	 */
	prompt(text: string, extras: PromptExtras = {}): Promise<PromptResult> {
		return this.#components.prompter.prompt(text, extras);
	}

	/** As `prompt`, but a leading slash means nothing. */
	send(text: string, extras: PromptExtras = {}): Promise<PromptResult> {
		return this.#components.prompter.send(text, extras);
	}

	/** Sends a prompt once the run is over; at once when none is active. */
	followUp(text: string, images: readonly ImageContent[] = []): Promise<void> {
		return this.#components.prompter.followUp(text, images);
	}

	/** Takes the queued prompts back, for the editor. */
	takeQueue(): string[] {
		return this.#components.runner.queue.clear();
	}

	/** Stops everything the session is doing and waits until it has stopped. @returns the prompts that were queued */
	async abort(): Promise<string[]> {
		const { activity, runner } = this.#components;
		const texts = runner.queue.clear();
		activity.abort();
		await activity.until();
		return texts;
	}

	/** Runs a shell command of the user and keeps it as an entry. @throws PiError `session_busy` */
	runBash(command: string, { excludeFromContext = false } = {}): Promise<void> {
		return this.#components.userShell.run(command, excludeFromContext);
	}

	/** Computes the context from the entries now. */
	rebuildContext(): Promise<void> {
		return this.#components.rebuild();
	}

	async setModel(model: Model<Api>): Promise<void> {
		this.#components.state.setModel(model);
	}

	setThinkingLevel(level: ThinkingLevel): void {
		this.#components.state.setThinkingLevel(level);
	}

	/** Switches to the next or previous usable model. @returns it, or null when there is no other */
	cycleModel(direction: 1 | -1): Promise<Model<Api> | null> {
		return cycleModel(this.#components.setup, this.#components.state, direction);
	}

	/** Switches to the next thinking level that the model knows. */
	cycleThinkingLevel(): ThinkingLevel {
		return cycleThinkingLevel(this.#components.setup, this.#components.state);
	}

	/** How full the model's window is. */
	contextUsage(): { tokens: number; contextWindow: number } {
		return { tokens: this.#components.context.tokens(), contextWindow: this.model?.contextWindow ?? 0 };
	}

	stats(): SessionStats {
		return this.#stats.count(this.#components.state.log);
	}

	/** The same as far as it is counted so far: a long session takes several calls. @returns null when there is more */
	statsSoFar(): SessionStats | null {
		return this.#stats.countSome(this.#components.state.log);
	}

	/** Names the session. */
	setName(name: string): void {
		this.#components.lifecycle.setName(name);
	}

	/** Replaces earlier messages by a summary. @throws PiError `compaction_failed`, `session_busy`, `model_missing` */
	async compact(focus?: string, signal?: AbortSignal): Promise<CompactionTokens> {
		const { setup, state, compaction } = this.#components;
		requireModel(setup, state);
		const request: CompactionRequest = { focus, ...(signal ? { signal } : {}) };
		return compaction.run(request);
	}

	/** Loads all hooks again. @returns a line that says what is loaded */
	async reload(): Promise<string> {
		const { lifecycle, hooks, setup, warnings } = this.#components;
		warnings.splice(0, warnings.length, ...setup.settings.reload());
		const { count, kept } = await lifecycle.reload((unload) => hooks.reload(unload));
		const old = kept.length > 0 ? `; the previous version still runs of ${kept.join(", ")}` : "";
		return `${count} ${count === 1 ? "hook" : "hooks"} loaded${old}`;
	}

	/** Rows of the palette. */
	palette(): PaletteItem[] {
		return paletteItems(this.#components.sources());
	}

	completeArguments(name: string, prefix: string): Promise<CompletionItem[]> {
		return this.#components.commands.complete(name, prefix, this.#components.ended.signal);
	}

	/** How a hook draws its entries; undefined when it does not. */
	entryRenderer(type: string): EntryOptions["render"] {
		return this.#components.hooks.registry.entryType(type)?.render;
	}

	/** Reports an error that was thrown outside of every handler, unless it is pi's own. @returns whether it did */
	blameHook(error: unknown): boolean {
		return this.#components.hooks.blame(error);
	}

	/** True when a stack shows a call by a hook itself. */
	isCalledByHook(stack: string): boolean {
		return this.#components.hooks.called(stack);
	}

	/** New session, switch and branch, which ask the hooks first; and what hooks of an opened session are missing. */
	get lifecycle(): Pick<
		Lifecycle,
		"newSession" | "switchSession" | "branch" | "branchTargets" | "missingHooks" | "freezeContext"
	> {
		return this.#components.lifecycle;
	}

	/** Stops everything, notifies the hooks, and closes the log. Safe to call more than once. */
	dispose(): Promise<void> {
		this.#disposed ??= this.#dispose();
		return this.#disposed;
	}

	async #dispose(): Promise<void> {
		const { activity, runner, lifecycle, ended, hooks, state, setup, events } = this.#components;
		activity.begin("closing");
		await this.abort();
		await lifecycle.shutDown();
		runner.systemItems.settle();
		ended.abort();
		hooks.unload();
		await state.log.flush();
		setup.client.release(this.sessionId);
		state.close();
		events.close();
	}
}

function createControls({ setup, context, activity }: SessionComponents): SessionControls {
	const { settings } = setup;
	return {
		get messages() {
			return context.messages;
		},
		get queueMode() {
			return settings.current.queueMode;
		},
		set queueMode(mode) {
			settings.override("queueMode", mode);
		},
		get autoRetry() {
			return settings.current.retry.enabled;
		},
		set autoRetry(enabled) {
			settings.override("retry.enabled", enabled);
		},
		availableModels: () => setup.models.available(),
		abortBash: () => activity.abort("shell"),
	};
}
