import { isRecord } from "./is-record.js";

/** A question whose answer decides whether something runs. Its texts may be untrusted. */
export interface Approval {
	/** One line: `Run this command?` */
	question: string;
	subject: ApprovalSubject;
	/** The answer that allows this once. Default `Yes, once`. */
	yes?: string;
	/** The answer that refuses. Default `No`. */
	no?: string;
	/** More answers that allow, shown after `yes`. */
	choices?: readonly ApprovalAlternative[];
	/** Whether a refusal can come with a text for the model. */
	takesMessage?: boolean;
}

/** What an approval is about, complete. */
export interface ApprovalSubject {
	/** Of a diff, lines of `text` begin with `- `, `+ ` or two spaces. */
	kind: "command" | "diff" | "text";
	/** Comes before the text, on its first line unless it ends with a line break: `bash: `. */
	head?: string;
	text: string;
	/** Other facts, on lines of their own after the text. */
	more?: string;
}

/** An answer that allows more than one call. */
export interface ApprovalAlternative {
	label: string;
	/** The key that chooses it: that of answers for this run only. Default: its number. */
	key?: "once";
	/** A text that the user can edit before it counts. */
	rule?: string;
	/** @returns why an edited rule cannot be used; null if it can */
	check?(rule: string): string | null;
}

/** More of what an approval is about than its question has room for. Showing it answers nothing. */
export interface ApprovalDetails {
	label: string;
	show(): Promise<void>;
}

/** What the user answered. `choice` is an index of `choices`, -1 for `yes`; `isClosed`: the question was closed without an answer. */
export type ApprovalAnswer =
	| { allowed: true; choice: number; rule?: string }
	| { allowed: false; message?: string; isClosed?: true };

/** Whether a value is an approval: hooks are loaded without type checks. */
export function isApproval(value: unknown): value is Approval {
	if (!isRecord(value) || !isRecord(value.subject)) return false;
	const { question, subject, yes, no, choices = [], takesMessage } = value;
	const { kind, head, text, more } = subject;
	const areTexts =
		typeof question === "string" && typeof text === "string" && [yes, no, head, more].every(isAbsentOr("string"));
	const isKnownKind = kind === "command" || kind === "diff" || kind === "text";
	return (
		areTexts &&
		isKnownKind &&
		isAbsentOr("boolean")(takesMessage) &&
		Array.isArray(choices) &&
		choices.every(isAlternative)
	);
}

function isAlternative(value: unknown): boolean {
	if (!isRecord(value)) return false;
	const { label, key, rule, check } = value;
	const isKnownKey = key === undefined || key === "once";
	return typeof label === "string" && isKnownKey && isAbsentOr("string")(rule) && isAbsentOr("function")(check);
}

function isAbsentOr(type: "string" | "boolean" | "function"): (value: unknown) => boolean {
	return (value) => value === undefined || typeof value === type;
}

/** The label of a refusal with a text for the model. */
export const NO_WITH_MESSAGE = "No, and tell the model";

/** What an approval is about, as one text. */
export function subjectText({ head = "", text, more = "" }: ApprovalSubject): string {
	return `${head}${text}${more === "" ? "" : `\n${more}`}`;
}

/** An answer that can be chosen. */
export interface ApprovalOption {
	kind: "yes" | "choice" | "no" | "message" | "details";
	label: string;
	/** The key that chooses it; of a choice without one, its number. */
	key?: "yes" | "no" | "once" | "code";
	/** What choosing it means, with rules as they are; a `message` needs its text first, and `details` answer nothing. */
	answer: ApprovalAnswer;
}

/** The answers to an approval, in their order: yes, its choices, no, no with a text for the model if it takes one, its details. */
export function approvalOptions(approval: Approval, details?: ApprovalDetails): ApprovalOption[] {
	const { yes = "Yes, once", no = "No", choices = [], takesMessage = false } = approval;
	return [
		{ kind: "yes", label: yes, key: "yes", answer: { allowed: true, choice: -1 } },
		...choices.map(({ label, key, rule }, choice): ApprovalOption => {
			const own = key === undefined ? {} : { key };
			if (rule === undefined) return { kind: "choice", label, ...own, answer: { allowed: true, choice } };
			return { kind: "choice", label: `${label}: ${rule}`, ...own, answer: { allowed: true, choice, rule } };
		}),
		{ kind: "no", label: no, key: "no", answer: { allowed: false } },
		...(takesMessage ? [{ kind: "message", label: NO_WITH_MESSAGE, answer: { allowed: false } } as const] : []),
		...(details ? [{ kind: "details", label: details.label, key: "code", answer: { allowed: false } } as const] : []),
	];
}
