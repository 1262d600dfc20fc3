import { dirname } from "node:path";
import type { Api, Model } from "@mariozechner/pi-ai";
import type { BranchTarget, CommandShell, PaletteItem, SessionStats } from "../commands/command.js";
import { isUnlistedCommand, paletteItems } from "../commands/command-registry.js";
import type { Inspector } from "../commands/inspection.js";
import type { Settings } from "../config/settings-schema.js";
import type { BuiltContext } from "../context/context-message.js";
import type { SessionUI } from "../hooks/session-ui.js";
import type { SessionShortcut } from "../hooks/shortcuts.js";
import type { ToolRenderer } from "../hooks/tool-drawing.js";
import type { CompletionItem, EntryOptions, SessionMode } from "../hooks/types.js";
import type { AppMessage, SessionEntry, ThinkingLevel } from "../log/entry.js";
import type { RecordedMachine } from "../log/last-choices.js";
import { SessionName } from "../log/last-choices.js";
import { removeSession } from "../log/manage-sessions.js";
import type { SpentUsage } from "../log/usage-totals.js";
import { thinkingLevels } from "../models/thinking-levels.js";
import { RPC_OPERATIONS, type RpcOperations, type SessionOperations } from "../operations/index.js";
import { prepareModel } from "../operations/set-model.js";
import { LoggedMachines } from "../services/machine/logged-machines.js";
import type { Activity } from "../session/activity.js";
import type { AgentSessionEvent, QueuedPrompts } from "../session/events.js";
import type { MissingHooks } from "../session/hooks/missing-hooks.js";
import { type LogView, viewLog } from "../session/log-view.js";
import type { QueueMode } from "../session/prompt/prompt-queue.js";
import type { SessionJobs } from "../session/run/session-jobs.js";
import type { SessionComponents } from "../session/session-components.js";
import type { SessionMcp } from "../session/session-mcp.js";
import { StatsCounter } from "../session/stats.js";
import type { ToolHost } from "../tools/machine/machine.js";

/** Names of everything a session has loaded, for the header. */
export interface LoadedSummary {
	hooks: { path: string; name: string; scope: string }[];
	skills: string[];
	templates: string[];
	contextFiles: string[];
	/** Themes of packages: the path to show and that of the file to read. */
	themes: readonly { path: string; copy: string }[];
	/** Problems found while loading, one line each. */
	warnings: string[];
}

/** The operations of a session as methods: `src/operations` declares them. */
const OperatedSession = class {
	constructor(operations: SessionOperations) {
		Object.assign(this, operations);
	}
} as new (
	operations: SessionOperations,
) => SessionOperations;

/**
 * A conversation with an agent: owns log, context, model, tools and hooks, and does not depend on a terminal. Modes
 * drive it and subscribe to its events. Create it with `createAgentSession`, then call `start()`.
 */
export class AgentSession extends OperatedSession {
	readonly #components: SessionComponents;
	readonly #stats = new StatsCounter();
	readonly #name = new SessionName();
	readonly #hosts = new LoggedMachines();
	readonly controls: SessionControls;
	/** Explains the context and reports the state of the hooks. */
	readonly inspector: Inspector;
	#disposed: Promise<void> | null = null;

	/** @param operations those of these components @internal */
	constructor(components: SessionComponents, operations: SessionOperations) {
		super(operations);
		this.#components = components;
		this.controls = createControls(components);
		this.inspector = components.inspector;
	}

