import { revealLine } from "../../util/reveal.js";
import { collapseCarriageReturns, stripAll } from "../../util/sanitize.js";
import type { CodeLine } from "../code-lines.js";

/** Default prompt mark. */
const MARK = "> ";
const MAX_LENGTH = 500;

/**
 * Appends lines without control characters. A line printed while the user may type starts on its own row, and the prompt
 * mark is printed again below it.
 */
export class PlainOutput {
	#mark: string | null = null;
	#isMarked = false;
	#timer: NodeJS.Immediate | undefined;

	/** @param typed what the user has typed after the mark, if that has to be printed again with it */
	constructor(
		private readonly write: (text: string) => void,
		private readonly typed: () => string = () => "",
	) {}

	/** Prints one or more lines. */
	say(text: string): void {
		const clean = stripAll(collapseCarriageReturns(text)).replace(/\t/g, "   ");
		this.#endMark();
		this.write(`${clean}\n`);
		this.#remark();
	}

	/** Asks the user to type. @param mark the prompt mark; null removes it */
	ask(mark: string | null = MARK): void {
		if (mark === this.#mark && this.#isMarked) return;
		this.#mark = mark;
		this.#endMark();
		this.#remark();
	}

	/** Must be called when the user has ended a line. */
	lineEnded(): void {
		this.#isMarked = false;
	}

	/** Starts a new row after the terminal has echoed a control character such as `^C`. */
	breakLine(): void {
		this.#isMarked = false;
		this.write("\n");
	}

	/** Removes the prompt mark. */
	close(): void {
		this.ask(null);
		clearImmediate(this.#timer);
	}

	#endMark(): void {
		if (this.#isMarked) this.write("\n");
		this.#isMarked = false;
	}

	/** Prints the mark again after all lines of this tick. */
	#remark(): void {
		if (this.#mark === null || this.#timer) return;
		this.#timer = setImmediate(() => {
			this.#timer = undefined;
			if (this.#mark === null || this.#isMarked) return;
			this.#isMarked = true;
			this.write(`${this.#mark}${this.typed()}`);
		});
	}
}

/** Untrusted text as one line with invisible characters revealed, for names, subjects and questions. */
export function plainLine(text: string, maxLength = MAX_LENGTH): string {
	return revealLine(text, { maxLength, lineEnd: " " });
}

/** A line of code in words. */
export function codeLine({ kind, mark, text }: CodeLine): string {
	if (kind === "heading") return `${text}:`;
	if (kind === "added") return `  added ${mark.replace("+", "")}: ${text}`;
	if (kind === "removed") return `  removed: ${text}`;
	return `  ${mark.trim()} ${text}`;
}
