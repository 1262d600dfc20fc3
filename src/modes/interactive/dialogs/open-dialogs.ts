import type { Component } from "@mariozechner/pi-tui";
import type { CommandShell } from "../../../commands/command.js";
import type { CompactionTokens, CompactionTrial } from "../../../commands/compaction.js";
import type { PickerShell } from "../../../commands/pickers.js";
import type { DialogStyle } from "../../../tui/dialog-style.js";
import type { OverlayOptions, OverlayStack } from "../../../tui/overlay-stack.js";
import { createBranchPicker } from "./branch-picker.js";
import { type CompactionAnswer, CompactionPanel, type CompactionPanelOptions } from "./compaction-panel.js";
import { ContextPanel } from "./context-panel.js";
import { HooksPanel } from "./hooks-panel.js";
import { createListPage } from "./list-page.js";
import { createModelPicker } from "./model-picker.js";
import { SessionPicker } from "./session-picker.js";
import { SettingsPicker } from "./settings-picker.js";
import { TextPanel } from "./text-panel.js";
import { createToolsPicker } from "./tools-picker.js";

/** What the dialogs of commands need from the screen. */
export interface DialogHost
	extends Pick<CompactionPanelOptions, "copy" | "requestRender" | "createEditor" | "editExternally">,
		Pick<PickerShell, "applySetting"> {
	overlays: OverlayStack;
	style: DialogStyle;
	/** Paths are shown relative to these. */
	paths: { cwd: string; home: string };
}

/** The dialogs that commands open. */
export type CommandDialogs = Required<
	Omit<PickerShell, "applySetting" | "screen"> & Pick<CommandShell, "openContext" | "openCompaction" | "openHooks">
>;

/** Creates the functions that open each dialog in place of the editor. */
export function createDialogs(host: DialogHost): CommandDialogs {
	const { overlays, style, copy, requestRender, paths, applySetting } = host;
	return {
		pickModel: (question, signal) =>
			openWithSignal(overlays, { signal, cancelled: null }, (settle, closed) =>
				createModelPicker(style, { ...question, signal: closed, requestRender, onClose: settle }),
			),
		pickSession: (sessions, signal) =>
			openWithSignal<string | null>(
				overlays,
				{ signal, cancelled: null },
				(settle, closed) =>
					new SessionPicker(style, { sessions, home: paths.home, signal: closed, requestRender, onClose: settle }),
			),
		pickBranch: (rows, signal) =>
			overlays.open<number | null>((settle) => createBranchPicker(style, rows, settle), { signal, cancelled: null }),
		openTools: (tools, signal) =>
			overlays.open<void>((settle) => createToolsPicker(style, { tools, paths, onClose: settle }), {
				signal,
				cancelled: undefined,
			}),
		openSettings: (settings, signal) =>
			overlays.open<void>(
				(settle) => new SettingsPicker(style, { settings, applySetting, requestRender, onClose: settle }),
				{ signal, cancelled: undefined },
			),
		showText: (page, signal) =>
			overlays.open<void>((settle) => new TextPanel(style, page, settle), { signal, cancelled: undefined }),
		showList: (page, signal) =>
			overlays.open<string | null>((settle) => createListPage(style, page, settle), { signal, cancelled: null }),
		async openContext(inspector, at, signal) {
			const inspection = await inspector.inspectContext({ at });
			await overlays.open<null>(
				(settle) =>
					new ContextPanel(style, {
						inspection,
						inspect: (options) => inspector.inspectContext(options),
						async disable(hooks) {
							for (const path of hooks) await inspector.setHookEnabled(path, false);
						},
						copy,
						requestRender,
						onClose: () => settle(null),
					}),
				{ signal, cancelled: null },
			);
		},
		openCompaction: (trial) => openCompaction(trial, host),
		openHooks: (inspector, signal) =>
			overlays.open<"reload" | null>(
				(settle) =>
					new HooksPanel(style, {
						statuses: () => inspector.hookStatuses(),
						setEnabled: (path, isEnabled) => inspector.setHookEnabled(path, isEnabled),
						onReload: () => settle("reload"),
						onClose: () => settle(null),
						requestRender,
						paths,
					}),
				{ signal, cancelled: null },
			),
	};
}

/** Opens an overlay whose background work stops when it closes, however it is closed. */
async function openWithSignal<T>(
	overlays: OverlayStack,
	options: OverlayOptions<T> & { signal: AbortSignal },
	build: (settle: (value: T) => void, closed: AbortSignal) => Component,
): Promise<T> {
	const closed = new AbortController();
	try {
		return await overlays.open<T>((settle) => build(settle, AbortSignal.any([options.signal, closed.signal])), options);
	} finally {
		closed.abort();
	}
}

/**
 * Shows a compaction preview until the user accepts or cancels it. Hooks run while the editor is visible because they
 * may open dialogs of their own.
 * @returns null when nothing was written
 */
async function openCompaction(trial: CompactionTrial, host: DialogHost): Promise<CompactionTokens | null> {
	for (;;) {
		const offered = await trial.askHooks();
		const answer = await openWithSignal<CompactionAnswer>(
			host.overlays,
			{ signal: trial.signal, cancelled: { kind: "cancel" } },
			(settle, signal) => new CompactionPanel(host.style, { ...host, trial, offered, signal, onAnswer: settle }),
		);
		if (answer.kind === "done") return answer.tokens;
		if (answer.kind === "cancel") return null;
	}
}
