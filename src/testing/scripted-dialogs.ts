import { PiError } from "../errors.js";
import { selectChoices } from "../hooks/dialog-options.js";
import type { HookUI, InputOptions } from "../hooks/types.js";

/** A dialog that a hook opened. */
export interface AskedDialog {
	kind: "select" | "confirm" | "input";
	title: string;
	/** The message of a `confirm`, the placeholder of an `input`. */
	text?: string;
	/** Labels of the options of a `select`. */
	options?: string[];
	/** Initial text of an `input`. */
	initial?: string;
}

/**
 * Answer of the user: the label of an option, a boolean or a line of text; null cancels the dialog. Or a function that
 * returns one of these.
 */
export type DialogAnswer = string | boolean | null | ((dialog: AskedDialog) => string | boolean | null);

/** Receives the events of scripted dialogs. */
export interface DialogWatcher {
	onAsked(dialog: AskedDialog): void;
	onNotify(message: string): void;
	/** A dialog has no answer in the script, or an invalid one. The dialog rejects with the same text. */
	onProblem(problem: string): void;
}

/** A user interface that answers each dialog with the next answer of the script. */
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
			const given = answer(dialog) ?? false;
			if (typeof given !== "boolean") throw refuse(dialog, `expects true or false, not ${JSON.stringify(given)}`);
			return given;
		},
		async input(title: string, placeholder?: string, options?: InputOptions): Promise<string | null> {
			const dialog: AskedDialog = {
				...{ kind: "input", title },
				...(placeholder === undefined ? {} : { text: placeholder }),
				...(options?.initial === undefined ? {} : { initial: options.initial }),
			};
			const given = answer(dialog);
			if (typeof given === "boolean") throw refuse(dialog, `expects text, not ${given}`);
			return given;
		},
		notify: (message: string) => watcher.onNotify(message),
	};
	// `select` returns one of its options or the value of one, which `unknown` cannot express.
	return ui as HookUI;
}
