import { onAbort } from "../../util/abort.js";
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

interface Waiting {
	show(): void;
	answer(line: string): void;
	cancel(): void;
}

/** Asks one question at a time; others wait in order. */
export class Questions {
	readonly #open: Waiting[] = [];

	/** @param onFree called when no question is open any more */
	constructor(
		private readonly output: PlainOutput,
		private readonly onFree: () => void,
	) {}

	get isOpen(): boolean {
		return this.#open.length > 0;
	}

	/** @returns the parsed answer, or `canceled` */
	ask<T>(question: Question<T>): Promise<T> {
		const { signal, timeoutMs, canceled } = question;
		if (signal?.aborted) return Promise.resolve(canceled);
		return new Promise((resolve) => {
			let timer: NodeJS.Timeout | undefined;
			const settle = (value: T) => {
				const at = this.#open.indexOf(waiting);
				if (at < 0) return;
				this.#open.splice(at, 1);
				clearTimeout(timer);
				release();
				resolve(value);
				if (at === 0) this.#next();
			};
			const waiting: Waiting = {
				show: () => {
					for (const line of question.lines) this.output.say(line);
					this.output.ask(question.mark);
				},
				answer: (line) => {
					const answer = question.read(line);
					if ("value" in answer) settle(answer.value);
					else {
						for (const text of answer.retry) this.output.say(text);
						this.output.ask(question.mark);
					}
				},
				cancel: () => {
					const wasShown = this.#open[0] === waiting;
					if (wasShown) this.output.say("canceled");
					settle(canceled);
				},
			};
			const release = signal ? onAbort(signal, () => waiting.cancel()) : () => {};
			if (timeoutMs !== undefined) timer = setTimeout(() => waiting.cancel(), timeoutMs);
			this.#open.push(waiting);
			if (this.#open[0] === waiting) waiting.show();
		});
	}

	/** Answers the open question with a typed line. */
	answer(line: string): void {
		this.#open[0]?.answer(line);
	}

	/** Cancels the open question. */
	cancel(): void {
		this.#open[0]?.cancel();
	}

	/** Cancels all questions. */
	close(): void {
		for (const waiting of [...this.#open].reverse()) waiting.cancel();
	}

	#next(): void {
		const [next] = this.#open;
		if (next) next.show();
		else this.onFree();
	}
}
