import {
	type Approval,
	type ApprovalAnswer,
	alternativeLabel,
	NO_WITH_MESSAGE,
	subjectText,
} from "../util/approval.js";
import type { SessionUI } from "./session-ui.js";
import type { DialogOptions } from "./types.js";

/**
 * Asks for an approval: with `approve` of the user interface, or without it with `confirm` or `select`, whose
 * title has all of the question, and `input` for a text for the model. Rules are then used as they are.
 */
export async function askApproval(
	ui: SessionUI,
	approval: Approval,
	dialog: DialogOptions & { hook?: string } = {},
): Promise<ApprovalAnswer> {
	if (ui.approve) return ui.approve(approval, dialog);
	const { question, subject, yes = "Yes, once", no = "No", choices = [], takesMessage = false } = approval;
	const text = subjectText(subject);
	if (yes === "Yes" && choices.length === 0 && !takesMessage)
		return (await ui.confirm(question, text, dialog)) ? { allowed: true, choice: -1 } : { allowed: false };
	const options = [
		{ label: yes, value: -1 },
		...choices.map((choice, value) => ({ label: alternativeLabel(choice), value })),
		{ label: no, value: NO },
		...(takesMessage && ui.canType !== false ? [{ label: NO_WITH_MESSAGE, value: TELL }] : []),
	];
	const title = text === "" ? question : `${question}\n\n${text}`;
	const chosen = await ui.select(title, options, { ...dialog, initial: NO, filter: false });
	if (chosen === null) return { allowed: false, isClosed: true };
	if (chosen === NO) return { allowed: false };
	if (chosen !== TELL) {
		const rule = choices[chosen]?.rule;
		return { allowed: true, choice: chosen, ...(rule === undefined ? {} : { rule }) };
	}
	const message = (await ui.input(NO_WITH_MESSAGE, undefined, dialog))?.trim();
	return message ? { allowed: false, message } : { allowed: false };
}

const NO = -2;
const TELL = -3;
