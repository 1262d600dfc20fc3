import { randomUUID } from "node:crypto";
import { errorText } from "../../errors.js";
import { approveBySelect } from "../../hooks/ask-approval.js";
import { askingHook, dialogLimits, type SelectChoice, selectChoices, textOf } from "../../hooks/dialog-options.js";
import type { HookScreen, SessionUI } from "../../hooks/session-ui.js";
import type { DialogOptions, InputOptions, SelectManyOptions, SelectOption, SelectOptions } from "../../hooks/types.js";
import type { Approval, ApprovalAnswer } from "../../util/approval.js";
import { DialogQueue, type QueuedDialog } from "../../util/dialog-queue.js";
import type { HookDialogRequest, HookUIResponse, RpcEvent, SelectRequest } from "./protocol.js";
import { RpcScreen } from "./rpc-screen.js";

interface OpenDialog extends QueuedDialog {
	id: string;
	/** Closes it; an invalid answer cancels it. @returns why an answer is invalid; else null */
	answer(response: HookUIResponse): string | null;
}

/**
 * Dialogs of hooks, answered by the client. One is open at a time, in the order of the requests. Answers to closed
 * dialogs are ignored.
 */
export class RpcUI implements SessionUI {
	readonly hookScreen: HookScreen;
	readonly #dialogs = new DialogQueue<OpenDialog>(() => {});
	#isClosed = false;

	constructor(private readonly send: (event: RpcEvent) => void) {
		this.hookScreen = new RpcScreen((event) => {
			if (!this.#isClosed) send(event);
		});
	}

	select<T extends string>(title: string, options: readonly T[], dialog?: SelectOptions): Promise<T | null>;
	select<T>(title: string, options: readonly SelectOption<T>[], dialog?: SelectOptions): Promise<T | null>;
	async select(title: string, options: readonly unknown[], dialog?: SelectOptions): Promise<unknown> {
		const items = withUniqueLabels(selectChoices(options));
		if (items.length === 0) return null;
		return this.#ask<unknown>(describeSelect(title, items, dialog), dialog, null, ({ value }) => {
			const chosen = items.find(({ label }) => label === value);
			if (!chosen) throw new Error(`value must be one of ${labelsOf(items)}`);
			return chosen.value;
		});
	}

	async selectMany(title: string, options: readonly unknown[], dialog: SelectManyOptions): Promise<unknown[] | null> {
		const items = withUniqueLabels(selectChoices(options));
		const question = { ...describeSelect(title, items, dialog), multiple: true as const };
		return this.#ask<unknown[] | null>(question, dialog, null, ({ value }) => {
			const labels: readonly unknown[] = Array.isArray(value) ? value : [value];
			if (!labels.every((chosen) => items.some(({ label }) => label === chosen)))
				throw new Error(`value must be a list of ${labelsOf(items)}`);
			return items.flatMap((item) => (labels.includes(item.label) ? [item.value] : []));
		});
	}

	approve(approval: Approval, dialog?: DialogOptions): Promise<ApprovalAnswer> {
		return approveBySelect(this, approval, dialog);
	}

	confirm(title: string, message: string, dialog?: DialogOptions): Promise<boolean> {
		const question = { method: "confirm" as const, title: textOf(title), message: textOf(message) };
		return this.#ask(question, dialog, false, ({ confirmed }) => {
			if (confirmed === undefined) throw new Error("confirmed must be true or false");
			return confirmed;
		});
	}

	input(title: string, placeholder?: string, dialog?: InputOptions): Promise<string | null> {
		const question = {
			method: "input" as const,
			title: textOf(title),
			...(placeholder === undefined ? {} : { placeholder: textOf(placeholder) }),
			...(dialog?.initial === undefined ? {} : { initial: textOf(dialog.initial) }),
		};
		return this.#ask<string | null>(question, dialog, null, readText);
	}

	editor(title: string, initial: string, dialog?: DialogOptions): Promise<string | null> {
		const question = { method: "editor" as const, title: textOf(title), initial };
		return this.#ask<string | null>(question, dialog, null, readText);
	}

	notify(message: string, type: "info" | "warning" | "error" = "info"): void {
		const notifyType = type === "warning" || type === "error" ? type : "info";
		this.send({ type: "hook_ui_request", id: randomUUID(), method: "notify", message: textOf(message), notifyType });
	}

	/** Handles an answer of the client. @returns why it is invalid, which cancels the dialog; else null */
	answer(response: HookUIResponse): string | null {
		const { current } = this.#dialogs;
		return current?.id === response.id ? current.answer(response) : null;
	}

	/** Cancels all dialogs, including later ones. */
	close(): void {
		this.#isClosed = true;
		this.#dialogs.cancelAll();
	}

	/** @param read reads an answer, or throws an error that says what it must be */
	#ask<T>(
		question: HookDialogRequest,
		options: DialogOptions | undefined,
		canceled: T,
		read: (response: HookUIResponse) => T,
	): Promise<T> {
		if (this.#isClosed) return Promise.resolve(canceled);
		const { signal, timeoutMs } = dialogLimits(options);
		const hook = askingHook(options);
		const id = randomUUID();
		return this.#dialogs.open<T>(
			(settle) => ({
				id,
				show: (waitedMs) => {
					const timeout = timeoutMs === undefined ? {} : { timeout: Math.max(0, timeoutMs - Math.floor(waitedMs)) };
					this.send({ type: "hook_ui_request", id, ...question, ...(hook === null ? {} : { hook }), ...timeout });
				},
				onCancel: () => {
					if (!this.#isClosed) this.send({ type: "hook_ui_closed", id });
				},
				answer(response) {
					try {
						settle(response.cancelled ? canceled : read(response));
						return null;
					} catch (error) {
						// Closed anyway: the hook would wait forever.
						settle(canceled);
						return errorText(error);
					}
				},
			}),
			{ canceled, signal, timeoutMs },
		);
	}
}

function readText({ value }: HookUIResponse): string {
	if (typeof value !== "string") throw new Error("value must be a string");
	return value;
}

function labelsOf(items: readonly SelectChoice[]): string {
	return items.map(({ label }) => JSON.stringify(label)).join(", ");
}

function describeSelect(
	title: string,
	items: readonly SelectChoice[],
	dialog: SelectOptions | undefined,
): SelectRequest {
	const descriptions = items.map(({ description = null }) => description);
	const values: readonly unknown[] = Array.isArray(dialog?.initial) ? dialog.initial : [dialog?.initial];
	const initial = items.flatMap(({ label, value }) => (values.includes(value) ? [label] : []));
	return {
		method: "select",
		title: textOf(title),
		options: items.map(({ label }) => label),
		...(descriptions.some((description) => description !== null) ? { descriptions } : {}),
		...(dialog?.filter === undefined ? {} : { filter: dialog.filter }),
		...(initial.length > 0 ? { initial } : {}),
	};
}

/** The client answers with a label, so duplicate labels get a number. */
function withUniqueLabels(items: readonly SelectChoice[]): SelectChoice[] {
	const taken = new Set<string>();
	return items.map((item) => {
		let { label } = item;
		for (let n = 2; taken.has(label); n++) label = `${item.label} (${n})`;
		taken.add(label);
		return { ...item, label };
	});
}
