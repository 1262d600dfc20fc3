import { type Approval, isApproval } from "../util/approval.js";
import { isRecord } from "../util/is-record.js";
import { askApproval } from "./ask-approval.js";
import { boundScreen, check, checkOptions, isFunction, ownerOf, type ScreenReports } from "./bound-screen.js";
import { type HookCall, holdClocks } from "./hook-call.js";
import { claimsOf } from "./screen-claims.js";
import type { SessionUI } from "./session-ui.js";
import type {
	CustomFactory,
	CustomOptions,
	DialogOptions,
	HookUI,
	InputOptions,
	SelectManyOptions,
	SelectOption,
} from "./types.js";

/** Marks dialogs as open. */
export interface DialogMarks extends ScreenReports {
	/** Marks a dialog as open. @returns a function to call when it closes */
	openDialog(title: string): () => void;
}

/** The screen for one call: dialogs pause the time limit of the call while they are open, and are canceled with it. */
export function boundUI(ui: () => SessionUI, host: DialogMarks, call: HookCall): HookUI {
	const { hook } = call;
	const signals = () => [call.signal, claimsOf(hook).signal];
	const bound = <D extends DialogOptions>(dialog: D | undefined) => ({
		...dialog,
		hook: hook.name,
		duringCall: call.defersRebuild || call.tool !== undefined,
		signal: AbortSignal.any(dialog?.signal ? [dialog.signal, ...signals()] : signals()),
	});
	// Takes a promise, not a callback, so that no wrapper lies between the hook and the mode's dialog.
	const untilAnswered = async <T>(title: string, answer: Promise<T>): Promise<T> => {
		const release = holdClocks(call);
		const close = host.openDialog(title);
		try {
			return await answer;
		} finally {
			close();
			release();
		}
	};
	const dialogs = {
		select: async (
			title: string,
			options: readonly SelectOption<unknown>[],
			dialog?: Partial<SelectManyOptions>,
		): Promise<unknown> => {
			const asked = checkDialog("select", title, dialog);
			checkSelect(options, dialog);
			if (options.length === 0) {
				const reason = `${hook.name} opened the dialog "${asked}" without options (${hook.path})`;
				ui().notify(reason, "warning");
				return null;
			}
			if (dialog?.multiple !== true) return untilAnswered(asked, ui().select(asked, options, bound(dialog)));
			const many = { ...bound(dialog), multiple: true as const };
			return untilAnswered(asked, ui().selectMany?.(asked, options, many) ?? CANCELED);
		},
		confirm: async (title: string, message?: string, dialog?: DialogOptions) => {
			const asked = checkDialog("confirm", title, dialog);
			const more = (message ?? null) === null ? "" : readText("confirm", "message", message);
			return untilAnswered(asked, ui().confirm(asked, more, bound(dialog)));
		},
		approve: async (approval: Approval, dialog?: DialogOptions) => {
			const isKnown = isApproval(approval);
			check("approve", "approval", isKnown, "{ question, subject: { kind, text }, yes, no, choices, takesMessage }");
			const asked = checkDialog("approve", approval.question, dialog);
			return untilAnswered(asked, askApproval(ui(), approval, bound(dialog)));
		},
		input: async (title: string, placeholder?: string, dialog?: InputOptions) => {
			const asked = checkDialog("input", title, dialog);
			checkText("input", "placeholder", placeholder);
			checkText("input", "initial", dialog?.initial);
			return untilAnswered(asked, ui().input(asked, placeholder, bound(dialog)));
		},
		editor: async (title: string, initial?: string, dialog?: DialogOptions) => {
			const asked = checkDialog("editor", title, dialog);
			checkText("editor", "initial", initial);
			return untilAnswered(asked, ui().editor?.(asked, initial ?? "", bound(dialog)) ?? CANCELED);
		},
		notify: (message: string, type?: "info" | "warning" | "error") => {
			const text = readText("notify", "message", message);
			const isKnown = type === undefined || LEVELS.includes(type);
			check("notify", "type", isKnown, `${LEVELS.map((level) => JSON.stringify(level)).join(", ")} or undefined`);
			ui().notify(text, type ?? "info");
		},
		custom: async <T>(factory: CustomFactory<T>, options?: CustomOptions): Promise<T | null> => {
			check("custom", "factory", isFunction(factory), "a function");
			checkOptions("custom", "options", options);
			const overlay = options?.overlay ?? false;
			check("custom", "overlay", typeof overlay === "boolean", "true or false");
			const { placement, onHandle } = options ?? {};
			const isPlacement = placement === undefined || isFunction(placement) || isRecord(placement);
			check("custom", "placement", isPlacement, "an object, a function or undefined");
			check("custom", "onHandle", onHandle === undefined || isFunction(onHandle), "a function or undefined");
			const shown = ui().hookScreen?.custom(ownerOf(hook, host), factory, {
				overlay,
				...(placement === undefined ? {} : { placement }),
				...(onHandle === undefined ? {} : { onHandle }),
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

const LEVELS: readonly string[] = ["info", "warning", "error"];

// Hooks are loaded without type checks, so pi checks their arguments.

/** @returns the title to show */
function checkDialog(member: string, title: unknown, dialog: DialogOptions | undefined): string {
	checkOptions(member, "the last argument", dialog);
	const { signal, timeout }: { signal?: unknown; timeout?: unknown } = dialog ?? {};
	check(member, "signal", signal === undefined || signal instanceof AbortSignal, "an AbortSignal");
	const isTime = timeout === undefined || (typeof timeout === "number" && timeout >= 0);
	check(member, "timeout", isTime, "a number of ms from 0 on");
	return readText(member, "title", title);
}

/** A text to show. Hooks pass caught errors and numbers too, and these must not be lost. */
function readText(member: string, parameter: string, value: unknown): string {
	const isShown = value instanceof Error || ["string", "number", "bigint", "boolean"].includes(typeof value);
	check(member, parameter, isShown, "a string");
	return String(value);
}

function checkText(member: string, parameter: string, text: unknown): void {
	check(member, parameter, text === undefined || typeof text === "string", "a string or undefined");
}

function checkSelect(options: unknown, dialog: { multiple?: unknown; filter?: unknown } | undefined): void {
	check("select", "options", Array.isArray(options), "a list");
	const isSwitch = (value: unknown) => value === undefined || typeof value === "boolean";
	check("select", "multiple", isSwitch(dialog?.multiple), "true or false");
	check("select", "filter", isSwitch(dialog?.filter), "true or false");
}
