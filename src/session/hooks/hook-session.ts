import type { Api, AssistantMessageEventStream, Model } from "@mariozechner/pi-ai";
import type { StreamFunction } from "../../agent/stream.js";
import { paletteItems } from "../../commands/command-registry.js";
import type { ToolStatus } from "../../commands/pickers.js";
import { createPermissionSettings } from "../../config/permission-rules.js";
import { offeredTools } from "../../context/additions.js";
import { describeError, PiError } from "../../errors.js";
import type { HookOperation, HookSession } from "../../hooks/context-object.js";
import { checkCustomEntry } from "../../hooks/custom-entry.js";
import { WRITTEN_ENTRY } from "../../hooks/hook-registry.js";
import { hookProjectDir } from "../../hooks/project-dir.js";
import type { HookEventContext } from "../../hooks/types.js";
import { sessionDirs } from "../../log/catalog.js";
import { entryTimestamp } from "../../log/entry.js";
import { freezeDeep } from "../../log/freeze.js";
import { SessionName } from "../../log/last-choices.js";
import { userSessionsDir } from "../../log/session-paths.js";
import { meteredBy } from "../../models/hook-meter.js";
import type { Code, Store } from "../../services/service-types.js";
import { collectOutput, exec } from "../../util/process.js";
import { meterRequests } from "../run/meter-requests.js";
import type { SessionComponents } from "../session-components.js";
import type { SessionCore } from "../session-core.js";

/** Freezes a model: hooks and pi share its object, so nobody may change it in place. */
function freezeModel<M extends Model<Api> | null>(model: M): M {
	return freezeDeep(model);
}

/** The tools of the session for hooks, which are loaded without type checks. */
function hookTools({ toolSwitch }: Code, context: SessionCore["context"]): HookSession["tools"] {
	const infos = (tools: readonly ToolStatus[]) =>
		Object.freeze(
			tools.map(({ name, description, parameters, source }) =>
				Object.freeze({
					name,
					description,
					source,
					get parameters() {
						return JSON.parse(JSON.stringify(parameters));
					},
				}),
			),
		);
	return {
		get all() {
			return infos(toolSwitch.list());
		},
		get active() {
			return infos(toolSwitch.list().filter(({ isOn }) => isOn));
		},
		get offered() {
			const offered = context.lastRequest ? offeredTools(context.lastRequest) : new Set<string>();
			return infos(toolSwitch.list().filter(({ name, isOn }) => isOn && offered.has(name)));
		},
		setActive(names: unknown, options) {
			if (!Array.isArray(names) || !names.every((name) => typeof name === "string"))
				throw new PiError("bad_arguments", "ctx.tools.setActive expects a list of tool names");
			toolSwitch.setActive(names, { mayJoin: options?.mayJoin === true });
		},
	};
}

/** The directories with the user's sessions. @param everywhere not only those of this project */
function sessionsDirs({ savedSessionsDir, sessionsRoot }: Store, everywhere: boolean): string[] {
	const own = userSessionsDir(savedSessionsDir);
	return [...new Set([own, ...(everywhere ? sessionDirs(sessionsRoot) : [])])];
}

/**
 * The session as hooks see it; every member reads the current state.
 * @param session the session, from the first call of a hook on
 * @param operations what hooks can tell it to do
 */
