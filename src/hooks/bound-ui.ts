import type { HookDialogOptions } from "./dialog-options.js";
import type { HookCall } from "./hook-call.js";
import type { DialogOptions, HookUI, InputOptions } from "./types.js";

/** Marks dialogs as open. */
export interface DialogHost {
	/** Marks a dialog as open. @returns a function to call when it closes */
	openDialog(title: string): () => void;
}

/** Dialogs that pause the time limit of the call while they are open, and are canceled with the call. */
export function boundUI(ui: () => HookUI, host: DialogHost, call: HookCall): HookUI {
	const bound = (dialog: InputOptions | undefined): HookDialogOptions => ({
		...dialog,
		hook: call.hook.name,
		signal: dialog?.signal ? AbortSignal.any([dialog.signal, call.signal]) : call.signal,
	});
	// Takes a promise, not a callback, so that no wrapper lies between the hook and the mode's dialog.
	const untilAnswered = async <T>(title: string, answer: Promise<T>): Promise<T> => {
		const release = call.deadline?.hold();
		const close = host.openDialog(title);
		try {
			return await answer;
		} finally {
			close();
			release?.();
		}
	};
	const members = {
		select: async (title: string, options: readonly unknown[], dialog?: DialogOptions): Promise<unknown> => {
			const list = Array.isArray(options) ? options : [];
			if (list.length > 0) return untilAnswered(String(title), ui().select(String(title), list, bound(dialog)));
			ui().notify(
				`${call.hook.name} opened the dialog "${String(title)}" without options (${call.hook.path})`,
				"warning",
			);
			return null;
		},
		confirm: async (title: string, message: string, dialog?: DialogOptions) =>
			untilAnswered(String(title), ui().confirm(String(title), String(message ?? ""), bound(dialog))),
		input: async (title: string, placeholder?: string, dialog?: InputOptions) =>
			untilAnswered(String(title), ui().input(String(title), placeholder, bound(dialog))),
		notify: (message: string, type?: "info" | "warning" | "error") => ui().notify(String(message), type),
	};
	return Object.freeze(members) as HookUI;
}

/** Dialogs without a user: every dialog is canceled at once. */
export const NO_UI: HookUI = Object.freeze({
	select: async () => null,
	confirm: async () => false,
	input: async () => null,
	notify: () => {},
});
