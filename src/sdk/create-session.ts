import { reservedNames } from "../commands/command-registry.js";
import { buildContext } from "../context/build-context.js";
import { NO_UI } from "../hooks/session-ui.js";
import { bindOperations, hookOperations } from "../operations/index.js";
import { checkOptions } from "../services/check-options.js";
import type { CreateAgentSessionOptions } from "../services/create-options.js";
import type { MachineConnection } from "../services/machine/session-machine.js";
import { type OpenedServices, openServices } from "../services/open-services.js";
import type { SessionParent } from "../services/service-types.js";
import { SessionActivity } from "../session/activity.js";
import { Compaction } from "../session/compaction/compaction.js";
import { hookErrorEvent, logProblemEvent } from "../session/describe-context.js";
import { type AgentSessionEvent, SessionEvents } from "../session/events.js";
import { UndoableFiles } from "../session/files/undoable-files.js";
import { describeInactive, turnedOffHook } from "../session/hooks/bundled-switch.js";
import { HookModels } from "../session/hooks/hook-models.js";
import { HookNotices } from "../session/hooks/hook-notices.js";
import { HookResourceFiles } from "../session/hooks/hook-resource-files.js";
import { createHookSession } from "../session/hooks/hook-session.js";
import { HookUpdates } from "../session/hooks/hook-updates.js";
import { RequiredHooks } from "../session/hooks/required-hooks.js";
import { SessionHooks } from "../session/hooks/session-hooks.js";
import { ShadowHooks } from "../session/hooks/shadow-hooks.js";
import { SessionInspector } from "../session/inspector.js";
import { Lifecycle } from "../session/lifecycle.js";
import { ModelMemory } from "../session/model-memory.js";
import { ParentSession, parentOf } from "../session/parent-session.js";
import { CommandRunner } from "../session/prompt/command-runner.js";
import { SystemItems } from "../session/prompt/prompt-queue.js";
import { Prompter } from "../session/prompt/prompter.js";
import { UserShell } from "../session/prompt/user-shell.js";
import { Reloader } from "../session/reloader.js";
import { Budget } from "../session/run/budget.js";
import { SessionImages } from "../session/run/session-images.js";
import { SessionJobs } from "../session/run/session-jobs.js";
import { SessionRunner } from "../session/run/session-run.js";
import { SessionWindow } from "../session/run/session-window.js";
import type { SessionComponents, SessionSurface } from "../session/session-components.js";
import { SessionContext } from "../session/session-context.js";
import type { SessionCore } from "../session/session-core.js";
import type { SessionFork } from "../session/session-fork.js";
import { SessionMcp } from "../session/session-mcp.js";
import { SessionState } from "../session/session-state.js";
import { SessionTitle } from "../session/session-title.js";
import { SavingReports, SessionWarnings } from "../session/session-warnings.js";
import { Telemetry } from "../session/telemetry.js";
import { AgentSession } from "./agent-session.js";
import { createCommandSession } from "./command-session.js";

export type { CreateAgentSessionOptions, SessionChoice } from "../services/create-options.js";

/**
 * Creates a session from the settings, models and resources on this machine. Hooks and the project's tools are loaded by
 * `start()`; call `attachUI` before it if there is a user to ask.
 * @throws PiError when the log, the model or a named tool cannot be used; `bad_arguments` for malformed options
 */
export async function createAgentSession(options: CreateAgentSessionOptions = {}): Promise<AgentSession> {
	checkOptions(options);
	const parent = parentOf(options);
	const fork = parent?.fork(options) ?? null;
	const all = parent?.inherit(options, fork) ?? options;
	return assembleSession(await openServices(all, parent, fork), parent, fork, all);
}

