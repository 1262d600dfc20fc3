import type { ChoiceOptions, CommandUI } from "../../commands/command.js";
import { dialogLimits, dialogTitle, type SelectChoice, selectChoices, textOf } from "../../hooks/dialog-options.js";
import type { HookScreen } from "../../hooks/session-ui.js";
import type { DialogOptions, InputOptions, SelectManyOptions, SelectOption } from "../../hooks/types.js";
import {
	type Approval,
	type ApprovalAnswer,
	type ApprovalDetails,
	type ApprovalOption,
	approvalOptions,
	subjectText,
} from "../../util/approval.js";
import { plainLine } from "./plain-output.js";
import type { Questions } from "./questions.js";

/** Maximum number of listed options; the user finds others by typing part of a name. */
const MAX_LISTED = 20;
/** The words that stand for the keys of an approval, and those that must be said. */
const WORDS: Readonly<Record<NonNullable<ApprovalOption["key"]>, readonly string[]>> = {
	yes: ["y", "yes"],
	once: ["o"],
	code: ["v"],
	no: ["", "n", "no"],
};
const LETTERS: Readonly<Record<string, string>> = { once: " (o)", code: " (v)" };

/** Dialogs of hooks and commands as numbered lists and questions, answered with one line. */
export class PlainDialogs implements CommandUI {
	constructor(
		private readonly questions: Questions,
		private readonly onNotice: (level: "info" | "warning" | "error", message: string) => void,
		readonly hookScreen: HookScreen,
	) {}

	select<T extends string>(title: string, options: readonly T[], dialog?: ChoiceOptions): Promise<T | null>;
	select<T>(title: string, options: readonly SelectOption<T>[], dialog?: ChoiceOptions): Promise<T | null>;
	async select(title: string, options: readonly unknown[], dialog?: ChoiceOptions): Promise<unknown> {
		if (!Array.isArray(options) || options.length === 0) return null;
		const items = numbered(selectChoices(options));
		return this.questions.ask<unknown>({
			lines: [questionLine(dialogTitle(title, dialog)), ...listed(items)],
			mark: "number or text, empty cancels: ",
			read: (line) => readChoice(line, items),
			// Only who asks knows which option lets something run.
			allows: (value) => value !== null,
			canceled: null,
			...dialogLimits(dialog),
		});
	}

	/** Asks for any number of options. @returns their values, in the order of the options; null if canceled */
	async selectMany(title: string, options: readonly unknown[], dialog: SelectManyOptions): Promise<unknown[] | null> {
		const items = numbered(selectChoices(options));
		const values: readonly unknown[] = Array.isArray(dialog.initial) ? dialog.initial : [dialog.initial];
		const chosen = items.filter(({ value }) => values.includes(value)).map(({ label }) => label);
		return this.questions.ask<unknown[] | null>({
			lines: [
				plainLine(dialogTitle(title, dialog)),
				...listed(items),
				...(chosen.length > 0 ? [`Chosen now: ${chosen.join(", ")}`] : []),
			],
			mark: "numbers or texts separated by commas, 0 for none, empty cancels: ",
			read: (line) => readChoices(line, items),
			allows: (values) => values !== null,
			canceled: null,
			...dialogLimits(dialog),
		});
	}

	/** Asks for lines of text up to an empty one. @returns null when canceled */
	editor(title: string, initial: string, dialog?: DialogOptions): Promise<string | null> {
		const typed: string[] = [];
		const before = initial === "" ? [] : [...initial.split("\n").map((line) => plainLine(line, 4000))];
		return this.questions.ask<string | null>({
			lines: [plainLine(dialogTitle(title, dialog)), ...before],
			mark: initial === "" ? "line, empty ends the text: " : "new line, empty keeps the text or ends the new one: ",
			read: (line) => {
				if (line !== "") {
					typed.push(line);
					return { retry: [] };
				}
				if (typed.length > 0) return { value: typed.join("\n") };
				return { value: initial === "" ? null : initial };
			},
			canceled: null,
			...dialogLimits(dialog),
		});
	}

	confirm(title: string, message: string, dialog?: DialogOptions): Promise<boolean> {
		return this.questions.ask<boolean>({
			lines: [questionLine(dialogTitle(title, dialog)), ...textOf(message).split("\n").map(questionLine)],
			mark: "yes or no, empty is no: ",
			read: (line) => {
				const answer = line.trim().toLowerCase();
				if (["y", "yes"].includes(answer)) return { value: true };
				return ["", "n", "no"].includes(answer) ? { value: false } : { retry: ["Answer yes or no"] };
			},
			allows: (isYes) => isYes,
			canceled: false,
			...dialogLimits(dialog),
		});
	}

	/** Asks whether something may run: a number or a word answers, and a line of other text is a refusal with a message. */
	approve(approval: Approval, dialog?: DialogOptions, details?: ApprovalDetails): Promise<ApprovalAnswer> {
		const { question, subject, takesMessage = false } = approval;
		const options = approvalOptions({ ...approval, takesMessage: false }, details);
		const tells = takesMessage ? ", other text is no and tells the model" : "";
		const text = subjectText(subject);
		return this.questions.ask<ApprovalAnswer>({
			lines: [
				...dialogTitle(question, dialog).split("\n").map(questionLine),
				...(text === "" ? [] : text.split("\n").map(questionLine)),
				...options.map(({ label, key = "" }, at) => `  ${at + 1}. ${questionLine(label)}${LETTERS[key] ?? ""}`),
			],
			mark: `number, empty is no${tells}: `,
			read: (line) => {
				const answer = line.trim();
				const word = answer.toLowerCase();
				const isNamed = ({ key, label }: ApprovalOption, at: number) =>
					[...(key ? WORDS[key] : []), `${at + 1}`, label.toLowerCase()].includes(word);
				const named = options.filter(isNamed);
				// A choice that is labeled as a refusal is none.
				const chosen = named.find(({ answer }) => !answer.allowed) ?? named[0];
				if (chosen?.kind === "details") {
					void details?.show();
					return { retry: [] };
				}
				if (chosen) return { value: chosen.answer };
				if (takesMessage && !/^\d+$/.test(answer)) return { value: { allowed: false, message: answer } };
				return { retry: [`Type a number from 1 to ${options.length}`] };
			},
			allows: ({ allowed }) => allowed,
			canceled: { allowed: false, isClosed: true },
			...dialogLimits(dialog),
		});
	}

