export interface SanitizeOptions {
	/** Maximum line length in UTF-16 units without colors; a longer line is truncated and ends in `…`. Default: unlimited. */
	maxLineLength?: number;
}

const ESC = "\x1b";
const RESET = "\x1b[0m";
/** Maximum styles per line. A line of only color changes would cost the renderer as much as a long one. */
const MAX_STYLES_PER_LINE = 1000;

/** Characters that must not pass unchanged; `STOP` also matches `\n`, to count lines. */
const UNSAFE = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;
const STOP = /[\x00-\x08\x0a-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;
const SURROGATE_PAIR = /^[\ud800-\udbff][\udc00-\udfff]/;
const SGR = /\[([\d;:]*)m/y;
const COLON_COLOR = /^[34]8:(?:5:\d{1,3}|2:\d{0,3}:\d{1,3}:\d{1,3}:\d{1,3}|2:\d{1,3}:\d{1,3}:\d{1,3})$/;

/**
 * Makes untrusted text safe for a terminal. Keeps line feeds, tabs, plain colors and styles; shows every other control
 * character and bidi override (`␛`, `^G`, `‹U+009B›`). Text after an escape character is kept as text. Open styles are
 * closed at the end. Linear in the length of the text, and idempotent.
 */
export function sanitize(text: string, { maxLineLength = Number.POSITIVE_INFINITY }: SanitizeOptions = {}): string {
	return scan(text, true, Math.max(1, maxLineLength));
}

/** Like `sanitize`, but removes colors and styles: the result contains no escape character. */
export function stripAll(text: string, { maxLineLength = Number.POSITIVE_INFINITY }: SanitizeOptions = {}): string {
	return scan(text, false, Math.max(1, maxLineLength));
}

/**
 * The text that a terminal would show after lines overwrote themselves: a lone `\r` discards the line so far, so that
 * only the last state of a progress bar remains. `\r\n` becomes `\n`. Pass complete lines, and sanitize the result.
 */
export function collapseCarriageReturns(text: string): string {
	if (!text.includes("\r")) return text;
	return text
		.split("\n")
		.map((line) => (line.includes("\r") ? lastState(line) : line))
		.join("\n");
}

function lastState(line: string): string {
	let end = line.length;
	// A `\r` without text after it has not overwritten anything yet.
	while (end > 0 && line[end - 1] === "\r") end--;
	return line.slice(line.lastIndexOf("\r", end - 1) + 1, end);
}

/** The visible form of a character that must not reach the terminal. */
export function showCharacter(character: string): string {
	const code = character.codePointAt(0) ?? 0;
	if (code === 0x1b) return "␛";
	if (code < 0x20) return `^${String.fromCharCode(code + 0x40)}`;
	if (code === 0x7f) return "^?";
	return `‹U+${code.toString(16).toUpperCase().padStart(4, "0")}›`;
}

function scan(text: string, keepStyles: boolean, max: number): string {
	if (!UNSAFE.test(text) && !hasLongLine(text, max)) return text;
	let out = "";
	let at = 0;
	let style = 0;
	let line = new CappedLine(max);
	for (;;) {
		if (line.full) {
			const next = text.indexOf("\n", at);
			at = next === -1 ? text.length : next;
		}
		STOP.lastIndex = at;
		const stop = STOP.exec(text);
		line.add(stop ? text.slice(at, stop.index) : text.slice(at), style);
		if (line.full) style = 0;
		if (!stop) return out + line.text + (style ? RESET : "");
		const character = stop[0];
		at = stop.index + 1;
		if (character === "\n") {
			out += `${line.text}\n`;
			line = new CappedLine(max);
		} else if (character === "\r" && text[at] === "\n") {
			// The line feed ends the line.
		} else if (character === ESC && text[at] === "[") {
			SGR.lastIndex = at;
			const sequence = SGR.exec(text);
			if (sequence) {
				at = SGR.lastIndex;
				if (keepStyles && !line.full) style = line.addStyle(sequence[1] ?? "", style);
			} else {
				line.add(showCharacter(ESC), style);
				if (line.full) style = 0;
			}
		} else {
			line.add(showCharacter(character), style);
			if (line.full) style = 0;
		}
	}
}

function hasLongLine(text: string, max: number): boolean {
	let start = 0;
	while (text.length - start > max) {
		const end = text.indexOf("\n", start);
		if (end === -1 || end - start > max) return true;
		start = end + 1;
	}
	return false;
}

/** A line that accepts text until it is full, then ends in `…` and ignores further text. */
class CappedLine {
	text = "";
	full = false;
	#width = 0;
	#styles = 0;
	/** Position to truncate at if the line grows too long, and whether a style is active there. */
	#cut: { at: number; styled: boolean } | null = null;

	constructor(private readonly max: number) {}

	add(piece: string, style: number): void {
		if (this.full || piece === "") return;
		const room = this.max - 1 - this.#width;
		if (!this.#cut && piece.length > room) {
			const splitsPair = SURROGATE_PAIR.test(piece.slice(room - 1, room + 1));
			this.#cut = { at: this.text.length + room - (splitsPair ? 1 : 0), styled: style !== 0 };
		}
		this.#width += piece.length;
		if (this.#cut && this.#width > this.max) {
			this.text = `${(this.text + piece).slice(0, this.#cut.at)}${this.#cut.styled ? RESET : ""}…`;
			this.full = true;
		} else {
			this.text += piece;
		}
	}

	/** Adds the allowed parameters of an SGR sequence. @returns the active style after it */
	addStyle(parameters: string, style: number): number {
		const { kept, clears, sets } = parseStyle(parameters);
		if (kept === "") return style;
		const closesAll = kept === "0" && style !== 0;
		// A reset of an active style is always kept: there are at most as many resets as styles.
		if (!closesAll && this.#styles >= MAX_STYLES_PER_LINE) return style;
		if (!closesAll) this.#styles++;
		this.text += `${ESC}[${kept}m`;
		return (style & ~clears) | sets;
	}
}

/** The allowed parameters of an SGR sequence, and the attributes (as bits) that they turn off and on. */
interface Style {
	kept: string;
	clears: number;
	sets: number;
}

const WEIGHT = 1;
const SLANT = 2;
const UNDERLINE = 4;
const FOREGROUND = 8;
const BACKGROUND = 16;
const ALL = 31;
const OFF: ReadonlyMap<number, number> = new Map([
	[0, ALL],
	[22, WEIGHT],
	[23, SLANT],
	[24, UNDERLINE],
	[29, 0],
	[39, FOREGROUND],
	[49, BACKGROUND],
]);
const ON: ReadonlyMap<number, number> = new Map([
	[1, WEIGHT],
	[2, WEIGHT],
	[3, SLANT],
	[4, UNDERLINE],
]);

const knownStyles = new Map<string, Style>();

function parseStyle(parameters: string): Style {
	const known = knownStyles.get(parameters);
	if (known) return known;
	const style = allowedStyle(parameters.split(";"));
	if (parameters.length <= 24 && knownStyles.size < 1000) knownStyles.set(parameters, style);
	return style;
}

function allowedStyle(parameters: readonly string[]): Style {
	const kept: string[] = [];
	let clears = 0;
	let sets = 0;
	for (const change of changesOf(parameters)) {
		// Parameters before a full reset have no effect.
		if (change.clears === ALL) kept.length = 0;
		kept.push(change.code);
		clears |= change.clears;
		sets = (sets & ~change.clears) | change.sets;
	}
	return { kept: kept.join(";"), clears, sets };
}

/** An allowed parameter, with the values of its color, and the attributes that it turns off or on. */
interface StyleChange {
	code: string;
	clears: number;
	sets: number;
}

function changesOf(parameters: readonly string[]): StyleChange[] {
	const changes: StyleChange[] = [];
	const set = (sets: number, code: string) => changes.push({ code, clears: 0, sets });
	for (let index = 0; index < parameters.length; index++) {
		const parameter = parameters[index] ?? "";
		const code = parameter.includes(":") ? Number.NaN : Number(parameter);
		const off = OFF.get(code);
		if (off !== undefined) changes.push({ code: String(code), clears: off, sets: 0 });
		else if (ON.has(code)) set(ON.get(code) ?? 0, String(code));
		else if (inRange(code, 30, 37) || inRange(code, 90, 97)) set(FOREGROUND, String(code));
		else if (inRange(code, 40, 47) || inRange(code, 100, 107)) set(BACKGROUND, String(code));
		else if (code === 38 || code === 48 || code === 58) {
			const count = parameters[index + 1] === "5" ? 2 : parameters[index + 1] === "2" ? 4 : 0;
			const values = parameters.slice(index + 1, index + 1 + count);
			index += values.length;
			if (code === 58 || count === 0 || values.length < count || !values.every(isByte)) continue;
			set(code === 38 ? FOREGROUND : BACKGROUND, [code, ...values.map(Number)].join(";"));
		} else if (COLON_COLOR.test(parameter)) set(parameter.startsWith("3") ? FOREGROUND : BACKGROUND, parameter);
	}
	return changes;
}

/** The colors and styles that are on at a place in a text; only those that `sanitize` keeps. */
export class Pen {
	/** The parameter of each attribute that is on, by attribute. */
	readonly #on = new Map<number, string>();

	/** Follows an SGR sequence. @param parameters of the sequence, such as `1;31` */
	apply(parameters: string): void {
		for (const { code, clears, sets } of changesOf(parameters.split(";"))) {
			for (const attribute of this.#on.keys()) if (clears & attribute) this.#on.delete(attribute);
			if (sets) this.#on.set(sets, code);
		}
	}

	/** The sequence that turns on what is on; empty if nothing is. */
	get sequence(): string {
		return this.#on.size === 0 ? "" : `${ESC}[${[...this.#on.values()].join(";")}m`;
	}
}

function inRange(code: number, first: number, last: number): boolean {
	return code >= first && code <= last;
}

function isByte(value: string): boolean {
	return /^\d+$/.test(value) && Number(value) <= 255;
}
