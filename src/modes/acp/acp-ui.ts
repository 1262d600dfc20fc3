import { randomUUID } from "node:crypto";
import {
	type AgentContext,
	type CreateElicitationResponse,
	type ElicitationPropertySchema,
	methods,
	type PermissionOption,
	type ToolCallUpdate,
} from "@agentclientprotocol/sdk";
import { errorText } from "../../errors.js";
import { dialogLimits, dialogTitle, type SelectChoice, selectChoices, textOf } from "../../hooks/dialog-options.js";
import type { SessionUI } from "../../hooks/session-ui.js";
import type { DialogOptions, InputOptions, SelectManyOptions, SelectOption, SelectOptions } from "../../hooks/types.js";
import {
	type Approval,
	type ApprovalAnswer,
	type ApprovalOption,
	approvalOptions,
	NO_WITH_MESSAGE,
	subjectText,
} from "../../util/approval.js";
import { DialogQueue } from "../../util/dialog-queue.js";
import { revealInvisible } from "../../util/reveal.js";
import { stripAll } from "../../util/sanitize.js";
import { textBlock } from "./acp-tool-calls.js";
import type { SessionUpdates } from "./session-updates.js";

/** Dependencies of the dialogs. */
export interface AcpUIOptions {
	sessionId: string;
	client: Pick<AgentContext, "request">;
	updates: SessionUpdates;
	/** Whether the client can show forms. */
	hasForms: boolean;
}

/**
 * Dialogs of hooks, one at a time. `approve`, `confirm` and `select` are permission requests, with the tool call that runs or a call of their own;
 * the others are forms, or canceled with a notice if the client has none.
 */
export class AcpUI implements SessionUI {
	readonly #queue = new DialogQueue(() => {});
	#isClosed = false;

	constructor(private readonly options: AcpUIOptions) {}

	get canType(): boolean {
		return this.options.hasForms;
	}

	select<T extends string>(title: string, options: readonly T[], dialog?: SelectOptions): Promise<T | null>;
	select<T>(title: string, options: readonly SelectOption<T>[], dialog?: SelectOptions): Promise<T | null>;
	async select(title: string, options: readonly unknown[], dialog?: SelectOptions): Promise<unknown> {
		const choices = selectChoices(options);
		if (choices.length === 0) return null;
		const about = choices.flatMap(({ label, description }) => (description ? [`${label}: ${description}`] : []));
		const shown = choices.map(({ label }, index) => ({
			optionId: String(index),
			name: stripAll(label),
			kind: kindOf(label),
		}));
		const chosen = await this.#permission(dialogTitle(title, dialog), about.join("\n"), shown, dialog);
		return choices.find((_, index) => String(index) === chosen)?.value ?? null;
	}