/** Connects the components of a session; the only function that knows all of them. */
function assembleSession(
	{ services, ...found }: OpenedServices,
	parent: SessionParent | null,
	fork: SessionFork | null,
	options: CreateAgentSessionOptions,
): AgentSession {
	const { store, models, code, resources, machine } = services;
	/** The complete session: what is called later may use parts that do not exist yet. */
	const current = (): SessionComponents => components;
	const events = new SessionEvents();
	const emit = (event: AgentSessionEvent) => events.emit(event);
	const notice = (level: "info" | "warning" | "error", message: string) =>
		emit({ type: "notice", level, message: models.redact(message) });
	const warnings = new SessionWarnings(found.warnings, found.logWarnings);
	const warn = (line: string) => {
		warnings.add(line);
		notice("warning", line);
	};
	const saving = new SavingReports((text) => models.redact(text), notice);
	const ended = new AbortController();
	const surface: SessionSurface = { ui: NO_UI, shell: null, hasUI: false, mode: "sdk" };
	const activity = new SessionActivity();
	activity.subscribe((current) => emit({ type: "activity_changed", activity: current }));
	const state = new SessionState(store.log, models.defaults, emit, store.settings, fork?.cacheKey);
	const memory = new ModelMemory(services, state);
	const gone = state.restore(models.list);
	// A hook may provide it: see `HookModels.start`.
	if (gone && !models.late) warnings.addOfLog(models.list.describeReplaced(gone, state.model));
	if (!models.late) for (const line of state.modelRemarks()) warnings.add(line);

	const preamble = () => {
		const computed = resources.preamble(state.model);
		return fork?.preamble(computed, state, code) ?? computed;
	};
	const context = new SessionContext({
		log: () => state.log,
		stages: (input, signal) => current().hooks.contextStages(input, signal),
		preamble,
		model: () => state.model ?? undefined,
		factInputs: () => ({
			retention: store.settings.current.cacheRetention,
			flags: current().hooks.flags,
			findModel: models.list.find,
		}),
		hooks: () => current().hooks.registry.recorded(),
		ownerOf: (type) => current().hooks.registry.entryType(type)?.hook.path ?? null,
		onProblem: (problem, by) =>
			problem.hook === null ? emit(logProblemEvent(problem)) : current().hooks.reportProblem(problem.hook, problem, by),
		onChange: (built) => emit({ type: "context_changed", context: built }),
	});
	const operations = bindOperations(current);
	const host = createHookSession({ ...services, state, context, activity }, current, hookOperations(current));
	const hookModels = new HookModels({ models, state, warn });
	const hookResources = new HookResourceFiles(resources, warn, () => emit({ type: "registrations_changed" }));
	const required = new RequiredHooks({
		canAsk: code.asksAboutCode,
		isDecided: parent !== null,
		requireNamed: code.requireNamed,
		activity,
		ui: () => surface.ui,
	});
	const hooks = new SessionHooks({
		host,
		store,
		code,
		reservedNames: () => reservedNames(code.builtins, store.settings.current.commands.replace),
		onError: (error) => emit(hookErrorEvent(error, code.verbose)),
		onLongCall: emit,
		onWarning: warn,
		required,
		onChange(isFirst) {
			if (ended.signal.aborted) return;
			const { registry } = current().hooks;
			hookModels.update(registry.providers);
			hookResources.update(registry.resources);
			if (!isFirst) emit({ type: "registrations_changed" });
		},
		resourcesRead: () => hookResources.ready(),
		onSend: (...sent) => current().prompter.receive(...sent),
		onTools(tools) {
			const { clashes, replacements } = code.toolSwitch.useHooks(tools);
			for (const line of clashes) warn(line);
			for (const line of replacements) notice("info", line);
		},
		notify: (hookRunner, reason) => current().lifecycle.notify(hookRunner, reason),
	});
	const machineConnection = (signal: AbortSignal): MachineConnection => ({
		get registry() {
			return hooks.registry;
		},
		addBundled: (hook) => hooks.addBundled(hook),
		host,
		signal,
		timeoutMs: store.settings.current.onTimeout,
		warn,
		onWait: (line) => emit({ type: "notice", level: "warning", message: models.redact(line), waits: true }),
		// Programs that drive pi wait for the start of the session, and cannot answer before it.
		ask: surface.shell === null ? null : (title, choices) => surface.ui.select(title, choices),
	});
	const core: SessionCore = {
		...services,
		activity,
		state,
		context,
		hooks: () => hooks.runner,
		tryContext: (entries, signal, past) =>
			buildContext(
				entries,
				hooks.quietStages(() => entries, signal, past === undefined),
				{
					preamble: past?.preamble ?? preamble(),
					facts: () => past?.facts ?? context.facts(entries),
				},
			),
		emit,
		ended: ended.signal,
	};
	const notices = new HookNotices(core);
	const updates = new HookUpdates(core);
	// The cost of a sub-session is part of that of its parent.
	const budget = parent?.budget ?? new Budget({ store, state, activity, ui: () => surface.ui });
	const titles = new SessionTitle({ ...core, budget, surface, isOwn: parent === null });
	const images = new SessionImages(core);
	const telemetry = new Telemetry({ ...core, onFailure: options.onWait ?? warn });
	// Before the modes, which hear of a change when the session has noted it.
	const observers = [memory, notices, updates, telemetry, images, titles];
	for (const observer of observers) events.subscribe((event) => observer.observe(event));
	const mcp = new SessionMcp({
		...services,
		activity,
		ui: () => (surface.ui === NO_UI ? null : surface.ui),
		emit,
		warn,
	});
	const systemItems = new SystemItems(state);
	const jobs = new SessionJobs({ emit, systemItems });
	const files = new UndoableFiles({ ...core, systemItems });
	const window = new SessionWindow({ store, state, context });
	const compaction = new Compaction({ ...core, window });
	const runner = new SessionRunner({
		...core,
		window,
		compaction,
		images,
		budget,
		required,
		notices,
		updates,
		systemItems,
		jobs: jobs.table,
		files,
		onRun: () => mcp.need(),
	});
	const lifecycle = new Lifecycle({
		...core,
		knowsType: (type) => hooks.registry.knowsEntryType(type),
		turnedOffHook: (type) => turnedOffHook(type, hooks, code),
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
		reread: () => current().reloader.refresh(),
		prepareMachine: (log, source, signal) =>
			machine.prepare(machine.loggedMachine(log, source), machineConnection(signal)),
	});
	const reloader = new Reloader({
		...services,
		state,
		hooks,
		hookModels,
		mcp,
		lifecycle,
		problems: found.warnings,
		warnings: warnings.lines,
		warn,
	});
	const sources = () => ({
		builtins: code.builtins,
		hooks: hooks.registry,
		inactive: (name: string) => describeInactive(name, hooks, services),
		templates: resources.current.templates,
		skills: resources.current.skills,
		servers: mcp,
	});
	const commands = new CommandRunner({
		activity,
		sources,
		get resources() {
			return resources.current;
		},
		readSkill: resources.readSkill,
		host: () => commandSession,
		hooks: () => hooks.runner,
		mcp,
		ui: () => surface.ui,
		shell: () => surface.shell,
		log: () => state.log,
		emit,
	});
	const prompter = new Prompter({
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
	const shadows = new ShadowHooks({
		...services,
		state,
		hooks,
		async play({ path, entries, shadows, base, ...run }) {
			const { playShadows } = await import("../context-bench/play-shadows.js");
			const { cacheRetention: retention, hookTimeout: hookTimeoutMs } = store.settings.current;
			return playShadows({ name: "", path, cwd: store.cwd, entries }, shadows, base, {
				...{ ...run, retention, hookTimeoutMs, flags: hooks.flags, findModel: models.list.find },
				...(code.watch && { watch: code.watch }),
			});
		},
	});
	const inspector = new SessionInspector({
		...services,
		state,
		context,
		preamble,
		rebuild: operations.rebuildContext,
		hooks,
		shadows,
		ended: ended.signal,
		async savedByHooks(entries) {
			const { savedByHooks } = await import("../context-bench/saved-by-hooks.js");
			const { cacheRetention: retention } = store.settings.current;
			return savedByHooks(entries, { retention, findModel: models.list.find });
		},
		reach() {
			// A program that drives the session through the SDK may fire any event.
			const isDriven = surface.shell === null && prompter.acceptsSend;
			return {
				tools: code.tools.length > 0,
				sessions: store.sessionDir !== null || isDriven,
				screen: surface.shell !== null || (isDriven && surface.ui === NO_UI),
				user: prompter.acceptsSend,
			};
		},
	});
	const components: SessionComponents = {
		...services,
		activity,
		events,
		state,
		context,
		hooks,
		hookModels,
		hookResources,
		compaction,
		runner,
		images,
		jobs,
		files,
		mcp,
		userShell: new UserShell(core, jobs.table),
		lifecycle,
		reloader,
		commands,
		prompter,
		inspector,
		sources,
		surface,
		memory,
		telemetry,
		warnings: warnings.lines,
		unsaved: () => saving.unsaved,
		ended,
		asParent: new ParentSession({ options, ...services, state, budget, hooks }),
		async connectMachine() {
			await machine.connect(machineConnection(ended.signal));
			await resources.enterSandbox();
			state.useMachine(machine.recorded, store.isCopy);
		},
	};
	const session = new AgentSession(components, operations);
	const commandSession = createCommandSession(session, operations, services, compaction, { jobs, mcp, lifecycle });
	lifecycle.watchLog(saving.watcher);
	return session;
}
