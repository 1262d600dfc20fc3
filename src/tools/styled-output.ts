import { Pen } from "../util/sanitize.js";
import { dropControls, ESCAPE_SEQUENCES } from "./output.js";

const SGR = /^(?:\x1b\[|\x9b)([\d;:]*)m$/;
const RESET = "\x1b[0m";

/** A place in a text, and the sequence that turns on the styles from there on. */
interface StyleStart {
	at: number;
	sequence: string;
}

/**
 * The text that `plainOutput` returns with its colors and styles as SGR sequences, which are the only sequences in it. Each
 * line stands alone: it turns on the styles with which it begins and ends with none.
 * @param skip number of characters at the start of the plain text to omit; their styles continue
 * @returns undefined if the text has no styles, or is longer than `maxLength` with them
 */
export function styledOutput(text: string, skip: number, maxLength: number): string | undefined {
	const { stripped, starts } = separate(text);
	if (starts.length === 0) return undefined;
	const line = new StyledText(skip);
	let next = 0;
	let sequence = "";
	for (let from = 0; from <= stripped.length; ) {
		const found = stripped.indexOf("\n", from);
		const end = found === -1 ? stripped.length : found;
		if (from > 0) line.end("\n");
		for (let at = from + startOfLastState(stripped.slice(from, end)); at < end; ) {
			for (; (starts[next]?.at ?? end) <= at; next++) sequence = starts[next]?.sequence ?? "";
			const until = Math.min(end, starts[next]?.at ?? end);
			line.add(dropControls(stripped.slice(at, until)), sequence);
			at = until;
		}
		if (line.text.length > maxLength) return undefined;
		from = end + 1;
	}
	line.end();
	return line.isStyled && line.text.length <= maxLength ? line.text : undefined;
}

/** Takes the escape sequences out of a text, and follows its styles. */
function separate(text: string): { stripped: string; starts: StyleStart[] } {
	const pen = new Pen();
	const starts: StyleStart[] = [];
	let stripped = "";
	let from = 0;
	for (const { index, 0: found } of text.matchAll(ESCAPE_SEQUENCES)) {
		stripped += text.slice(from, index);
		from = index + found.length;
		const parameters = SGR.exec(found)?.[1];
		if (parameters === undefined) continue;
		pen.apply(parameters);
		if (pen.sequence !== (starts.at(-1)?.sequence ?? "")) starts.push({ at: stripped.length, sequence: pen.sequence });
	}
	return { stripped: stripped + text.slice(from), starts };
}

/** Where the part of a line begins that overwrote what was before it. @see collapseCarriageReturns */
function startOfLastState(line: string): number {
	let end = line.length;
	while (end > 0 && line[end - 1] === "\r") end--;
	return end > 0 ? line.lastIndexOf("\r", end - 1) + 1 : 0;
}

/** Joins pieces of text, and writes a sequence only where the style of the text changes. */
class StyledText {
	text = "";
	isStyled = false;
	#sequence = "";

	constructor(private skip: number) {}

	add(piece: string, sequence: string): void {
		const shown = this.#take(piece);
		if (shown === "") return;
		if (sequence !== this.#sequence) {
			this.#close();
			this.text += sequence;
			this.#sequence = sequence;
			this.isStyled ||= sequence !== "";
		}
		this.text += shown;
	}

	/** Ends the line. */
	end(lineEnd = ""): void {
		this.#close();
		this.text += this.#take(lineEnd);
	}

	#close(): void {
		if (this.#sequence !== "") this.text += RESET;
		this.#sequence = "";
	}

	/** @returns the part of a piece that is not skipped */
	#take(piece: string): string {
		const taken = piece.slice(this.skip);
		this.skip = Math.max(0, this.skip - piece.length);
		return taken;
	}
}
