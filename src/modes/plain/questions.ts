import { onAbort } from "../../util/abort.js";
import type { PlainOutput } from "./plain-output.js";

/** Something that the user is asked. */
export interface Question<T> {
	/** What is asked, and how to answer; said when its turn comes. */
	lines: readonly string[];
	/** Stands where the user types. */
	mark: string;
	/** Reads an answer. @returns what is said when it is none; the question stays */
	read(line: string): { value: T } | { retry: readonly string[] };
	/** What it comes to when it is cancelled. */
	cancelled: T;
	signal?: AbortSignal | undefined;
	/** ms from when it is asked, also while it waits for its turn. */
	timeoutMs?: number | undefined;
}

interface Waiting {
	show(): void;
	answer(line: string): void;
	cancel(): void;
}

/** Asks one thing at a time, the others wait in order; each settles exactly once. */
export class Questions {
	readonly #open: Waiting[] = [];

	/** @param onFree told when nothing is asked any more */
	constructor(
		private readonly output: PlainOutput,
		private readonly onFree: () => void,
	) {}

	/** True while an answer is waited for. */
	get isOpen(): boolean {
		return this.#open.length > 0;
	}

	/** @returns what the answer was read as, or `cancelled` */
	ask<T>(question: Question<T>): Promise<T> {
		const { signal, timeoutMs, cancelled } = question;
		if (signal?.aborted) return Promise.resolve(cancelled);
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
					else for (const text of answer.retry) this.output.say(text);
				},
				cancel: () => {
					const wasShown = this.#open[0] === waiting;
					if (wasShown) this.output.say("cancelled");
					settle(cancelled);
				},
			};
			const release = signal ? onAbort(signal, () => waiting.cancel()) : () => {};
			if (timeoutMs !== undefined) timer = setTimeout(() => waiting.cancel(), timeoutMs);
			this.#open.push(waiting);
			if (this.#open[0] === waiting) waiting.show();
		});
	}

	/** Takes a line that the user typed. */
	answer(line: string): void {
		this.#open[0]?.answer(line);
	}

	/** Cancels what is asked. */
	cancel(): void {
		this.#open[0]?.cancel();
	}

	/** Cancels what is asked and what waits. */
	close(): void {
		for (const waiting of [...this.#open].reverse()) waiting.cancel();
	}

	#next(): void {
		const [next] = this.#open;
		if (next) next.show();
		else this.onFree();
	}
}
