import { PiError } from "../errors.js";
import { selectChoices } from "../hooks/dialog-options.js";
import type { HookUI, InputOptions } from "../hooks/types.js";

/** A dialog that a hook opened. */
export interface AskedDialog {
	kind: "select" | "confirm" | "input";
	title: string;
	/** The message of a `confirm`, the placeholder of an `input`. */
	text?: string;
	/** Labels of what a `select` offers. */
	options?: string[];
	/** What stands in the line of an `input` at first. */
	initial?: string;
}

/**
 * What the user answers: the label of an option, yes or no, a line of text; null cancels any dialog. Or a function that
 * makes it of the dialog.
 */
export type DialogAnswer = string | boolean | null | ((dialog: AskedDialog) => string | boolean | null);

/** What scripted dialogs report to. */
export interface DialogWatcher {
	onAsked(dialog: AskedDialog): void;
	onNotify(message: string): void;
	/** Hears of dialogs that the script does not answer, or not fittingly. The dialog rejects with the same. */
	onProblem(problem: string): void;
}

/** A user interface where each dialog gets the next answer of the script. */
export function createScriptedUI(answers: readonly DialogAnswer[], watcher: DialogWatcher): HookUI {
	const script = [...answers];
	const refuse = ({ kind, title }: AskedDialog, reason: string): PiError => {
		const problem = `The ${kind} ${JSON.stringify(title)} ${reason}`;
		watcher.onProblem(problem);
		return new PiError("bad_arguments", problem);
	};
	const answer = (dialog: AskedDialog): string | boolean | null => {
		watcher.onAsked(dialog);
		const next = script.shift();
		if (next === undefined) throw refuse(dialog, "has no answer: add one to dialogs");
		return typeof next === "function" ? next(dialog) : next;
	};
	const ui = {
		async select(title: string, options: readonly unknown[]): Promise<unknown> {
			const choices = selectChoices(options);
			const labels = choices.map(({ label }) => label);
			const dialog: AskedDialog = { kind: "select", title, options: labels };
			const label = answer(dialog);
			if (label === null) return null;
			const position = typeof label === "string" ? labels.indexOf(label) : -1;
			if (position < 0) throw refuse(dialog, `has no option ${JSON.stringify(label)}, only ${labels.join(", ")}`);
			return choices[position]?.value;
		},
		async confirm(title: string, text: string): Promise<boolean> {
			const dialog: AskedDialog = { kind: "confirm", title, text };
			const said = answer(dialog) ?? false;
			if (typeof said !== "boolean") throw refuse(dialog, `wants true or false, not ${JSON.stringify(said)}`);
			return said;
		},
		async input(title: string, placeholder?: string, given?: InputOptions): Promise<string | null> {
			const dialog: AskedDialog = {
				...{ kind: "input", title },
				...(placeholder === undefined ? {} : { text: placeholder }),
				...(given?.initial === undefined ? {} : { initial: given.initial }),
			};
			const said = answer(dialog);
			if (typeof said === "boolean") throw refuse(dialog, `wants a text, not ${said}`);
			return said;
		},
		notify: (message: string) => watcher.onNotify(message),
	};
	// What `select` gives back is of the type of its options: one of them, or the value of one.
	return ui as HookUI;
}
