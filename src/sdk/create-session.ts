import { reservedNames } from "../commands/registry.js";
import { buildContext } from "../context/build-context.js";
import { describeError } from "../errors.js";
import { NO_UI } from "../hooks/session-ui.js";
import { bindOperations, hookOperations } from "../operations/index.js";
import { SessionActivity } from "../session/activity.js";
import { Budget } from "../session/budget.js";
import { describeInactive, turnedOffHook } from "../session/bundled-switch.js";
import { checkOptions } from "../session/check-options.js";
import { CommandRunner } from "../session/command-runner.js";
import { Compaction } from "../session/compaction.js";
import type { CreateAgentSessionOptions } from "../session/create-options.js";
import { hookErrorEvent, logProblemEvent } from "../session/describe-context.js";
import { discoverSetup } from "../session/discover-setup.js";
import { type AgentSessionEvent, SessionEvents } from "../session/events.js";
import { createHookHost } from "../session/hook-host.js";
import { HookModels } from "../session/hook-models.js";
import { HookNotices } from "../session/hook-notices.js";
import { HookResourceFiles } from "../session/hook-resource-files.js";
import { HookUpdates } from "../session/hook-updates.js";
import { SessionInspector } from "../session/inspector.js";
import { Lifecycle } from "../session/lifecycle.js";
import { ModelMemory } from "../session/model-memory.js";
import { ParentSession, parentOf } from "../session/parent-session.js";
import { Prompter } from "../session/prompter.js";
import { Reloader } from "../session/reloader.js";
import { RequiredHooks } from "../session/required-hooks.js";
import type { SessionComponents, SessionSurface } from "../session/session-components.js";
import { SessionContext } from "../session/session-context.js";
import { SessionHooks } from "../session/session-hooks.js";
import type { HostConnection } from "../session/session-host.js";
import { SessionImages } from "../session/session-images.js";
import { SessionJobs } from "../session/session-jobs.js";
import { SessionMcp } from "../session/session-mcp.js";
import { SessionRunner } from "../session/session-run.js";
import type { SessionCore, SessionSetup } from "../session/session-setup.js";
import { SessionState } from "../session/session-state.js";
import { SessionWindow } from "../session/session-window.js";
import { UserShell } from "../session/user-shell.js";
import { AgentSession } from "./agent-session.js";
import { createCommandHost } from "./command-host.js";

export type { CreateAgentSessionOptions, SessionChoice } from "../session/create-options.js";

/**
 * Creates a session from the settings, models and resources on this machine. Hooks and the project's tools are loaded by
 * `start()`; call `attachUI` before it if there is a user to ask.
 * @throws PiError when the log, the model or a named tool cannot be used; `bad_arguments` for malformed options
 */
export async function createAgentSession(options: CreateAgentSessionOptions = {}): Promise<AgentSession> {
	checkOptions(options);
	const parent = parentOf(options);
	const all = parent?.inherit(options) ?? options;
	return assembleSession(await discoverSetup(all, parent), all);
}

