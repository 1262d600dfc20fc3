import { type Approval, type ApprovalAnswer, approvalOptions, NO_WITH_MESSAGE, subjectText } from "../util/approval.js";
import type { SessionUI } from "./session-ui.js";
import type { DialogOptions } from "./types.js";

/** The dialogs with which an approval can be asked in parts. */
type Dialogs = Pick<SessionUI, "select" | "confirm" | "input" | "canType">;
type AskedBy = DialogOptions & { hook?: string };

/**
 * Asks for an approval: with `approve` of the user interface, if it has that. Otherwise a question that can only be answered with
 * yes or no for a call is a `confirm`, so that programs with a user interface of before answer it.
 */
export async function askApproval(ui: SessionUI, approval: Approval, dialog: AskedBy = {}): Promise<ApprovalAnswer> {
	if (ui.approve) return ui.approve(approval, dialog);
	const { yes = "Yes", choices = [] } = approval;
	if (yes === "Yes" && choices.length === 0) return confirmed(ui, approval, dialog);
	return approveBySelect(ui, approval, dialog);
}

async function confirmed(ui: Dialogs, { question, subject }: Approval, dialog: AskedBy): Promise<ApprovalAnswer> {
	const isAllowed = await ui.confirm(question, subjectText(subject), dialog);
	return isAllowed ? { allowed: true, choice: -1 } : { allowed: false };
}

/**
 * Asks for an approval with `select`, whose title has all of the question, and `input` for a text for the model; one that has no other
 * answers than yes and no with `confirm`. Rules are used as they are.
 */
export async function approveBySelect(ui: Dialogs, approval: Approval, dialog: AskedBy = {}): Promise<ApprovalAnswer> {
	const { question, subject, yes, choices = [], takesMessage = false } = approval;
	if (yes === "Yes" && choices.length === 0 && !takesMessage) return confirmed(ui, approval, dialog);
	const text = subjectText(subject);
	const options = approvalOptions({ ...approval, takesMessage: takesMessage && ui.canType !== false });
	const no = options.findIndex(({ kind }) => kind === "no");
	const labels = options.map(({ label }) => label);
	const title = text === "" ? question : `${question}\n\n${text}`;
	const chosen = await ui.select(title, labels, { ...dialog, initial: labels[no], filter: false });
	if (chosen === null) return { allowed: false, isClosed: true };
	// A choice that is labeled as a refusal is none, and neither is what was not offered.
	const named = options.filter(({ label }) => label === chosen);
	const option = named.find(({ answer }) => !answer.allowed) ?? named[0];
	const message = option?.kind === "message" && (await ui.input(NO_WITH_MESSAGE, undefined, dialog))?.trim();
	return message ? { allowed: false, message } : (option?.answer ?? { allowed: false });
}
