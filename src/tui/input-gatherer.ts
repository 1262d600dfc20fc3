const PASTE_START = "\x1b[200~";
const PASTE_END = "\x1b[201~";
/** An escape character at the end of what was read may be a key of its own, or the beginning of another key. */
const PARTIAL = /\x1b(?:\x1b?(?:\[[\d;:<>=?]*|O)?)?$/;
const LONE_ESCAPES = /^\x1b+$/;
/** How long the rest of a sequence is waited for: Escape itself must not feel slow, and nobody types the start of one. ms. */
const LONE_ESCAPE_MS = 30;
const PARTIAL_MS = 250;
/** Escape or Ctrl+C, as terminals send them. */
const WAY_OUT = /^(?:\x1b|\x03|\x1b\[(?:27(?:;1)?|99;5)u|\x1b\[27;5;99~)$/;
/** A paste that has been quiet for so long is perhaps over, and a key that comes then is no part of it. ms. */
const QUIET_PASTE_MS = 500;

/**
 * Puts what a terminal sends back together: a key that slow lines have cut in two, and a paste, which arrives in
 * thousands of pieces. Costs what is read, however large the paste.
 */
export class InputGatherer {
	/** The beginning of a key, or of a mark that begins or ends a paste. */
	#held = "";
	/** The pieces of a paste that has not ended. */
	#paste: string[] | null = null;
	#timer: NodeJS.Timeout | undefined;
	#readAt = 0;

	/** @param emit gets keys as they come, and every paste in one piece with its marks */
	constructor(private readonly emit: (data: string) => void) {}

	/** Takes what was read. */
	push(chunk: string): void {
		clearTimeout(this.#timer);
		const quietMs = performance.now() - this.#readAt;
		this.#readAt += quietMs;
		if (this.#paste !== null && quietMs > QUIET_PASTE_MS && WAY_OUT.test(chunk)) {
			this.#endPaste(this.#paste);
			return;
		}
		let data = this.#held + chunk;
		this.#held = "";
		while (data !== "") data = this.#paste === null ? this.#takeKeys(data) : this.#takePaste(data, this.#paste);
	}

	/** Forgets what has not come to its end. */
	stop(): void {
		clearTimeout(this.#timer);
		this.#held = "";
		this.#paste = null;
	}

	/** @returns what comes after the keys: the beginning of a paste, or nothing */
	#takeKeys(data: string): string {
		const start = data.indexOf(PASTE_START);
		if (start !== -1) {
			if (start > 0) this.emit(data.slice(0, start));
			this.#paste = [PASTE_START];
			return data.slice(start + PASTE_START.length);
		}
		const partial = PARTIAL.exec(data)?.[0] ?? "";
		const whole = data.slice(0, data.length - partial.length);
		if (whole !== "") this.emit(whole);
		if (partial !== "") this.#hold(partial);
		return "";
	}

	/** @returns what comes after the paste */
	#takePaste(data: string, pieces: string[]): string {
		const end = data.indexOf(PASTE_END);
		if (end === -1) {
			// The mark may be cut in two.
			const cut = Math.max(data.lastIndexOf("\x1b"), data.length - PASTE_END.length + 1);
			const keep = PASTE_END.startsWith(data.slice(cut)) ? cut : data.length;
			if (keep > 0) pieces.push(data.slice(0, keep));
			this.#held = data.slice(keep);
			return "";
		}
		pieces.push(data.slice(0, end + PASTE_END.length));
		this.#paste = null;
		this.emit(pieces.join(""));
		return data.slice(end + PASTE_END.length);
	}

	/**
	 * Ends a paste whose end never comes, which would take every key for itself; the key that asks for it is used up. Time
	 * alone does not end one: on a slow line the rest would be taken for keys, and its first line sent.
	 */
	#endPaste(pieces: string[]): void {
		const rest = this.#held;
		this.stop();
		this.emit([...pieces, rest, PASTE_END].join(""));
	}

	#hold(partial: string): void {
		this.#held = partial;
		const flush = () => {
			const held = this.#held;
			this.#held = "";
			// Two of them are Escape twice, whatever came between: a slow line brings them at once.
			for (const key of LONE_ESCAPES.test(held) ? held : [held]) if (key !== "") this.emit(key);
		};
		const timer = setTimeout(
			() => {
				// After a busy moment the rest may have arrived and only not been read yet.
				setImmediate(() => {
					if (this.#timer === timer) flush();
				});
			},
			LONE_ESCAPES.test(partial) ? LONE_ESCAPE_MS : PARTIAL_MS,
		);
		this.#timer = timer;
	}
}
