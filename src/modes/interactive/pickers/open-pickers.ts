import type { PickerShell } from "../../../commands/pickers.js";
import type { OverlayStack } from "../../../tui/overlay-stack.js";
import type { Look } from "../../../tui/select-dialog.js";
import { createBranchPicker } from "./branch-picker.js";
import { createListPage } from "./list-page.js";
import { createModelPicker } from "./model-picker.js";
import { SessionPicker } from "./session-picker.js";
import { SettingsPicker } from "./settings-picker.js";
import { TextPanel } from "./text-panel.js";
import { createToolsPicker } from "./tools-picker.js";

/** Where pickers stand. */
export interface PickerParts {
	overlays: OverlayStack;
	look: Look;
	requestRender(): void;
	/** For paths. */
	places: { cwd: string; home: string };
}

/** What a shell opens. */
export type Pickers = Required<Omit<PickerShell, "screen">>;

/** Opens pickers in the editor's place. */
export function createPickers({ overlays, look, requestRender, places }: PickerParts): Pickers {
	/** Ends what a picker began, however it is closed. */
	const whileOpen = async <T>(signal: AbortSignal, open: (closed: AbortSignal) => Promise<T>): Promise<T> => {
		const closed = new AbortController();
		try {
			return await open(AbortSignal.any([signal, closed.signal]));
		} finally {
			closed.abort();
		}
	};
	return {
		pickModel: (question, signal) =>
			whileOpen(signal, (closed) =>
				overlays.open(
					(settle) => createModelPicker(look, { ...question, signal: closed, requestRender, onClose: settle }),
					{ signal, cancelled: null },
				),
			),
		pickSession: (sessions, signal) =>
			whileOpen(signal, (closed) =>
				overlays.open<string | null>(
					(settle) =>
						new SessionPicker(look, { sessions, home: places.home, signal: closed, requestRender, onClose: settle }),
					{ signal, cancelled: null },
				),
			),
		pickBranch: (rows, signal) =>
			overlays.open<number | null>((settle) => createBranchPicker(look, rows, settle), { signal, cancelled: null }),
		openTools: (tools, signal) =>
			overlays.open<void>((settle) => createToolsPicker(look, { tools, places, onClose: settle }), {
				signal,
				cancelled: undefined,
			}),
		openSettings: (settings, signal) =>
			overlays.open<void>((settle) => new SettingsPicker(look, { settings, requestRender, onClose: settle }), {
				signal,
				cancelled: undefined,
			}),
		showText: (page, signal) =>
			overlays.open<void>((settle) => new TextPanel(look, page, settle), { signal, cancelled: undefined }),
		showList: (page, signal) =>
			overlays.open<string | null>((settle) => createListPage(look, page, settle), { signal, cancelled: null }),
	};
}