	/**
	 * Loads the hooks, notifies them of the start and computes the context. Call once, after `attachUI`. A session that cannot
	 * start is disposed of; the copy of a log that was made for it is deleted.
	 * @throws PiError `tool_unknown` for a chosen tool that nothing provides; `host_unreachable`
	 */
	async start(): Promise<void> {
		const { lifecycle, hooks, mcp, hookModels, hookResources, code, store, state, surface } = this.#components;
		try {
			await lifecycle.start(async () => {
				await hooks.load();
				await this.#components.connectMachine();
				await mcp.load();
				await Promise.all([hookModels.start(), hookResources.ready()]);
			});
			code.toolSwitch.checkNames();
		} catch (error) {
			await this.dispose();
			if (store.isCopy && this.sessionFile !== null) removeSession(this.sessionFile);
			throw error;
		}
		// Where nobody types, the first request follows at once, and reports what is missing.
		if (surface.shell && state.model) prepareModel(this.#components, state.model);
	}

	/** Attaches the user interface for hooks and commands. Without it, dialogs return their canceled values at once. */
	attachUI(ui: SessionUI, shell: CommandShell | null, hasUI = shell !== null): void {
		Object.assign(this.#components.surface, { ui, shell, hasUI });
	}

	/**
	 * Calls `listener` with every event, in order. An error that it throws becomes an uncaught exception of the process; the
	 * session continues.
	 * @returns a function that unsubscribes it
	 */
	subscribe(listener: (event: AgentSessionEvent) => void): () => void {
		return this.#components.events.subscribe(listener);
	}

	get cwd(): string {
		return this.#components.store.cwd;
	}
	/** The machine on which tools and `!` commands work. */
	get host(): ToolHost {
		return this.#components.machine.host;
	}
	/** The machine on which the tools of an entry worked; null: where pi runs. */
	hostOf(entryIndex: number): RecordedMachine | null {
		return this.#hosts.before(this.#components.state.log, entryIndex);
	}
	get sessionFile(): string | null {
		return this.#components.state.log.path;
	}
	/** Whether nothing can be written to the session: it was opened only to be read. */
	get isReadOnly(): boolean {
		return this.#components.state.log.isReadOnly;
	}
	get sessionId(): string {
		return this.#components.state.log.id;
	}
	get sessionName(): string | null {
		return this.#name.of(this.#components.state.log);
	}
	/** What `--session` accepts for this session: the start of its id, or the path of a file in another directory. */
	get sessionArgument(): string {
		const { store } = this.#components;
		const { sessionFile } = this;
		return sessionFile === null || dirname(sessionFile) === store.sessionDir ? this.sessionId.slice(0, 8) : sessionFile;
	}
	/** A snapshot of the log that reads entries on demand. */
	get log(): LogView {
		return viewLog(this.#components.state.log);
	}
	/** All entries, frozen; index 0 is the header. Reads the complete log: prefer `log`. */
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
		return this.#components.store.settings.current;
	}
	/** What the session is doing; each change is an `activity_changed` event. */
	get activity(): Activity {
		return this.#components.activity.current;
	}
	/** Whether a run is active, from its first request until all its entries are on disk. */
	get isRunning(): boolean {
		return this.#components.activity.has("run");
	}
	get isCompacting(): boolean {
		return this.#components.activity.has("compacting");
	}
	/** The background commands. Each start and end is an event. */
	get jobs(): Pick<SessionJobs, "list" | "running" | "endAll"> {
		return this.#components.jobs;
	}
	get queue(): QueuedPrompts {
		return this.#components.runner.queue.texts;
	}
	/** Whether hooks may start runs; false in print mode, where only the prompt may. */
	set acceptsSend(accepts: boolean) {
		this.#components.prompter.acceptsSend = accepts;
	}
	/** The mode that drives the session, for hooks; `sdk` by default. */
	set mode(mode: SessionMode) {
		this.#components.surface.mode = mode;
	}
	get autoCompaction(): boolean {
		return this.#components.compaction.enabled;
	}
	get loaded(): LoadedSummary {
		const { resources, hooks, warnings } = this.#components;
		const { templates, skills, contextFiles } = resources.current;
		return {
			hooks: hooks.registry.hooks.map(({ path, name, scope }) => ({ path, name, scope })),
			skills: skills.map(({ name }) => name),
			templates: templates.map(({ name }) => name),
			themes: resources.themes(),
			contextFiles: [...contextFiles],
			warnings: [...warnings],
		};
	}

	/** Entries whose hook was not loaded when the session was opened; null when there were none. */
	get missingHooks(): MissingHooks | null {
		return this.#components.lifecycle.missingHooks;
	}

	/** User messages that a branch can start from, oldest first. */
	branchTargets(): BranchTarget[] {
		return this.#components.lifecycle.branchTargets();
	}

	/** The name under which programs found these operations before they were methods of the session itself. */
	get lifecycle(): Pick<
		AgentSession,
		"newSession" | "switchSession" | "branch" | "branchTargets" | "missingHooks" | "freezeContext" | "save"
	> {
		return this;
	}

	/** Tries again to write what the session file lacks. @returns why it still lacks some; null if it has everything */
	save(): { cause: unknown } | null {
		return this.#components.state.log.save();
	}

	/** The notice that reported that the session cannot be saved, such as in a read-only home; null if none did. */
	get unsaved(): string | null {
		return this.#components.unsaved();
	}

	/** The shortcuts of hooks. The same list until they change, which is a `registrations_changed` event. */
	get shortcuts(): readonly SessionShortcut[] {
		return this.#components.hooks.registry.shortcuts;
	}

	/**
	 * Carries out a command of the RPC mode that is an operation.
	 * @param input matches the schema of the command
	 * @param onFailure reports a run that failed after its prompt was answered
	 */
	answerCommand(name: keyof RpcOperations, input: object, onFailure: (message: string) => void): Promise<unknown> {
		return RPC_OPERATIONS[name].answer(input, { session: this.#components, onFailure });
	}

	/** Tokens of the next request, and the model's window (0 when unknown). */
	contextUsage(): { tokens: number; contextWindow: number } {
		return { tokens: this.#components.context.tokens(), contextWindow: this.model?.contextWindow ?? 0 };
	}

	stats(): SessionStats {
		return this.#stats.count(this.#components.state.log);
	}

	/** Tokens and price of all requests, counted in small steps. @returns null until a long session is counted */
	spentSoFar(): SpentUsage | null {
		return this.#components.state.log.countUsage();
	}

	/** Every command. Starts the MCP servers, whose prompts are commands, in the background. */
	palette(): PaletteItem[] {
		this.#components.mcp.need();
		return paletteItems(this.#components.sources());
	}

	/** True for a name that the palette does not list: an alias, or a command of a hook that is off. */
	isUnlistedCommand(name: string): boolean {
		return isUnlistedCommand(name, this.#components.sources());
	}

	/** The MCP servers. */
	get mcp(): Pick<SessionMcp, "completeResource" | "describeLate"> {
		return this.#components.mcp;
	}

	completeArguments(name: string, prefix: string): Promise<CompletionItem[]> {
		return this.#components.commands.complete(name, prefix, this.#components.ended.signal);
	}

	/** The function with which a hook draws an entry, or any entry of a type; undefined when it has none. */
	entryRenderer(type: string, entry?: SessionEntry): EntryOptions["render"] {
		return this.#components.hooks.drawings.entryRenderer(type, entry);
	}

	/** How a hook draws calls of its tool; undefined when no hook provides or draws the tool. */
	toolRenderer(name: string): ToolRenderer | undefined {
		return this.#components.hooks.drawings.toolRenderer(name);
	}

	/** Reports an error thrown outside of any handler, unless pi itself threw it. @returns whether it was reported */
	blameHook(error: unknown): boolean {
		return this.#components.hooks.blame(error);
	}

	/** True when a stack trace shows that a hook made the call. */
	isCalledByHook(stack: string): boolean {
		return this.#components.hooks.called(stack);
	}

	/** Stops everything, notifies the hooks, and closes the log. Safe to call more than once. */
	dispose(): Promise<void> {
		this.#disposed ??= this.#dispose();
		return this.#disposed;
	}

	async #dispose(): Promise<void> {
		const { activity, runner, lifecycle, ended, hooks, state, models, machine, events, memory, jobs, mcp, images } =
			this.#components;
		const { telemetry } = this.#components;
		activity.begin("closing");
		await this.abort();
		await lifecycle.shutDown();
		jobs.endAll();
		runner.leave();
		ended.abort();
		hooks.unload();
		models.endProviders();
		await machine.dispose();
		await Promise.all([...[state.log.flush(), memory.flush(), mcp.end(), images.deleteOriginals()], telemetry.end()]);
		models.client.release(this.sessionId);
		state.close();
		events.close();
	}
}

/** State that only programs that drive a session read and change; the modes of pi do not need it. */
interface SessionControls {
	/** The messages of the next request. */
	readonly messages: readonly AppMessage[];
	/** Whether queued prompts are delivered one per turn or all at once; for this session only, not saved. */
	readonly queueMode: QueueMode;
	/** Whether failed requests are retried; for this session only, not saved. */
	readonly autoRetry: boolean;
	/** Models with a known key, including those of local servers. */
	availableModels(): Promise<Model<Api>[]>;
	/** A model of a provider with a key; one that pi's list lacks has the facts of its nearest relative. */
	findModel(provider: string, id: string): Promise<Model<Api> | null>;
	/** Asks the providers for new models if the settings ask for it and the list is older than a week. Never throws. */
	updateModelsWeekly(signal: AbortSignal): Promise<void>;
	/** The thinking levels that the model supports, least first. */
	thinkingLevels(): ThinkingLevel[];
}

/** The controls of a session. @internal */
function createControls({ store, models, state, context }: SessionComponents): SessionControls {
	const { settings } = store;
	return {
		get messages() {
			return context.messages;
		},
		get queueMode() {
			return settings.current.queueMode;
		},
		get autoRetry() {
			return settings.current.retry.enabled;
		},
		availableModels: () => models.list.available(),
		findModel: (provider, id) => models.list.findWithKey(provider, id),
		updateModelsWeekly: async (signal) => models.offers.updates?.updateWeekly(signal),
		thinkingLevels: () => thinkingLevels(state.model),
	};
}
