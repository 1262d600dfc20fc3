import type { CommandShell } from "../../../commands/command.js";
import type { OverlayStack } from "../../../tui/overlay-stack.js";
import type { PromptEditor } from "../../../tui/prompt-editor.js";
import type { Look } from "../../../tui/select-dialog.js";
import { ContextPanel } from "./context-panel.js";
import { HooksPanel } from "./hooks-panel.js";
import { openCompaction } from "./open-compaction.js";

/** Where panels stand and what they reach. */
export interface PanelParts {
	overlays: OverlayStack;
	look: Look;
	copy(text: string): Promise<void>;
	requestRender(): void;
	/** An editor like that of the prompt, without completions. */
	createEditor(): PromptEditor;
	/** Lets the user write in a program of theirs. @returns the new text, or null when it is to stay */
	editExternally(text: string): Promise<string | null>;
	/** For paths. */
	places: { cwd: string; home: string };
}

/** Opens the panels of `/context`, `/compact` and `/hooks` in the editor's place. */
export function createPanels(
	parts: PanelParts,
): Required<Pick<CommandShell, "openContext" | "openCompaction" | "openHooks">> {
	const { overlays, look, copy, requestRender, places } = parts;
	return {
		async openContext(inspector, at, signal) {
			const inspection = await inspector.inspectContext({ at });
			await overlays.open<null>(
				(settle) =>
					new ContextPanel(look, {
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
		openCompaction: (trial) => openCompaction(trial, parts),
		openHooks: (inspector, signal) =>
			overlays.open<"reload" | null>(
				(settle) =>
					new HooksPanel(look, {
						statuses: () => inspector.hookStatuses(),
						setEnabled: (path, isEnabled) => inspector.setHookEnabled(path, isEnabled),
						onReload: () => settle("reload"),
						onClose: () => settle(null),
						requestRender,
						places,
					}),
				{ signal, cancelled: null },
			),
	};
}
