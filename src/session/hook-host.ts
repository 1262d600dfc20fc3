import type { CommandShell } from "../commands/command.js";
import { checkCustomEntry } from "../hooks/custom-entry.js";
import type { SystemItemSink } from "../hooks/handles.js";
import type { HookHost } from "../hooks/host-context.js";
import type { HookUI } from "../hooks/types.js";
import type { SessionContext } from "./session-context.js";
import type { SessionParts } from "./session-parts.js";
import type { SessionState } from "./session-state.js";

/** What the host of hooks is made of. */
export interface HookHostDeps {
	parts: SessionParts;
	state: SessionState;
	context: SessionContext;
	ui(): HookUI;
	hasUI(): boolean;
	shell(): CommandShell | null;
	/** Where items go that hooks append. */
	systemItems(): SystemItemSink;
	rebuild(): Promise<void>;
}

/** The session as hooks see it; every member reads current state. */
export function createHookHost(deps: HookHostDeps): HookHost {
	const { parts, state, context, ui, hasUI, shell, rebuild } = deps;
	return {
		cwd: parts.cwd,
		get sessionFile() {
			return state.log.path;
		},
		get model() {
			return state.model;
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
		findModel: (provider, id) => parts.models.find(provider, id),
		availableModels: () => parts.models.available(),
		resolveApiKey: (model) => parts.models.resolveApiKey(model),
		async requestAuth(model) {
			const isKnown = (await parts.models.resolveApiKey(model)) !== undefined;
			return isKnown ? parts.models.requestAuth(model) : undefined;
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
		setModel: async (model) => state.setModel(model),
		setThinkingLevel: (level) => state.setThinkingLevel(level),
		setEditorText: (text) => shell()?.setEditorText(text),
	};
}
