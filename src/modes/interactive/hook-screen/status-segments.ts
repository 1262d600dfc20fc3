import { visibleWidth } from "@mariozechner/pi-tui";
import { clipLine } from "../../../tui/line.js";
import { cleanLines } from "../clean-text.js";
import { fairShares } from "./fair-shares.js";

/** A status of a hook. */
interface Status {
	/** Position of its hook in load order. */
	rank: number;
	text: string;
}

const SEPARATOR = " · ";
/** Minimum columns of a status that is cut. */
const MIN_COLUMNS = 12;
/** Maximum characters of a status. */
const MAX_LENGTH = 200;

/** The statuses of all hooks as one line of the footer, by load order of their hooks. */
export class StatusSegments {
	readonly #statuses = new Map<string, Status>();
	/** The parts of the line as last drawn. */
	#drawn: { width: number; parts: readonly string[] } | null = null;

	/** Replaces a status, or removes it. */
	set(id: string, status: Status | undefined): void {
		this.#drawn = null;
		if (status === undefined) this.#statuses.delete(id);
		else this.#statuses.set(id, { ...status, text: cleanLines(status.text, MAX_LENGTH).join(" ").trim() });
	}

	/** One line; none without a status. Statuses that are too long are cut, and those that do not fit are counted. */
	render(width: number, dim: (text: string) => string): string[] {
		if (this.#drawn?.width !== width) this.#drawn = { width, parts: this.#parts(width) };
		const { parts } = this.#drawn;
		return parts.length === 0 ? [] : [clipLine(parts.map(dim).join(dim(SEPARATOR)), width)];
	}

	#parts(width: number): string[] {
		const texts = [...this.#statuses.values()]
			.sort((a, b) => a.rank - b.rank)
			.flatMap(({ text }) => (text === "" ? [] : [text]));
		return texts.length === 0 ? [] : fitTexts(texts, width);
	}
}

/** As many texts as fit, each with a fair share of the width, and the number of the others. */
function fitTexts(texts: readonly string[], width: number): string[] {
	const widths = texts.map((text) => visibleWidth(text));
	for (let count = texts.length; ; count--) {
		const more = count < texts.length ? [`+${texts.length - count}`] : [];
		const separators = SEPARATOR.length * (count + more.length - 1);
		const wanted = widths.slice(0, count);
		const shares = fairShares(wanted, width - separators - more.join("").length);
		const isReadable = shares.every((share, at) => share >= Math.min(MIN_COLUMNS, wanted[at] ?? 0));
		if (isReadable || count === 1) return [...shares.map((share, at) => clipLine(texts[at] ?? "", share)), ...more];
	}
}
