import { revealLine } from "../../util/reveal.js";
import { collapseCarriageReturns, stripAll } from "../../util/sanitize.js";

/** Stands where the user may type. */
const MARK = "> ";
const MAX_LENGTH = 500;

/**
 * Writes lines one below the other and never takes one back. Whatever text comes, no control character goes out. A line
 * that comes while the user may type begins on a row of its own, and the mark stands below it again.
 */
export class PlainOutput {
	#mark: string | null = null;
	#isMarked = false;
	#timer: NodeJS.Immediate | undefined;

	constructor(private readonly write: (text: string) => void) {}

	/** Text of one or more lines. */
	say(text: string): void {
		const clean = stripAll(collapseCarriageReturns(text)).replace(/\t/g, "   ");
		this.#endMark();
		this.write(`${clean}\n`);
		this.#remark();
	}

	/** Asks the user to type. @param mark what stands before it; null takes it away */
	ask(mark: string | null = MARK): void {
		if (mark === this.#mark && this.#isMarked) return;
		this.#mark = mark;
		this.#endMark();
		this.#remark();
	}

	/** The user has ended the line. */
	lineEnded(): void {
		this.#isMarked = false;
	}

	/** The terminal has written a sign of its own, such as `^C`. */
	breakLine(): void {
		this.#isMarked = false;
		this.write("\n");
	}

	/** Nothing is asked any more. */
	close(): void {
		this.ask(null);
		clearImmediate(this.#timer);
	}

	#endMark(): void {
		if (this.#isMarked) this.write("\n");
		this.#isMarked = false;
	}

	/** Once what is said together has been said. */
	#remark(): void {
		if (this.#mark === null || this.#timer) return;
		this.#timer = setImmediate(() => {
			this.#timer = undefined;
			if (this.#mark === null || this.#isMarked) return;
			this.#isMarked = true;
			this.write(this.#mark);
		});
	}
}

/** Text from outside as one line that hides nothing, for names, subjects and questions. */
export function plainLine(text: string, maxLength = MAX_LENGTH): string {
	return revealLine(text, { maxLength, lineEnd: " " });
}
