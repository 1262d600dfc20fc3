import { boundScreen, check, isFunction, ownerOf, type ScreenHost } from "./bound-screen.js";
import type { HookCall } from "./hook-call.js";
import { claimsOf } from "./screen-claims.js";
import type { SessionUI } from "./session-ui.js";
import type { CustomFactory, CustomOptions, DialogOptions, HookUI, InputOptions, SelectManyOptions } from "./types.js";

/** Marks dialogs as open. */
export interface DialogHost extends ScreenHost {
	/** Marks a dialog as open. @returns a function to call when it closes */
	openDialog(title: string): () => void;
}

/** The screen for one call: dialogs pause the time limit of the call while they are open, and are canceled with it. */
export function boundUI(ui: () => SessionUI, host: DialogHost, call: HookCall): HookUI {
	const { hook } = call;
	const signals = () => [call.signal, claimsOf(hook).signal];
	const bound = <D extends DialogOptions>(dialog: D | undefined) => ({
		...dialog,
		hook: hook.name,
		signal: AbortSignal.any(dialog?.signal ? [dialog.signal, ...signals()] : signals()),
	});
	// Takes a promise, not a callback, so that no wrapper lies between the hook and the mode's dialog.
	const untilAnswered = async <T>(title: string, answer: Promise<T>): Promise<T> => {
		const release = call.deadline?.hold();
		const resume = call.clock?.hold();
		const close = host.openDialog(title);
		try {
			return await answer;
		} finally {
			close();
			release?.();
			resume?.();
		}
	};
	const dialogs = {
		select: async (
			title: string,
			options: readonly unknown[],
			dialog?: Partial<SelectManyOptions>,
		): Promise<unknown> => {
			checkSelect(dialog);
			const list = Array.isArray(options) ? options : [];
			if (list.length === 0) {
				const reason = `${hook.name} opened the dialog "${String(title)}" without options (${hook.path})`;
				ui().notify(reason, "warning");
				return null;
			}
			if (dialog?.multiple !== true)
				return untilAnswered(String(title), ui().select(String(title), list, bound(dialog)));
			const many = { ...bound(dialog), multiple: true as const };
			return untilAnswered(String(title), ui().selectMany?.(String(title), list, many) ?? CANCELED);
		},
		confirm: async (title: string, message: string, dialog?: DialogOptions) =>
			untilAnswered(String(title), ui().confirm(String(title), String(message ?? ""), bound(dialog))),
		input: async (title: string, placeholder?: string, dialog?: InputOptions) =>
			untilAnswered(String(title), ui().input(String(title), placeholder, bound(dialog))),
		editor: async (title: string, initial?: string, dialog?: DialogOptions) => {
			check("editor", "initial", initial === undefined || typeof initial === "string", "a string or undefined");
			const answer = ui().editor?.(String(title), initial ?? "", bound(dialog)) ?? CANCELED;
			return untilAnswered(String(title), answer);
		},
		notify: (message: string, type?: "info" | "warning" | "error") => ui().notify(String(message), type),
		custom: async <T>(factory: CustomFactory<T>, options?: CustomOptions): Promise<T | null> => {
			check("custom", "factory", isFunction(factory), "a function");
			const overlay = options?.overlay ?? false;
			check("custom", "overlay", typeof overlay === "boolean", "true or false");
			const shown = ui().hookScreen?.custom(ownerOf(hook, host), factory, {
				overlay,
				signal: AbortSignal.any(signals()),
			});
			return shown ? untilAnswered(hook.name, shown) : null;
		},
	};
	const members = {};
	Object.defineProperties(members, {
		...Object.getOwnPropertyDescriptors(boundScreen(ui, host, call)),
		...Object.getOwnPropertyDescriptors(dialogs),
	});
	return Object.freeze(members) as HookUI;
}

const CANCELED = Promise.resolve(null);

function checkSelect(dialog: { multiple?: unknown; filter?: unknown } | undefined): void {
	const isSwitch = (value: unknown) => value === undefined || typeof value === "boolean";
	check("select", "multiple", isSwitch(dialog?.multiple), "true or false");
	check("select", "filter", isSwitch(dialog?.filter), "true or false");
}
