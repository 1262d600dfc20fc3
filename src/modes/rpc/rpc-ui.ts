import { randomUUID } from "node:crypto";
import { askingHook, dialogLimits, type SelectChoice, selectChoices, textOf } from "../../hooks/dialog-options.js";
import type { HookScreen, SessionUI } from "../../hooks/session-ui.js";
import type { DialogOptions, InputOptions, SelectManyOptions, SelectOption, SelectOptions } from "../../hooks/types.js";
import { onAbort } from "../../util/abort.js";
import type { HookDialogRequest, HookUIResponse, RpcEvent, SelectRequest } from "./protocol.js";
import { RpcScreen } from "./rpc-screen.js";

/** A dialog that waits for its turn or for its answer. */
interface OpenDialog {
	id: string;
	show(): void;
	settle(response: HookUIResponse | null): void;
}

/**
 * Dialogs of hooks, answered by the client. One is open at a time, in the order of the requests. Answers to closed
 * dialogs are ignored.
 */
export class RpcUI implements SessionUI {
	readonly hookScreen: HookScreen;
	readonly #dialogs: OpenDialog[] = [];
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
			return chosen ? chosen.value : null;
		});
	}

	async selectMany(title: string, options: readonly unknown[], dialog: SelectManyOptions): Promise<unknown[] | null> {
		const items = withUniqueLabels(selectChoices(options));
		const question = { ...describeSelect(title, items, dialog), multiple: true as const };
		return this.#ask<unknown[] | null>(question, dialog, null, ({ value }) => {
			const labels = Array.isArray(value) ? value : value === undefined ? null : [value];
			return labels && items.flatMap((item) => (labels.includes(item.label) ? [item.value] : []));
		});
	}

	confirm(title: string, message: string, dialog?: DialogOptions): Promise<boolean> {
		const question = { method: "confirm" as const, title: textOf(title), message: textOf(message) };
		return this.#ask(question, dialog, false, ({ confirmed }) => confirmed === true);
	}

	input(title: string, placeholder?: string, dialog?: InputOptions): Promise<string | null> {
		const question = {
			method: "input" as const,
			title: textOf(title),
			...(placeholder === undefined ? {} : { placeholder: textOf(placeholder) }),
			...(dialog?.initial === undefined ? {} : { initial: textOf(dialog.initial) }),
		};
		return this.#ask<string | null>(question, dialog, null, ({ value }) => (typeof value === "string" ? value : null));
	}

	editor(title: string, initial: string, dialog?: DialogOptions): Promise<string | null> {
		const question = { method: "editor" as const, title: textOf(title), initial };
		return this.#ask<string | null>(question, dialog, null, ({ value }) => (typeof value === "string" ? value : null));
	}

	notify(message: string, type: "info" | "warning" | "error" = "info"): void {
		const notifyType = type === "warning" || type === "error" ? type : "info";
		this.send({ type: "hook_ui_request", id: randomUUID(), method: "notify", message: textOf(message), notifyType });
	}

	/** Handles an answer of the client. */
	answer(response: HookUIResponse): void {
		const [current] = this.#dialogs;
		if (current?.id === response.id) current.settle(response.cancelled ? null : response);
	}

	/** Cancels all dialogs, including later ones. */
	close(): void {
		this.#isClosed = true;
		for (const dialog of [...this.#dialogs].reverse()) dialog.settle(null);
	}

	#ask<T>(
		question: HookDialogRequest,
		options: DialogOptions | undefined,
		canceled: T,
		read: (response: HookUIResponse) => T,
	): Promise<T> {
		const { signal, timeoutMs: timeout } = dialogLimits(options);
		const hook = askingHook(options);
		const common = { ...(hook === null ? {} : { hook }), ...(timeout === undefined ? {} : { timeout }) };
		if (this.#isClosed || signal?.aborted) return Promise.resolve(canceled);
		return new Promise((resolve) => {
			const id = randomUUID();
			let timer: NodeJS.Timeout | undefined;
			let isShown = false;
			const dialog: OpenDialog = {
				id,
				show: () => {
					isShown = true;
					this.send({ type: "hook_ui_request", id, ...question, ...common });
					if (timeout !== undefined) timer = setTimeout(withdraw, timeout);
				},
				settle: (response) => {
					const at = this.#dialogs.indexOf(dialog);
					if (at < 0) return;
					this.#dialogs.splice(at, 1);
					clearTimeout(timer);
					release();
					resolve(response ? read(response) : canceled);
					if (at === 0) this.#dialogs[0]?.show();
				},
			};
			const withdraw = () => {
				if (isShown) this.send({ type: "hook_ui_closed", id });
				dialog.settle(null);
			};
			const release = signal ? onAbort(signal, withdraw) : () => {};
			this.#dialogs.push(dialog);
			if (this.#dialogs[0] === dialog) dialog.show();
		});
	}
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
