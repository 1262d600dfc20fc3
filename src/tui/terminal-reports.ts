import type { Background } from "../themes/built-in.js";
import { isLight, type Rgb } from "../themes/color.js";
import { monotonicMs } from "../util/clock.js";

/** Asks for the background color and turns on reports of changes between light and dark. */
const START_REPORTS = "\x1b]11;?\x07\x1b[?2031h";
const STOP_REPORTS = "\x1b[?2031l";
const ANSWER = /^\x1b\]11;(?:rgba?:([0-9a-f]+)\/([0-9a-f]+)\/([0-9a-f]+)|#([0-9a-f]+))[^\x07\x1b]*(?:\x07|\x1b\\)$/i;
/** The start of an answer: slow connections split them. */
const BEGINNING = /^\x1b\](?:1(?:1(?:;[^\x07\x1b]{0,40}\x1b?)?)?)?$/;
/** Time after a question during which its answer may arrive in pieces. */
const ANSWER_TIME_MS = 1000;
/** Timeout for the rest of a possible answer. */
const REST_MS = 100;

/** Asks the terminal for its background and filters the answers out of the input. Nothing waits for an answer. */
export class TerminalReports {
	#listener: ((background: Background) => void) | null = null;
	#askedAt = Number.NEGATIVE_INFINITY;
	#held: string[] = [];
	#timer: NodeJS.Timeout | undefined;

	/**
	 * @param write writes control sequences to the terminal
	 * @param type handles keys that were held back as a possible answer
	 */
	constructor(
		private readonly write: (data: string) => void,
		private readonly type: (key: string) => void,
	) {}

	/** Asks for the background now and after each `start`. @param onBackground called for each answer and each change */
	watch(onBackground: (background: Background) => void): void {
		this.#listener = onBackground;
		this.start();
	}

	/** Turns on reports, after the screen has taken over the terminal. */
	start(): void {
		if (!this.#listener) return;
		this.#askedAt = monotonicMs();
		this.write(START_REPORTS);
	}

	/** Turns off reports, before the screen releases the terminal. */
	stop(): void {
		this.#forget();
		if (this.#listener) this.write(STOP_REPORTS);
	}

	/** Call for each report of a change, which pi-tui reads. */
	changed(background: Background): void {
		this.#listener?.(background);
	}

	/** @returns true when the input is an answer, or the start of one, and not a key */
	handleInput(data: string): boolean {
		if (this.#held.length === 0 && !data.startsWith("\x1b")) return false;
		const input = this.#held.join("") + data;
		const answer = ANSWER.exec(input);
		if (answer) this.#report(answer);
		else if (this.#mayBeAnswer(input)) this.#hold(data);
		else {
			this.#release();
			return false;
		}
		return true;
	}

	#report([, red = "", green = "", blue = "", hex = ""]: RegExpExecArray): void {
		this.#forget();
		const length = hex.length / 3;
		const digits = hex === "" ? [red, green, blue] : [0, 1, 2].map((at) => hex.slice(at * length, (at + 1) * length));
		this.#listener?.(isLight(asRgb(digits)) ? "light" : "dark");
	}

	#mayBeAnswer(input: string): boolean {
		return monotonicMs() - this.#askedAt < ANSWER_TIME_MS && BEGINNING.test(input);
	}

	#hold(data: string): void {
		this.#held.push(data);
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => this.#release(), REST_MS);
	}

	/** Passes on held keys: they were typed. */
	#release(): void {
		const held = this.#held;
		this.#forget();
		for (const key of held) this.type(key);
	}

	#forget(): void {
		clearTimeout(this.#timer);
		this.#held = [];
	}
}

/** Converts channels of one to four hexadecimal digits, each relative to its own maximum. */
function asRgb(digits: readonly string[]): Rgb {
	const [red = 0, green = 0, blue = 0] = digits.map(
		(channel) => (Number.parseInt(channel || "0", 16) / (16 ** Math.max(1, channel.length) - 1)) * 255,
	);
	return [red, green, blue];
}
