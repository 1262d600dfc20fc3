import type { Api, Model } from "@mariozechner/pi-ai";
import type { CommandShell } from "../commands/command.js";
import { PiError } from "../errors.js";
import { checkCustomEntry } from "../hooks/custom-entry.js";
import { textOf } from "../hooks/dialog-options.js";
import type { SystemItemSink } from "../hooks/handles.js";
import type { HookHost } from "../hooks/host-context.js";
import type { HookUI } from "../hooks/types.js";
import { THINKING_LEVELS, type ThinkingLevel } from "../log/entry.js";
import { freezeDeep } from "../log/freeze.js";
import type { SessionActivity } from "./activity.js";
import type { SessionContext } from "./session-context.js";
import type { SessionSetup } from "./session-setup.js";
import type { SessionState } from "./session-state.js";

/** What the host of hooks is made of. */
export interface HookHostDeps {
	setup: SessionSetup;
	state: SessionState;
	context: SessionContext;
	ui(): HookUI;
	hasUI(): boolean;
	shell(): CommandShell | null;
	/** Where items go that hooks append. */
	systemItems(): SystemItemSink;
	rebuild(): Promise<void>;
	activity: SessionActivity;
}

/** Hooks and the program share one object for each model: nobody may change it in place. */
function unchangeable<M extends Model<Api> | null>(model: M): M {
	return freezeDeep(model);
}

/** Hooks are loaded without type checks. */
function checkModel(model: unknown): void {
	const given: { provider?: unknown; id?: unknown } = typeof model === "object" && model !== null ? model : {};
	if (typeof given.provider === "string" && typeof given.id === "string") return;
	throw new PiError("bad_arguments", `ctx.setModel takes a model, not ${textOf(model)}`, {
		hint: "ctx.findModel(provider, id) and ctx.availableModels() give models",
	});
}

function checkLevel(level: unknown): ThinkingLevel {
	const known = THINKING_LEVELS.find((name) => name === level);
	if (known !== undefined) return known;
	throw new PiError("bad_arguments", `ctx.setThinkingLevel takes no ${textOf(level)}`, {
		hint: `the levels are ${THINKING_LEVELS.join(", ")}`,
	});
}

/** The session as hooks see it; every member reads current state. */
export function createHookHost(deps: HookHostDeps): HookHost {
	const { setup, state, context, ui, hasUI, shell, rebuild } = deps;
	return {
		cwd: setup.cwd,
		get sessionFile() {
			return state.log.path;
		},
		get model() {
			return unchangeable(state.model);
		},
		get thinkingLevel() {
			return state.thinkingLevel;
		},
		get entries() {
			return state.log.entries;
		},
		get messages() {
			return context.messages;
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
		findModel: (provider, id) => unchangeable(setup.models.find(provider, id)),
		availableModels: async () => (await setup.models.available()).map(unchangeable),
		resolveApiKey: (model) => setup.models.resolveApiKey(model),
		async requestAuth(model) {
			const isKnown = (await setup.models.resolveApiKey(model)) !== undefined;
			return isKnown ? setup.models.requestAuth(model) : undefined;
		},
		saveEntries(hook, entries) {
			const checked = entries.map((entry) => checkCustomEntry(hook, entry));
			for (const { type } of checked) if (!hook.entryTypes.has(type)) hook.entryTypes.set(type, {});
			return state.appendAll(checked);
		},
		get systemItems() {
			return deps.systemItems();
		},
		rebuildContext: rebuild,
		openDialog: (title) => deps.activity.begin("dialog", { name: title }).end,
		async setModel(model) {
			checkModel(model);
			state.setModel(model);
		},
		setThinkingLevel: (level) => state.setThinkingLevel(checkLevel(level)),
		setEditorText: (text) => shell()?.setEditorText(text),
	};
}