export function createHookSession(
	core: Pick<SessionCore, "store" | "models" | "code" | "machine" | "state" | "context" | "activity">,
	session: () => SessionComponents,
	operations: readonly HookOperation[],
): HookSession {
	const { store, models, code, machine, state, context, activity } = core;
	const name = new SessionName();
	return {
		cwd: store.cwd,
		operations,
		get sessionFile() {
			return state.log.path;
		},
		projectDirOf: ({ name }) => hookProjectDir(store.agentDir, store.cwd, name),
		sessionFor: ({ name }) => session().asParent.forHook(name),
		get isIdle() {
			const isRunning = activity.has("run") && activity.current.phase !== "ending";
			return !isRunning && !activity.has("compacting", "shell", "switching", "closing");
		},
		get queued() {
			return session().runner.queue.size;
		},
		get commands() {
			const list = paletteItems(session().sources()).map(({ name, description, origin, path }) =>
				Object.freeze({ name, description, source: origin, ...(path === undefined ? {} : { path }) }),
			);
			return Object.freeze(list);
		},
		get usage() {
			const tokens = context.tokens();
			const contextWindow = state.model?.contextWindow ?? 0;
			return Object.freeze({
				tokens,
				contextWindow,
				percent: contextWindow > 0 ? (100 * tokens) / contextWindow : null,
			});
		},
		get sessionName() {
			return name.of(state.log);
		},
		get mode() {
			return session().surface.mode;
		},
		configFiles: (folder) => code.configFiles(folder),
		permissions: createPermissionSettings(store.settings, store, (line) => session().surface.ui.notify(line, "info")),
		get webSearch() {
			return store.settings.current.webSearch;
		},
		get model() {
			return freezeModel(state.model);
		},
		get thinkingLevel() {
			return state.thinkingLevel;
		},
		get flags() {
			return session().hooks.flags;
		},
		get toolHost() {
			const { name, cwd } = machine.host;
			return Object.freeze({ name, cwd });
		},
		async execOnHost(command, args, { signal, timeout, cwd, env, stdin }) {
			const { host } = machine;
			if (host.name === "") return exec(command, args, { ...{ signal, timeout, env, stdin }, cwd: cwd ?? host.cwd });
			return collectOutput((onOutput) =>
				host.exec([command, ...args], {
					...(signal && { signal }),
					...(timeout ? { timeoutMs: timeout } : {}),
					...(cwd === undefined ? {} : { cwd }),
					...(env && { env }),
					...(stdin === undefined ? {} : { stdin }),
					onOutput,
				}),
			);
		},
		get projectTrusted() {
			return code.acceptedCode() !== null;
		},
		get entries() {
			return state.log.entries;
		},
		get messages() {
			return context.messages;
		},
		get systemPrompt() {
			return context.preamble.promptSections;
		},
		get ui() {
			return session().surface.ui;
		},
		get hasUI() {
			return session().surface.hasUI;
		},
		get generation() {
			return state.generation;
		},
		findModel: (provider, id) => freezeModel(models.list.find(provider, id)),
		availableModels: async () => (await models.list.available()).map(freezeModel),
		resolveApiKey: (model) => models.list.resolveApiKey(model),
		async requestAuth(model) {
			const isKnown = (await models.list.resolveApiKey(model)) !== undefined;
			return isKnown ? models.list.requestAuth(model) : undefined;
		},
		stream: ({ name }, ...request) => sendHookRequest(core, name, request),
		saveEntries(hook, entries) {
			const checked = entries.map((entry) => checkCustomEntry(hook, entry));
			for (const { type } of checked) if (!hook.entryTypes.has(type)) hook.entryTypes.set(type, WRITTEN_ENTRY);
			// What a hook saves on its own, such as at each start, must not make a session of it.
			return state.appendAll(checked, state.isUnused && !activity.has("command"));
		},
		sessions: {
			async search(text, { everywhere, includeCurrent, limit, signal }) {
				const { searchPastSessions } = await import("../../log/past-sessions.js");
				const without = includeCurrent ? null : state.log.path;
				return searchPastSessions(sessionsDirs(store, everywhere), text, { limit, without, signal });
			},
			async read(id, options) {
				const { readPastSession } = await import("../../log/past-sessions.js");
				return readPastSession(sessionsDirs(store, true), id, options);
			},
		},
		get systemItems() {
			return session().runner.systemItems;
		},
		tools: hookTools(code, context),
		callTool: (...call) => session().runner.hookCalls.run(...call),
		noteApproval(answer) {
			const entry = { type: "approval", timestamp: entryTimestamp(), ...answer } as const;
			state.appendAll([entry], state.isUnused && !activity.has("command"));
			if (answer.message === undefined) return;
			// Not awaited: the call that was refused is part of the run that takes it.
			void session()
				.prompter.send(answer.message)
				.catch((error) => session().events.emit({ type: "notice", level: "error", message: describeError(error) }));
		},
		openDialog: (title) => activity.begin("dialog", { name: title }).end,
		enter: (hook, action) => models.enterHooks(() => meteredBy((send) => meterHook(core, hook.name, send), action)),
		setEditorText: (text) => {
			const { ui, shell } = session().surface;
			const screen = ui.hookScreen;
			if (screen) screen.setEditorText(text);
			else shell?.setEditorText(text);
		},
		rankOf: (hook) => session().hooks.loaded.indexOf(hook),
		reportScreen: (error) => session().hooks.report(error),
		recordDraw: ({ path }, ms) => session().hooks.health.recordDraw(path, ms),
	};
}

/**
 * Sends a request of a hook with the key of its model. Its usage is written to the log under the name of the hook.
 * @throws PiError `key_missing`, `package_missing`
 */
async function sendHookRequest(
	core: Pick<SessionCore, "state" | "models">,
	hook: string,
	[model, context, { headers, ...options } = {}]: Parameters<HookEventContext["stream"]>,
): Promise<AssistantMessageEventStream> {
	const { list: models, client } = core.models;
	const [auth] = await Promise.all([models.requestAuth(model), client.prepare(model)]);
	const all = { ...auth.headers, ...headers };
	return meterHook(core, hook, client.stream)(model, context, {
		...options,
		...(Object.keys(all).length > 0 ? { headers: all } : {}),
		apiKey: auth.apiKey,
	});
}

/** A function that sends requests of a hook like `send`. Their usage is written to the log under the name of the hook. */
function meterHook(core: Pick<SessionCore, "state" | "models">, hook: string, send: StreamFunction): StreamFunction {
	const meter = meterRequests(core, `hook ${hook}`, send);
	// Nothing waits to be written together with it.
	meter.write();
	return meter.stream;
}