/** Connects the components of a session; the only function that knows all of them. */
function assembleSession(setup: SessionSetup, options: CreateAgentSessionOptions): AgentSession {
	const events = new SessionEvents();
	const emit = (event: AgentSessionEvent) => {
		memory.observe(event);
		notices.observe(event);
		updates.observe(event);
		events.emit(event);
	};
	const notice = (level: "info" | "warning" | "error", message: string) =>
		emit({ type: "notice", level, message: setup.redact(message) });
	const warnings = new SessionWarnings(setup.warnings, setup.logWarnings);
	const warn = (line: string) => {
		warnings.add(line);
		notice("warning", line);
	};
	let unsaved: string | null = null;
	const ended = new AbortController();
	const surface: SessionSurface = { ui: NO_UI, shell: null, hasUI: false, mode: "sdk" };
	const activity = new SessionActivity();
	activity.subscribe((current) => emit({ type: "activity_changed", activity: current }));
	const state = new SessionState(setup.log, setup.defaults, emit, setup.settings);
	const memory = new ModelMemory(setup, state);
	const notices = new HookNotices({ state, activity, hooks: () => hooks.runner, ended: ended.signal });
	const updates = new HookUpdates({ activity, hooks: () => hooks.runner, ended: ended.signal });
	const gone = state.restore(setup.models.findUsed);
	// A hook may provide it: see `HookModels.start`.
	if (gone && !setup.lateModel) warnings.addOfLog(setup.models.describeReplaced(gone, state.model));
	if (!setup.lateModel) for (const line of state.modelRemarks()) warnings.add(line);

	const context: SessionContext = new SessionContext({
		log: () => state.log,
		stages: (input, signal) => hooks.contextStages(input, signal),
		preamble: () => setup.preamble(state.model),
		model: () => state.model ?? undefined,
		onProblem: (problem) =>
			problem.hook === null ? emit(logProblemEvent(problem)) : hooks.reportProblem(problem.hook, problem),
		onChange: (built) => emit({ type: "context_changed", context: built }),
	});
	const current = (): SessionComponents => components;
	const operations = bindOperations(current);
	const host = createHookHost({ setup, state, context, activity }, current, hookOperations(current));
	const models = new HookModels({ setup, state, warn });
	const onRead = () => emit({ type: "registrations_changed" });
	const resources = new HookResourceFiles(setup, warn, onRead);
	const required = new RequiredHooks({
		canAsk: setup.asksAboutCode,
		isDecided: setup.parent !== null,
		requireNamed: setup.requireNamed,
		activity,
		ui: () => surface.ui,
	});
	const hooks: SessionHooks = new SessionHooks({
		host,
		setup,
		reservedNames: () => reservedNames(setup.builtins, setup.settings.current.commands.replace),
		onError: (error) => emit(hookErrorEvent(error, setup.verbose)),
		onLongCall: emit,
		onWarning: warn,
		required,
		onChange(isFirst) {
			if (ended.signal.aborted) return;
			models.update(hooks.registry.providers);
			resources.update(hooks.registry.resources);
			if (!isFirst) emit({ type: "registrations_changed" });
		},
		resourcesRead: () => resources.ready(),
		onSend: (...sent) => prompter.receive(...sent),
		onTools(tools) {
			const { clashes, replacements } = setup.toolSwitch.useHooks(tools);
			for (const line of clashes) warn(line);
			for (const line of replacements) notice("info", line);
		},
		notify: (hookRunner, reason) => lifecycle.notify(hookRunner, reason),
	});
	const hostConnection = (signal: AbortSignal): HostConnection => ({
		get registry() {
			return hooks.registry;
		},
		addBundled: (hook) => hooks.addBundled(hook),
		host,
		signal,
		timeoutMs: setup.settings.current.onTimeout,
		warn,
		onWait: (line) => emit({ type: "notice", level: "warning", message: setup.redact(line), waits: true }),
		// Programs that drive pi wait for the start of the session, and cannot answer before it.
		ask: surface.shell === null ? null : (title, choices) => surface.ui.select(title, choices),
	});
	const core: SessionCore = {
		setup,
		activity,
		state,
		context,
		hooks: () => hooks.runner,
		tryContext: (entries, signal, preamble = setup.preamble(state.model)) =>
			buildContext(
				entries,
				hooks.trialStages(() => entries, signal),
				{ preamble },
			),
		emit,
		ended: ended.signal,
	};
	const mcp = new SessionMcp({ setup, emit, warn });
	const jobs = new SessionJobs({ emit, systemItems: () => runner.systemItems });
	const window = new SessionWindow({ setup, state, context });
	const compaction = new Compaction({ ...core, window });
	const images = new SessionImages(core);
	events.subscribe((event) => {
		if (event.type === "message_end") images.noteMessage(event.message);
	});
	// The cost of a sub-session is part of that of its parent.
	const budget = setup.parent?.budget ?? new Budget({ setup, state, activity, ui: () => surface.ui });
	const asParent = new ParentSession({ options, setup, state, budget });
	const runner: SessionRunner = new SessionRunner({
		...core,
		window,
		compaction,
		images,
		budget,
		required,
		notices,
		updates,
		jobs: jobs.table,
		onRun: () => mcp.need(),
	});
	const lifecycle: Lifecycle = new Lifecycle({
		...core,
		knowsType: (type) => hooks.registry.knowsEntryType(type),
		turnedOffHook: (type) => turnedOffHook(type, hooks, setup),
		warn,
		warnOfLog(line) {
			warnings.addOfLog(line);
			notice("warning", line);
		},
		onLeave() {
			warnings.leaveLog();
			const ended = jobs.endAll();
			runner.leave();
			return ended;
		},
		reread: () => reloader.refresh(),
		prepareHost: (log, source, signal) =>
			setup.hostConnection.prepare(setup.loggedHost(log, source), hostConnection(signal)),
	});
	const reloader = new Reloader({ setup, state, hooks, mcp, models, lifecycle, warnings: warnings.lines, warn });
	const sources = () => ({
		builtins: setup.builtins,
		hooks: hooks.registry,
		inactive: (name: string) => describeInactive(name, hooks, setup),
		templates: setup.resources.templates,
		skills: setup.resources.skills,
		servers: mcp,
	});
	const commands = new CommandRunner({
		activity,
		sources,
		get resources() {
			return setup.resources;
		},
		readSkill: setup.readSkill,
		host: () => commandHost,
		hooks: () => hooks.runner,
		mcp,
		ui: () => surface.ui,
		shell: () => surface.shell,
		log: () => state.log,
		emit,
	});
	const prompter: Prompter = new Prompter({
		activity,
		state,
		hooks: () => hooks.runner,
		commands,
		runner,
		window,
		images,
		mcp,
		mode: () => surface.mode,
		ended: ended.signal,
		notice,
	});
	const inspector = new SessionInspector({
		setup,
		state,
		context,
		rebuild: operations.rebuildContext,
		hooks,
		ended: ended.signal,
		reach() {
			// A program that drives the session through the SDK may fire any event.
			const isDriven = surface.shell === null && prompter.acceptsSend;
			return {
				tools: setup.tools.length > 0,
				sessions: setup.sessionDir !== null || isDriven,
				screen: surface.shell !== null || (isDriven && surface.ui === NO_UI),
				user: prompter.acceptsSend,
			};
		},
	});
	const components: SessionComponents = {
		setup,
		activity,
		events,
		state,
		context,
		hooks,
		models,
		resources,
		compaction,
		runner,
		images,
		jobs,
		mcp,
		userShell: new UserShell(core),
		lifecycle,
		reloader,
		commands,
		prompter,
		inspector,
		sources,
		surface,
		memory,
		warnings: warnings.lines,
		unsaved: () => unsaved,
		ended,
		asParent,
		async connectHost() {
			await setup.hostConnection.connect(hostConnection(ended.signal));
			await setup.enterSandbox();
			state.useHost(setup.hostConnection.recorded, setup.isCopy);
		},
	};
	const session = new AgentSession(components, operations);
	const commandHost = createCommandHost(session, operations, setup, compaction, { jobs, mcp });
	lifecycle.watchLog((error) => {
		const line = setup.redact(describeError(error));
		// A home that is read-only or full fails every write: one line for all of them is enough.
		if (error.cause !== undefined) {
			if (unsaved !== null) return;
			unsaved = line;
		}
		notice("error", line);
	});
	return session;
}

/** Problems found at the start, at reloads and in the current log, one line each. */
class SessionWarnings {
	/** All problems, oldest first. */
	readonly lines: string[];
	/** Those of the current log. */
	readonly #ofLog: Set<string>;

	/** @param ofLog those of `lines` that concern the log */
	constructor(lines: readonly string[], ofLog: readonly string[]) {
		this.lines = [...lines];
		this.#ofLog = new Set(ofLog);
	}

	add(line: string): void {
		this.lines.push(line);
	}

	/** Adds a problem that does not concern the next log. */
	addOfLog(line: string): void {
		this.#ofLog.add(line);
		this.add(line);
	}

	/** Removes the problems of the log that the session leaves. */
	leaveLog(): void {
		this.lines.splice(0, this.lines.length, ...this.lines.filter((line) => !this.#ofLog.has(line)));
		this.#ofLog.clear();
	}
}
