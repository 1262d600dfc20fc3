import { DialogQueue, type QueuedDialog } from "../../util/dialog-queue.js";
import type { PlainOutput } from "./plain-output.js";

/** A question to the user. */
export interface Question<T> {
	/** Question and instructions, printed when the question opens. */
	lines: readonly string[];
	/** Prompt mark. */
	mark: string;
	/** Parses an answer. @returns `retry`: lines to print for an invalid answer; the question stays open */
	read(line: string): { value: T } | { retry: readonly string[] };
	/** Result when the question is canceled. */
	canceled: T;
	signal?: AbortSignal | undefined;
	/** ms, including the time in which the question waits for others. */
	timeoutMs?: number | undefined;
}

interface OpenQuestion extends QueuedDialog {
	answer(line: string): void;
}

/** Asks one question at a time; others wait in order. */
export class Questions {
	readonly #queue: DialogQueue<OpenQuestion>;

	/** @param onFree called when no question is open any more */
	constructor(
		private readonly output: PlainOutput,
		onFree: () => void,
	) {
		this.#queue = new DialogQueue(onFree);
	}

	get isOpen(): boolean {
		return this.#queue.current !== undefined;
	}

	/** @returns the parsed answer, or `canceled` */
	ask<T>(question: Question<T>): Promise<T> {
		const { output } = this;
		return this.#queue.open<T>(
			(settle) => ({
				show() {
					for (const line of question.lines) output.say(line);
					output.ask(question.mark);
				},
				answer(line) {
					const answer = question.read(line);
					if ("value" in answer) return settle(answer.value);
					for (const text of answer.retry) output.say(text);
					output.ask(question.mark);
				},
				onCancel: () => output.say("canceled"),
			}),
			question,
		);
	}

	/** Answers the open question with a typed line. */
	answer(line: string): void {
		this.#queue.current?.answer(line);
	}

	/** Cancels the open question. */
	cancel(): void {
		this.#queue.cancel();
	}

	/** Cancels all questions. */
	close(): void {
		this.#queue.cancelAll();
	}
}
