import type { ChoiceOptions, CommandUI } from "../commands/command.js";
import type { SessionUI } from "../hooks/session-ui.js";
import type { DialogOptions } from "../hooks/types.js";

/** The dialogs of a mode for one built-in command: an abort of the command closes them, and later answers do not count. */
export function commandDialogs(ui: SessionUI, signal: AbortSignal): CommandUI {
	const bound = <D extends DialogOptions>(dialog: D | undefined) => ({
		...dialog,
		signal: dialog?.signal ? AbortSignal.any([dialog.signal, signal]) : signal,
	});
	return {
		select: (title: string, options: readonly never[], dialog?: ChoiceOptions) =>
			ui.select(title, options, bound(dialog)),
		confirm: (title, message, dialog) => ui.confirm(title, message, bound(dialog)),
		input: (title, placeholder, dialog) => ui.input(title, placeholder, bound(dialog)),
		notify: (message, type) => ui.notify(message, type),
	};
}
