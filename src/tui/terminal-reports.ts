import type { Background } from "../themes/built-in.js";
import { isLight, type Rgb } from "../themes/color.js";

/** Asks for the background colour, and to be told when the terminal changes between light and dark. */
const ASK = "\x1b]11;?\x07\x1b[?2031h";
const STOP_TELLING = "\x1b[?2031l";
const ANSWER = /^\x1b\]11;(?:rgba?:([0-9a-f]+)\/([0-9a-f]+)\/([0-9a-f]+)|#([0-9a-f]+))[^\x07\x1b]*(?:\x07|\x1b\\)$/i;
/** What may still become an answer: slow lines cut them in pieces. */
const BEGINNING = /^\x1b\](?:1(?:1(?:;[^\x07\x1b]{0,40}\x1b?)?)?)?$/;
const CHANGE = /^\x1b\[\?997;([12])n$/;
/** So long after a question its answer may arrive in pieces. ms. */
const ANSWER_TIME_MS = 1000;
/** How long the rest of what looks like an answer is waited for, ms. */
const REST_MS = 100;

/**
 * Asks a terminal for its background, and takes the answers out of what is typed. Nothing is waited for: a terminal that
 * does not answer is never heard of.
 */
export class TerminalReports {
	#listener: ((background: Background) => void) | null = null;
	#askedAt = Number.NEGATIVE_INFINITY;
	#held: string[] = [];
	#timer: NodeJS.Timeout | undefined;
	#isReleasing = false;

	/**
	 * @param write writes control sequences to the terminal
	 * @param type hands on keys that were held back for a while
	 */
	constructor(
		private readonly write: (data: string) => void,
		private readonly type: (key: string) => void,
	) {}

	/** Asks for the background, now and after each `start`. @param onBackground hears each answer and each change */
	watch(onBackground: (background: Background) => void): void {
		this.#listener = onBackground;
		this.start();
	}

	/** The terminal is there (again). */
	start(): void {
		if (!this.#listener) return;
		this.#askedAt = performance.now();
		this.write(ASK);
	}

	/** The terminal is given back. */
	stop(): void {
		this.#forget();
		if (this.#listener) this.write(STOP_TELLING);
	}

	/** @returns true when the input was a report, or may become one, and is no key */
	handleInput(data: string): boolean {
		if (this.#isReleasing || (this.#held.length === 0 && !data.startsWith("\x1b"))) return false;
		const change = CHANGE.exec(data);
		const whole = this.#held.join("") + data;
		const answer = ANSWER.exec(whole);
		if (change) this.#listener?.(change[1] === "2" ? "light" : "dark");
		else if (answer) this.#tell(answer);
		else if (this.#mayBeAnswer(whole)) this.#hold(data);
		else {
			this.#release();
			return false;
		}
		return true;
	}

	#tell([, red = "", green = "", blue = "", hex = ""]: RegExpExecArray): void {
		this.#forget();
		const part = hex.length / 3;
		const digits = hex === "" ? [red, green, blue] : [0, 1, 2].map((at) => hex.slice(at * part, (at + 1) * part));
		this.#listener?.(isLight(asRgb(digits)) ? "light" : "dark");
	}

	#mayBeAnswer(whole: string): boolean {
		return performance.now() - this.#askedAt < ANSWER_TIME_MS && BEGINNING.test(whole);
	}

	#hold(data: string): void {
		this.#held.push(data);
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => this.#release(), REST_MS);
	}

	/** It was typed after all. */
	#release(): void {
		const held = this.#held;
		this.#forget();
		this.#isReleasing = true;
		for (const key of held) this.type(key);
		this.#isReleasing = false;
	}

	#forget(): void {
		clearTimeout(this.#timer);
		this.#held = [];
	}
}

/** Parts of one to four hexadecimal digits, each of its own full scale. */
function asRgb(digits: readonly string[]): Rgb {
	const [red = 0, green = 0, blue = 0] = digits.map(
		(part) => (Number.parseInt(part || "0", 16) / (16 ** Math.max(1, part.length) - 1)) * 255,
	);
	return [red, green, blue];
}
