import type { Component } from "@mariozechner/pi-tui";
import type { CommandShell } from "../../../commands/command.js";
import type { CompactionTokens, CompactionTrial } from "../../../commands/compaction-request.js";
import type { PickerShell } from "../../../commands/pickers.js";
import type { ReviewComment } from "../../../commands/review.js";
import type { ResolvedModel } from "../../../models/models.js";
import type { DialogStyle } from "../../../tui/dialog-style.js";
import type { OverlayStack } from "../../../tui/overlay-stack.js";
import { createBranchPicker } from "./branch-picker.js";
import { type CompactionAnswer, CompactionPanel, type CompactionPanelOptions } from "./compaction-panel.js";
import { ContextPanel } from "./context-panel.js";
import { DiffPanel } from "./diff-panel.js";
import { HooksPanel } from "./hooks-panel.js";
import { createListPage } from "./list-page.js";
import { createLiveList } from "./live-list.js";
import { McpPanel } from "./mcp-panel.js";
import { createModelPicker } from "./model-picker.js";
import { createTextPager } from "./pager.js";
import { SessionPicker } from "./session-picker.js";
import { SettingsPicker } from "./settings-picker.js";
import { createToolsPicker } from "./tools-picker.js";

/** The screen as the dialogs of commands use it. */
export interface DialogMarks
	extends Pick<CompactionPanelOptions, "copy" | "requestRender" | "createEditor" | "editExternally"> {
	overlays: OverlayStack;
	style: DialogStyle;
	/** Paths are shown relative to these. */
	paths: { cwd: string; home: string };
}

/** The dialogs that commands open. */
export type CommandDialogs = Required<
	Omit<PickerShell, "screen"> &
		Pick<CommandShell, "openContext" | "openCompaction" | "openDiff" | "openHooks" | "openMcp">
>;

/** Creates the functions that open each dialog instead of the editor. */
export function createDialogs(host: DialogMarks): CommandDialogs {
	const { style, copy, requestRender, paths } = host;
	return {
		pickModel: (question, signal) =>
			open<ResolvedModel | null>(host, signal, null, (onClose, closed) =>
				createModelPicker(style, { ...question, signal: closed, requestRender, onClose }),
			),
		pickSession: (sessions, signal) =>
			open<string | null>(host, signal, null, (onClose, closed) => {
				return new SessionPicker(style, { sessions, home: paths.home, signal: closed, requestRender, onClose });
			}),
		pickBranch: (rows, signal) =>
			open<number | null>(host, signal, null, (onClose) => createBranchPicker(style, rows, onClose)),
		openTools: (tools, signal) =>
			open<void>(host, signal, undefined, (onClose) => createToolsPicker(style, { tools, paths, onClose })),
		openSettings: (settings, signal) =>
			open<void>(host, signal, undefined, (onClose) => {
				return new SettingsPicker(style, { settings, requestRender, onClose });
			}),
		pickLive: (list, signal) =>
			open<string | null>(host, signal, null, (onClose, closed) =>
				createLiveList(style, list, { closed, requestRender, onClose }),
			),
		showText: (page, signal) => open<void>(host, signal, undefined, (onClose) => createTextPager(style, page, onClose)),
		showList: (page, signal) =>
			open<string | null>(host, signal, null, (onClose) => createListPage(style, page, onClose)),
		async openContext(inspector, at, signal) {
			const inspection = await inspector.inspectContext({ at });
			const disable = async (hooks: ReadonlySet<string>) => {
				for (const path of hooks) await inspector.setHookEnabled(path, false);
			};
			await open<void>(host, signal, undefined, (onClose) => {
				return new ContextPanel(style, { inspection, inspector, disable, copy, requestRender, onClose });
			});
		},
		openCompaction: (trial) => openCompaction(trial, host),
		openDiff: (review, scope, signal) =>
			open<readonly ReviewComment[]>(host, signal, [], (onClose) => {
				return new DiffPanel(style, { review, scope, paths, requestRender, onClose });
			}),
		openHooks: (inspector, signal) =>
			open<"reload" | null>(host, signal, null, (settle, closed) => {
				return new HooksPanel(style, {
					statuses: () => inspector.hookStatuses(),
					setEnabled: (path, isEnabled) => inspector.setHookEnabled(path, isEnabled),
					setShadow: (path, isShadow) => inspector.setHookShadow(path, isShadow),
					play: (options) => inspector.playShadows(options),
					closed,
					onReload: () => settle("reload"),
					onClose: () => settle(null),
					requestRender,
					paths,
				});
			}),
		openMcp: (mcp, signal) =>
			open<string | null>(host, signal, null, (settle, closed) => {
				return new McpPanel(style, {
					mcp,
					onLogin: (name) => settle(name),
					onClose: () => settle(null),
					requestRender,
					closed,
					paths,
				});
			}),
	};
}

/**
 * Opens a dialog instead of the editor.
 * @param build receives a signal that aborts when the dialog closes for any reason
 * @returns the value passed to `settle`, or `canceled`
 */
async function open<T>(
	{ overlays }: DialogMarks,
	signal: AbortSignal,
	canceled: T,
	build: (settle: (value: T) => void, closed: AbortSignal) => Component,
): Promise<T> {
	const closed = new AbortController();
	const either = AbortSignal.any([signal, closed.signal]);
	try {
		return await overlays.open<T>((settle) => build(settle, either), { signal, canceled });
	} finally {
		closed.abort();
	}
}

/**
 * Shows a compaction preview until the user accepts or cancels it. Hooks run while the editor is visible because they
 * may open dialogs of their own.
 * @returns null when nothing was written
 */
async function openCompaction(trial: CompactionTrial, host: DialogMarks): Promise<CompactionTokens | null> {
	for (;;) {
		const offered = await trial.askHooks();
		const answer = await open<CompactionAnswer>(host, trial.signal, { kind: "cancel" }, (onAnswer, signal) => {
			return new CompactionPanel(host.style, { ...host, trial, offered, signal, onAnswer });
		});
		if (answer.kind === "done") return answer.tokens;
		if (answer.kind === "cancel") return null;
	}
}