	input(title: string, placeholder?: string, dialog?: InputOptions): Promise<string | null> {
		const example = !placeholder ? "" : ` (${plainLine(textOf(placeholder))})`;
		const initial = dialog?.initial === undefined ? "" : textOf(dialog.initial);
		return this.questions.ask<string | null>({
			lines: [
				`${plainLine(dialogTitle(title, dialog))}${example}`,
				...(initial === "" ? [] : [`Text now: ${plainLine(initial, 4000)}`]),
			],
			mark: initial === "" ? "text, empty cancels: " : "new text, empty keeps it: ",
			read: (line) => ({ value: line || initial || null }),
			canceled: null,
			...dialogLimits(dialog),
		});
	}

	/** Asks for a text without echoing it. @returns null when canceled */
	secret(title: string): Promise<string | null> {
		return this.questions.ask<string | null>({
			lines: [`${plainLine(title)}. Your input is hidden`],
			mark: "text, empty cancels: ",
			read: (line) => ({ value: line === "" ? null : line }),
			isHidden: true,
			canceled: null,
		});
	}

	notify(message: string, type: "info" | "warning" | "error" = "info"): void {
		this.onNotice(type === "warning" || type === "error" ? type : "info", textOf(message));
	}
}

/** Parses a choice: the number of an option, its label, or a unique prefix or part of it. */
function readChoice(line: string, items: readonly Choice[]): { value: unknown } | { retry: readonly string[] } {
	const wanted = line.trim();
	if (wanted === "") return { value: null };
	if (/^\d+$/.test(wanted)) {
		const item = items.find(({ number }) => number === Number(wanted));
		if (item) return { value: item.value };
	}
	const lower = wanted.toLowerCase();
	const labels = items.map((item) => ({ item, label: item.label.toLowerCase() }));
	for (const matches of [
		(label: string) => label === lower,
		(label: string) => label.startsWith(lower),
		(label: string) => label.includes(lower),
	]) {
		const found = labels.filter(({ label }) => matches(label));
		const [first, second] = found;
		if (first && !second) return { value: first.item.value };
		if (second) {
			const numbers = found.map(({ item }) => row(item));
			return { retry: [`${found.length} options match`, ...numbers.slice(0, MAX_LISTED)] };
		}
	}
	const numbers = items.map(({ number }) => number);
	const range = `${Math.min(...numbers)} to ${Math.max(...numbers)}`;
	return { retry: [`No option matches. Type a number from ${range}, or part of a name`] };
}

/** Parses several choices. */
function readChoices(
	line: string,
	items: readonly Choice[],
): { value: unknown[] | null } | { retry: readonly string[] } {
	const wanted = line.trim();
	if (wanted === "") return { value: null };
	if (wanted === "0") return { value: [] };
	const parts = wanted.split(",").filter((part) => part.trim() !== "");
	const read = parts.map((part) => readChoice(part, items));
	const retry = read.flatMap((answer, at) => ("retry" in answer ? [`${parts[at]?.trim()}:`, ...answer.retry] : []));
	if (retry.length > 0) return { retry };
	const values = read.flatMap((answer) => ("value" in answer ? [answer.value] : []));
	return { value: items.flatMap(({ value }) => (values.includes(value) ? [value] : [])) };
}

/** An option and the number that chooses it. */
interface Choice extends SelectChoice {
	number: number;
}

/** Numbers the options from 1, unless their labels start with numbers of their own, such as those of turns. */
function numbered(choices: readonly SelectChoice[]): Choice[] {
	const items = choices.map(asLine);
	const own = items.map(({ label, value }) => (label.startsWith(`${value} `) ? Number(value) : Number.NaN));
	if (!own.every(Number.isInteger)) return items.map((item, at) => ({ ...item, number: at + 1 }));
	return items.map((item, at) => ({
		...item,
		label: item.label.slice(String(item.value).length + 1),
		number: own[at] ?? 0,
	}));
}

/** A line of a question that the user may approve: nothing is cut. */
function questionLine(text: string): string {
	return plainLine(text, Number.POSITIVE_INFINITY);
}

function asLine({ label, value, description = "" }: SelectChoice): SelectChoice {
	const collapsed = (text: string) => plainLine(text).replace(/ {2,}/g, " ");
	return { label: collapsed(label), value, description: collapsed(description) };
}

function listed(items: readonly Choice[]): string[] {
	const rows = items.slice(0, MAX_LISTED).map(row);
	const more = items.length - rows.length;
	return more > 0 ? [...rows, `  and ${more} more: type part of a name`] : rows;
}

function row({ number, label, description }: Choice): string {
	return `  ${number}. ${label}${description ? ` (${description})` : ""}`;
}
