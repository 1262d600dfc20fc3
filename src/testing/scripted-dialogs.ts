import { PiError } from "../errors.js";
import { selectChoices } from "../hooks/dialog-options.js";
import type { SessionUI } from "../hooks/session-ui.js";
import type { InputOptions } from "../hooks/types.js";
import { type Approval, type ApprovalAnswer, approvalOptions, subjectText } from "../util/approval.js";
import { nearest } from "../util/nearest.js";
import { type Drawing, type OpenComponent, ScriptedScreen } from "./scripted-screen.js";

/** A dialog or component that a hook opened. */
export interface AskedDialog {
	kind: "approval" | "select" | "confirm" | "input" | "editor" | "custom";
	/** For a component: the name of its hook. */
	title: string;
	/** What an `approval` is about, the message of a `confirm`, the placeholder of an `input`. */
	text?: string;
	/** Labels of the options of a `select`, and of the answers of an `approval` that allow. */
	options?: string[];
	/** True if any number of options can be chosen. */
	multiple?: true;
	/** Initial text of an `input` or `editor`. */
	initial?: string;
	/** Lines of a component when it opens. */
	lines?: string[];
}

/** The argument of an answer function; for a component, it can press keys. */
export type OpenDialog = AskedDialog & Partial<OpenComponent>;

/**
 * What the user does: the label of an option, a boolean or a text (for an `approval`, a text that resembles no label refuses and
 * tells the model); for
 * several options a list of labels; for a component a list of keys, such as `enter` or `x`, empty to wait until it closes itself; null
 * cancels.
 */
export type GivenAnswer = string | boolean | readonly string[] | null;

/** Answer of the user, or a function that returns it. */
export type DialogAnswer = GivenAnswer | ((dialog: OpenDialog) => GivenAnswer);

/** Receives the events of scripted dialogs. */
export interface DialogWatcher {
	onAsked(dialog: AskedDialog): void;
	onNotify(message: string): void;
	/** A dialog has no answer in the script, or an invalid one. The dialog rejects with the same text. */
	onProblem(problem: string): void;
}

/** A user interface that answers each dialog with the next answer of the script, and keeps what hooks show. */
export function createScriptedUI(
	answers: readonly DialogAnswer[],
	watcher: DialogWatcher,
	drawing: Drawing,
): SessionUI & { hookScreen: ScriptedScreen } {
	const script = [...answers];
	const refuse = ({ kind, title }: AskedDialog, reason: string): PiError => {
		const problem = `The ${kind} ${JSON.stringify(title)} ${reason}`;
		watcher.onProblem(problem);
		return new PiError("bad_arguments", problem);
	};
	const answer = (dialog: AskedDialog, component: Partial<OpenComponent> = {}): GivenAnswer => {
		watcher.onAsked(dialog);
		const next = script.shift();
		if (next === undefined) throw refuse(dialog, "has no answer: add one to dialogs");
		return typeof next === "function" ? next({ ...dialog, ...component }) : next;
	};
	const textAnswer = (dialog: AskedDialog): string | null => {
		const given = answer(dialog);
		if (given !== null && typeof given !== "string") throw refuse(dialog, `expects text, not ${JSON.stringify(given)}`);
		return given;
	};
	const isList = (given: GivenAnswer): given is readonly string[] => Array.isArray(given);
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
		async selectMany(title: string, options: readonly unknown[]): Promise<unknown[] | null> {
			const choices = selectChoices(options);
			const labels = choices.map(({ label }) => label);
			const dialog: AskedDialog = { kind: "select", title, options: labels, multiple: true };
			const given = answer(dialog);
			if (given === null) return null;
			if (!isList(given)) throw refuse(dialog, `expects a list of options, not ${JSON.stringify(given)}`);
			const unknown = given.find((label) => !labels.includes(label));
			if (unknown !== undefined)
				throw refuse(dialog, `has no option ${JSON.stringify(unknown)}, only ${labels.join(", ")}`);
			return choices.flatMap(({ label, value }) => (given.includes(label) ? [value] : []));
		},
		async approve(approval: Approval): Promise<ApprovalAnswer> {
			const { question, subject } = approval;
			const options = approvalOptions({ ...approval, takesMessage: false });
			const labels = options.filter(({ answer }) => answer.allowed).map(({ label }) => label);
			const dialog: AskedDialog = { kind: "approval", title: question, text: subjectText(subject), options: labels };
			const given = answer(dialog) ?? false;
			if (typeof given === "boolean") return given ? { allowed: true, choice: -1 } : { allowed: false };
			if (isList(given)) throw refuse(dialog, `expects true, false or a text, not ${JSON.stringify(given)}`);
			const chosen = options.find(({ label }) => label === given);
			if (chosen) return chosen.answer;
			const all = options.map(({ label }) => label);
			// A wrong label must not pass as a refusal, which a test of what is blocked would not notice.
			if (nearest(given, all).length === 0) return { allowed: false, message: given };
			throw refuse(
				dialog,
				`has no option ${JSON.stringify(given)}, only ${all.map((label) => JSON.stringify(label)).join(", ")}`,
			);
		},
		async confirm(title: string, text: string): Promise<boolean> {
			const dialog: AskedDialog = { kind: "confirm", title, text };
			const given = answer(dialog) ?? false;
			if (typeof given !== "boolean") throw refuse(dialog, `expects true or false, not ${JSON.stringify(given)}`);
			return given;
		},
		async input(title: string, placeholder?: string, options?: InputOptions): Promise<string | null> {
			return textAnswer({
				...{ kind: "input", title },
				...(placeholder === undefined ? {} : { text: placeholder }),
				...(options?.initial === undefined ? {} : { initial: options.initial }),
			});
		},
		async editor(title: string, initial: string): Promise<string | null> {
			return textAnswer({ kind: "editor", title, initial });
		},
		notify: (message: string) => watcher.onNotify(message),
		hookScreen: new ScriptedScreen(drawing, (title, lines, component) => {
			const dialog: AskedDialog = { kind: "custom", title, lines };
			const given = answer(dialog, component);
			if (given === null || isList(given)) return given;
			throw refuse(dialog, `expects a list of keys, not ${JSON.stringify(given)}`);
		}),
	};
	// `select` returns one of its options or the value of one, which `unknown` cannot express.
	return ui as SessionUI & { hookScreen: ScriptedScreen };
}