	async confirm(title: string, message: string, dialog?: DialogOptions): Promise<boolean> {
		const options: PermissionOption[] = [
			{ optionId: "allow", name: "Yes", kind: "allow_once" },
			{ optionId: "reject", name: "No", kind: "reject_once" },
		];
		return (await this.#permission(dialogTitle(title, dialog), textOf(message), options, dialog)) === "allow";
	}

	async approve(approval: Approval, dialog?: DialogOptions): Promise<ApprovalAnswer> {
		const { question, subject, takesMessage = false } = approval;
		const answers = approvalOptions({ ...approval, takesMessage: takesMessage && this.canType });
		const permissions = answers.map(permissionOf);
		const title = dialogTitle(question, dialog);
		// As for a person: a client may show what reverses or hides text.
		const text = revealInvisible(subjectText(subject));
		const chosen = await this.#permission(title, text, permissions, dialog);
		if (chosen === null) return { allowed: false, isClosed: true };
		const option = answers[permissions.findIndex(({ optionId }) => optionId === chosen)];
		const message = option?.kind === "message" ? await this.#form(NO_WITH_MESSAGE, { type: "string" }, dialog) : null;
		if (typeof message === "string" && message.trim() !== "") return { allowed: false, message: message.trim() };
		return option?.answer ?? { allowed: false };
	}

	async selectMany(title: string, options: readonly unknown[], dialog?: SelectManyOptions): Promise<unknown[] | null> {
		const choices = selectChoices(options);
		const initial: readonly unknown[] = Array.isArray(dialog?.initial) ? dialog.initial : [];
		const field: ElicitationPropertySchema = {
			type: "array",
			items: { anyOf: choices.map(({ label }, index) => ({ const: String(index), title: stripAll(label) })) },
			default: choices.flatMap(({ value }, index) => (initial.includes(value) ? [String(index)] : [])),
		};
		const answer = await this.#form(dialogTitle(title, dialog), field, dialog);
		if (!Array.isArray(answer)) return null;
		return choices.flatMap(({ value }: SelectChoice, index) => (answer.includes(String(index)) ? [value] : []));
	}

	async input(title: string, placeholder?: string, dialog?: InputOptions): Promise<string | null> {
		const field: ElicitationPropertySchema = {
			type: "string",
			...(placeholder === undefined ? {} : { description: textOf(placeholder) }),
			...(dialog?.initial === undefined ? {} : { default: textOf(dialog.initial) }),
		};
		const answer = await this.#form(dialogTitle(title, dialog), field, dialog);
		return typeof answer === "string" ? answer : null;
	}

	async editor(title: string, initial: string, dialog?: DialogOptions): Promise<string | null> {
		const answer = await this.#form(dialogTitle(title, dialog), { type: "string", default: initial }, dialog);
		return typeof answer === "string" ? answer : null;
	}

	notify(message: string, type: "info" | "warning" | "error" = "info"): void {
		this.options.updates.notice(type === "warning" || type === "error" ? type : "info", textOf(message));
	}

	/** Cancels all dialogs, including later ones. */
	close(): void {
		this.#isClosed = true;
		this.#queue.cancelAll();
	}

	/** @returns the id of the chosen option; null if canceled */
	async #permission(
		question: string,
		message: string,
		options: PermissionOption[],
		dialog: DialogOptions | undefined,
	): Promise<string | null> {
		const { client, sessionId, updates } = this.options;
		const title = stripAll(question);
		const text = stripAll(message).trim();
		const { running } = updates.calls;
		const toolCallId = running?.toolCallId ?? `question-${randomUUID()}`;
		const about = running ? [title, text].filter(Boolean).join("\n\n") : text;
		const content = [
			...(about === "" ? [] : [{ type: "content" as const, content: textBlock(about) }]),
			...(running?.content ?? []),
		];
		const toolCall: ToolCallUpdate = { toolCallId, content, ...(running ? {} : { title, kind: "other" }) };
		if (!running) {
			updates.send({ sessionUpdate: "tool_call", toolCallId, title, kind: "other", status: "pending", content });
		}
		const chosen = await this.#inTurn(dialog, async (cancellationSignal) => {
			const how = { cancellationSignal, stopWaitingOnCancel: true };
			const method = methods.client.session.requestPermission;
			const { outcome } = await client.request(method, { sessionId, toolCall, options }, how);
			return outcome.outcome === "selected" ? outcome.optionId : null;
		});
		if (running) updates.calls.restore(toolCallId);
		else {
			const name = options.find(({ optionId }) => optionId === chosen)?.name;
			updates.send({
				...{ sessionUpdate: "tool_call_update", toolCallId, status: name === undefined ? "failed" : "completed" },
				content: [...content, { type: "content", content: textBlock(name ?? "No answer") }],
			});
		}
		return chosen;
	}

	/** Asks for one value. @returns null if canceled */
	async #form(question: string, field: ElicitationPropertySchema, dialog: DialogOptions | undefined): Promise<unknown> {
		const { client, sessionId, updates, hasForms } = this.options;
		const title = stripAll(question);
		if (!hasForms) {
			updates.notice("warning", `${title} · canceled, because this client cannot ask for text`);
			return null;
		}
		return this.#inTurn(dialog, async (cancellationSignal): Promise<unknown> => {
			const answer: CreateElicitationResponse = await client.request(
				methods.client.elicitation.create,
				{
					...{ mode: "form", sessionId, message: title },
					requestedSchema: { type: "object", properties: { answer: { title, ...field } }, required: ["answer"] },
				},
				{ cancellationSignal, stopWaitingOnCancel: true },
			);
			const content: unknown = answer.action === "accept" && "content" in answer ? answer.content : null;
			return typeof content === "object" && content !== null && "answer" in content ? content.answer : null;
		});
	}

	/** Asks when it is its turn. @returns null when the dialog is canceled, times out, or the client fails */
	async #inTurn<T>(dialog: DialogOptions | undefined, ask: (signal: AbortSignal) => Promise<T>): Promise<T | null> {
		if (this.#isClosed) return null;
		const fail = (error: unknown) =>
			this.options.updates.notice("warning", `The client did not answer a question: ${errorText(error)}`);
		return this.#queue.open<T | null>(
			(settle) => {
				const canceling = new AbortController();
				return {
					show() {
						ask(canceling.signal).then(settle, (error) => {
							if (!canceling.signal.aborted) fail(error);
							settle(null);
						});
					},
					onCancel: () => canceling.abort(),
				};
			},
			{ canceled: null, ...dialogLimits(dialog) },
		);
	}
}

/** What an option means for the client's buttons, by the words of its label. */
function kindOf(label: string): PermissionOption["kind"] {
	const isLasting = /\b(always|never)\b/i.test(label);
	if (/^(no|deny|block|reject|refuse|cancel|never|don't|do not)\b/i.test(label))
		return isLasting ? "reject_always" : "reject_once";
	return isLasting ? "allow_always" : "allow_once";
}

const PERMISSIONS = {
	yes: ["allow", "allow_once"],
	choice: ["choice", "allow_always"],
	no: ["reject", "reject_once"],
	message: ["tell", "reject_once"],
	details: ["details", "reject_once"],
} as const satisfies Record<ApprovalOption["kind"], readonly [string, PermissionOption["kind"]]>;

/** An answer as an option of a permission request. */
function permissionOf({ kind, label, answer }: ApprovalOption): PermissionOption {
	const [id, permission] = PERMISSIONS[kind];
	const optionId = answer.allowed && answer.choice >= 0 ? `${id}-${answer.choice}` : id;
	return { optionId, name: stripAll(label), kind: permission };
}
