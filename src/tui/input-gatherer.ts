import { monotonicMs } from "../util/clock.js";

const PASTE_START = "\x1b[200~";
const PASTE_END = "\x1b[201~";
/** The start of an escape sequence at the end of the input. A lone escape character may also be the Escape key. */
const PARTIAL = /\x1b(?:\x1b?(?:\[[\d;:<>=?]*|O)?)?$/;
const LONE_ESCAPES = /^\x1b+$/;
/** What follows the escape character of a sequence. */
const REST_OF_SEQUENCE = /^[\x1b[\]OP_]/;
/** Timeouts for the rest of a sequence: short for a lone Escape, which must not feel slow; nobody types longer starts. */
const LONE_ESCAPE_MS = 30;
const PARTIAL_MS = 250;
/** Escape right before a paste or a report of the terminal. Neither is a key, so this is not Alt with a key. */
const ESCAPE_KEY = /\x1b(?=\x1b(?:\[(?:\??[\d;]*[nRct]|200~)|[\]P_]))/g;
/** Escape in the Kitty protocol, which cannot be confused with the start of a sequence. */
const ESCAPE = "\x1b[27u";
/** Escape or Ctrl+C, in every encoding. */
const ESCAPE_OR_CTRL_C = /^(?:\x1b|\x03|\x1b\[(?:27(?:;1)?|99;5)u|\x1b\[27;5;99~)$/;
/** After a pause this long inside a paste, a key is not part of it. */
const QUIET_PASTE_MS = 500;

/**
 * Reassembles terminal input: keys that a slow connection has split, and pastes, which arrive in thousands of chunks.
 * The cost is linear in the input, however large the paste.
 */
export class InputGatherer {
	/** The start of a key, or of the sequence that starts or ends a paste. */
	#held = "";
	/** The chunks of an unfinished paste. */
	#paste: string[] | null = null;
	#timer: NodeJS.Timeout | undefined;
	#readAt = 0;

	/** @param emit receives keys as they arrive, and each paste in one call, with its start and end sequence */
	constructor(private readonly emit: (data: string) => void) {}

	/** Adds input. */
	push(chunk: string): void {
		clearTimeout(this.#timer);
		const quietMs = monotonicMs() - this.#readAt;
		this.#readAt += quietMs;
		if (this.#paste !== null && quietMs > QUIET_PASTE_MS && ESCAPE_OR_CTRL_C.test(chunk)) {
			this.#endPaste(this.#paste);
			return;
		}
		// The rest of a sequence may be late. A character this late was not pressed with Alt.
		const isLate = this.#paste === null && quietMs >= LONE_ESCAPE_MS && !REST_OF_SEQUENCE.test(chunk);
		if (isLate && LONE_ESCAPES.test(this.#held)) this.#emitHeld();
		let data = this.#held + chunk;
		this.#held = "";
		while (data !== "") data = this.#paste === null ? this.#takeKeys(data) : this.#takePaste(data, this.#paste);
	}

	/** Drops unfinished input. */
	stop(): void {
		clearTimeout(this.#timer);
		this.#held = "";
		this.#paste = null;
	}

	/** @returns the input after the start of a paste; empty when it contains only keys */
	#takeKeys(read: string): string {
		const data = read.replace(ESCAPE_KEY, ESCAPE);
		const start = data.indexOf(PASTE_START);
		if (start !== -1) {
			if (start > 0) this.emit(data.slice(0, start));
			this.#paste = [PASTE_START];
			return data.slice(start + PASTE_START.length);
		}
		const partial = PARTIAL.exec(data)?.[0] ?? "";
		const complete = data.slice(0, data.length - partial.length);
		if (complete !== "") this.emit(complete);
		if (partial !== "") this.#hold(partial);
		return "";
	}

	/** @returns the input after the paste */
	#takePaste(data: string, pieces: string[]): string {
		const end = data.indexOf(PASTE_END);
		if (end === -1) {
			// The end sequence may be split.
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
	 * Ends a paste whose end sequence is missing, which would swallow every key; the key that triggers this is consumed.
	 * A timeout alone does not end a paste: on a slow connection the rest would be read as keys and its first line sent.
	 */
	#endPaste(pieces: string[]): void {
		const rest = this.#held;
		this.stop();
		this.emit([...pieces, rest, PASTE_END].join(""));
	}

	#hold(partial: string): void {
		this.#held = partial;
		const timer = setTimeout(
			() => {
				// If the event loop was busy, the rest may have arrived but not been read yet.
				setImmediate(() => {
					if (this.#timer === timer) this.#emitHeld();
				});
			},
			LONE_ESCAPES.test(partial) ? LONE_ESCAPE_MS : PARTIAL_MS,
		);
		this.#timer = timer;
	}

	#emitHeld(): void {
		const held = this.#held;
		this.#held = "";
		// Two escape characters are Escape twice: a slow connection delivers them together. The library waits after an escape
		// character, too, and would take the start of a report that follows as part of the key.
		const keys = LONE_ESCAPES.test(held) ? Array<string>(held.length).fill(ESCAPE) : [held];
		for (const key of keys) if (key !== "") this.emit(key);
	}
}
