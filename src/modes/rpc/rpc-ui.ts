import { randomUUID } from "node:crypto";
import { askingHook, dialogLimits, type SelectChoice, selectChoices, textOf } from "../../hooks/dialog-options.js";
import type { DialogOptions, HookUI, InputOptions, SelectOption } from "../../hooks/types.js";
import { onAbort } from "../../util/abort.js";
import type { HookUIRequest, HookUIResponse, RpcEvent } from "./protocol.js";

type Dialog = Exclude<HookUIRequest, { method: "notify" }>;
type Question = Dialog extends infer D
	? D extends Dialog
		? Omit<D, "type" | "id" | "hook" | "timeout">
		: never
	: never;

/** Maximum delay of a Node timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

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
export class RpcUI implements HookUI {
	readonly #dialogs: OpenDialog[] = [];
	#isClosed = false;

	constructor(private readonly send: (event: RpcEvent) => void) {}

	select<T extends string>(title: string, options: readonly T[], dialog?: DialogOptions): Promise<T | null>;
	select<T>(title: string, options: readonly SelectOption<T>[], dialog?: DialogOptions): Promise<T | null>;
	async select(title: string, options: readonly unknown[], dialog?: DialogOptions): Promise<unknown> {
		const items = withUniqueLabels(selectChoices(options));
		if (items.length === 0) return null;
		const descriptions = items.map(({ description = null }) => description);
		const question = {
			method: "select" as const,
			title: textOf(title),
			options: items.map(({ label }) => label),
			...(descriptions.some((description) => description !== null) ? { descriptions } : {}),
		};
		return this.#ask<unknown>(question, dialog, null, ({ value }) => {
			const chosen = items.find(({ label }) => label === value);
			return chosen ? chosen.value : null;
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
		return this.#ask<string | null>(question, dialog, null, ({ value }) => value ?? null);
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
		question: Question,
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
					if (timeout !== undefined) timer = setTimeout(withdraw, Math.min(timeout, MAX_TIMER_MS));
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
