import type { Api, AssistantMessageEventStream, Model } from "@mariozechner/pi-ai";
import type { CommandShell } from "../commands/command.js";
import type { ToolStatus } from "../commands/pickers.js";
import { PiError } from "../errors.js";
import type { ScreenHost } from "../hooks/bound-screen.js";
import { checkCustomEntry } from "../hooks/custom-entry.js";
import { textOf } from "../hooks/dialog-options.js";
import type { FlagValues } from "../hooks/flags.js";
import type { SystemItemSink } from "../hooks/handles.js";
import type { HookControl, HookHost } from "../hooks/host-context.js";
import { WRITTEN_ENTRY } from "../hooks/registry.js";
import type { SessionUI } from "../hooks/session-ui.js";
import type { HookEventContext, HookTools, SessionHandle } from "../hooks/types.js";
import { THINKING_LEVELS, type ThinkingLevel } from "../log/entry.js";
import { freezeDeep } from "../log/freeze.js";
import { collectOutput, exec } from "../util/process.js";
import { meterRequests } from "./meter-requests.js";
import type { SessionCore } from "./session-setup.js";

export interface HookHostDeps extends Pick<SessionCore, "setup" | "state" | "context" | "activity">, ScreenHost {
	ui(): SessionUI;
	hasUI(): boolean;
	shell(): CommandShell | null;
	/** Receives the items that hooks append. */
	systemItems(): SystemItemSink;
	rebuild(): Promise<void>;
	flags(): FlagValues;
	control: HookControl;
	/** The session as the parent of others. */
	session(): SessionHandle;
}

/** Freezes a model: hooks and pi share its object, so nobody may change it in place. */
function freezeModel<M extends Model<Api> | null>(model: M): M {
	return freezeDeep(model);
}

// Hooks are loaded without type checks, so the setters check their arguments.
function checkModel(model: unknown): void {
	const fields: { provider?: unknown; id?: unknown } = typeof model === "object" && model !== null ? model : {};
	if (typeof fields.provider === "string" && typeof fields.id === "string") return;
	throw new PiError("bad_arguments", `ctx.setModel expects a model, not ${textOf(model)}`, {
		hint: "ctx.findModel(provider, id) and ctx.availableModels() return models",
	});
}

function checkLevel(level: unknown): ThinkingLevel {
	const known = THINKING_LEVELS.find((name) => name === level);
	if (known !== undefined) return known;
	throw new PiError("bad_arguments", `ctx.setThinkingLevel does not accept ${textOf(level)}`, {
		hint: `the levels are ${THINKING_LEVELS.join(", ")}`,
	});
}

/** The tools of the session for hooks, which are loaded without type checks. */
function hookTools({ toolSwitch }: SessionCore["setup"]): HookTools {
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
		setActive(names: unknown, options) {
			if (!Array.isArray(names) || !names.every((name) => typeof name === "string"))
				throw new PiError("bad_arguments", "ctx.tools.setActive expects a list of tool names");
			toolSwitch.setActive(names, { mayJoin: options?.mayJoin === true });
		},
	};
}

/** The view that hooks have of the session; every member reads the current state. */
export function createHookHost(deps: HookHostDeps): HookHost {
	const { setup, state, context, ui, hasUI, shell, rebuild } = deps;
	return {
		cwd: setup.cwd,
		control: deps.control,
		get sessionFile() {
			return state.log.path;
		},
		get session() {
			return deps.session();
		},
		configFiles: (folder) => setup.configFiles(folder),
		get model() {
			return freezeModel(state.model);
		},
		get thinkingLevel() {
			return state.thinkingLevel;
		},
		get flags() {
			return deps.flags();
		},
		get toolHost() {
			const { name, cwd } = setup.host;
			return Object.freeze({ name, cwd });
		},
		async execOnHost(command, args, { signal, timeout, cwd, env }) {
			const { host } = setup;
			if (host.name === "") return exec(command, args, { ...{ signal, timeout, env }, cwd: cwd ?? host.cwd });
			return collectOutput((onOutput) =>
				host.exec([command, ...args], {
					...(signal && { signal }),
					...(timeout ? { timeoutMs: timeout } : {}),
					...(cwd === undefined ? {} : { cwd }),
					...(env && { env }),
					onOutput,
				}),
			);
		},
		get projectTrusted() {
			return setup.acceptedCode() !== null;
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
			return ui();
		},
		get hasUI() {
			return hasUI();
		},
		get generation() {
			return state.generation;
		},
		findModel: (provider, id) => freezeModel(setup.models.find(provider, id)),
		availableModels: async () => (await setup.models.available()).map(freezeModel),
		resolveApiKey: (model) => setup.models.resolveApiKey(model),
		async requestAuth(model) {
			const isKnown = (await setup.models.resolveApiKey(model)) !== undefined;
			return isKnown ? setup.models.requestAuth(model) : undefined;
		},
		stream: ({ name }, ...request) => sendHookRequest({ setup, state }, name, request),
		saveEntries(hook, entries) {
			const checked = entries.map((entry) => checkCustomEntry(hook, entry));
			for (const { type } of checked) if (!hook.entryTypes.has(type)) hook.entryTypes.set(type, WRITTEN_ENTRY);
			// What a hook saves at each start must not make a session of it.
			const isStart = deps.activity.current.state === "switching" && state.log.findLast("message") < 0;
			return state.appendAll(checked, isStart);
		},
		get systemItems() {
			return deps.systemItems();
		},
		rebuildContext: rebuild,
		tools: hookTools(setup),
		openDialog: (title) => deps.activity.begin("dialog", { name: title }).end,
		async setModel(model) {
			checkModel(model);
			state.setModel(model);
		},
		setThinkingLevel: (level) => state.setThinkingLevel(checkLevel(level)),
		enter: (action) => setup.enterHooks(action),
		setEditorText: (text) => {
			const screen = ui().hookScreen;
			if (screen) screen.setEditorText(text);
			else shell()?.setEditorText(text);
		},
		rankOf: deps.rankOf,
		reportScreen: deps.reportScreen,
		recordDraw: deps.recordDraw,
	};
}

/**
 * Sends a request of a hook with the key of its model. Its usage is written to the log under the name of the hook.
 * @throws PiError `key_missing`, `package_missing`
 */
async function sendHookRequest(
	core: Pick<SessionCore, "state" | "setup">,
	hook: string,
	[model, context, { headers, ...options } = {}]: Parameters<HookEventContext["stream"]>,
): Promise<AssistantMessageEventStream> {
	const { models, client } = core.setup;
	const [auth] = await Promise.all([models.requestAuth(model), client.prepare(model)]);
	const meter = meterRequests(core, `hook ${hook}`);
	// Nothing waits to be written together with it.
	meter.write();
	const all = { ...auth.headers, ...headers };
	return meter.stream(model, context, {
		...options,
		...(Object.keys(all).length > 0 ? { headers: all } : {}),
		apiKey: auth.apiKey,
	});
}
