import { PAUSE_MS, type Timing } from "../../util/clock.js";
import { DialogQueue, type QueuedDialog } from "../../util/dialog-queue.js";
import type { PlainOutput } from "./plain-output.js";
import type { PlainTerminal, TypedLine } from "./plain-terminal.js";

/** A question to the user. */
export interface Question<T> {
	/** Question and instructions, printed when the question opens. */
	lines: readonly string[];
	/** Prompt mark. */
	mark: string;
	/** Parses an answer. @returns `retry`: lines to print for an invalid answer; the question stays open */
	read(line: string): { value: T } | { retry: readonly string[] };
	/** Whether an answer may let something run: it then counts only if the question can have been read. Default: none does. */
	allows?(value: T): boolean;
	/** Whether the answer is typed without an echo. */
	isHidden?: boolean;
	/** Result when the question is canceled. */
	canceled: T;
	signal?: AbortSignal | undefined;
	/** ms, including the time in which the question waits for others. */
	timeoutMs?: number | undefined;
}

/** What questions need of the mode. */
export interface QuestionsHost {
	output: PlainOutput;
	terminal: Pick<PlainTerminal, "openLine" | "closeLine">;
	timing: Timing;
	/** Receives text that was typed when a question opened or closed, which is not part of an answer. */
	onTyped(text: string): void;
	/** Called when no question is open any more. */
	onFree(): void;
}

interface OpenQuestion extends QueuedDialog {
	answer(line: TypedLine): boolean;
}

const TOO_SOON = "Answered too soon to have been read: type it again";
const PASTED = "Pasted together with other text: type it again";
const BEGUN = "You were typing when pi asked: type it again";

/** Asks one question at a time; others wait in order. */
export class Questions {
	readonly #queue: DialogQueue<OpenQuestion>;

	constructor(private readonly host: QuestionsHost) {
		this.#queue = new DialogQueue(() => {
			host.onTyped(host.terminal.closeLine());
			host.onFree();
		});
	}

	get isOpen(): boolean {
		return this.#queue.current !== undefined;
	}

	/** @returns the parsed answer, or `canceled` */
	ask<T>(question: Question<T>): Promise<T> {
		const { output, terminal, timing, onTyped } = this.host;
		return this.#queue.open<T>((settle) => {
			/** When the question was printed, and since when it or the reason to answer again can be read. */
			let printedAt = Number.POSITIVE_INFINITY;
			let readableSince = printedAt;
			/** Whether the first line may continue one that was begun before the question. */
			let mayContinue = false;
			const print = async () => {
				const typed = await terminal.openLine(question.isHidden === true);
				mayContinue = typed !== "";
				onTyped(typed);
				if (this.#queue.current !== dialog) return;
				for (const line of question.lines) output.say(line);
				output.ask(question.mark);
				printedAt = timing.now();
				readableSince = printedAt;
			};
			const retry = (lines: readonly string[]) => {
				for (const line of lines) output.say(line);
				output.ask(question.mark);
				readableSince = timing.now();
				mayContinue = false;
				return true;
			};
			const dialog: OpenQuestion = {
				show: () => void print(),
				answer({ text, begunAt, isPasted }) {
					if (begunAt < printedAt) return false;
					const answer = question.read(text);
					if ("retry" in answer) return retry(answer.retry);
					if (question.allows?.(answer.value)) {
						if (isPasted) return retry([PASTED]);
						if (mayContinue) return retry([BEGUN]);
						if (begunAt - readableSince < PAUSE_MS) return retry([TOO_SOON]);
					}
					settle(answer.value);
					return true;
				},
				onCancel: () => output.say("canceled"),
			};
			return dialog;
		}, question);
	}

	/** Answers the open question with a typed line. @returns false if the line was begun before the question was printed */
	answer(line: TypedLine): boolean {
		return this.#queue.current?.answer(line) ?? false;
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
