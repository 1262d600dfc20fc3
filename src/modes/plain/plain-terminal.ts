import { isatty, ReadStream } from "node:tty";
import { monotonicMs } from "../../util/clock.js";

/** A line that the user has ended. */
export interface TypedLine {
	text: string;
	/** When its first key arrived, as `Timing.now`; while the terminal edits lines, when it ended. */
	begunAt: number;
	/** Whether other text arrived with it, so that nobody typed it. */
	isPasted: boolean;
	/** Whether it was typed without an echo. */
	isSecret: boolean;
}

/** A line-oriented terminal. */
export interface PlainTerminal {
	/** Writes text without control characters other than line ends. */
	write(text: string): void;
	start(listener: PlainListener): void;
	/**
	 * Begins an empty line for a question. It is read key by key until `closeLine`, so that the time of its first key is known,
	 * and text that was typed before is not part of it.
	 * @returns what was being typed; nothing of hidden lines
	 */
	openLine(isHidden: boolean): Promise<string>;
	/** Lets the terminal edit lines again. @returns what was being typed; nothing of a hidden line */
	closeLine(): string;
	/** The unfinished line of a question, as echoed. */
	echoed(): string;
	/** Restores the terminal. */
	stop(): void;
}

/** Receives user input. */
export interface PlainListener {
	/** One line, or several pasted ones. */
	onLines(lines: readonly TypedLine[]): void;
	/** Ctrl+C. */
	onInterrupt(): void;
	/** Ctrl+D on an empty line. */
	onEnd(): void;
}

/** Lines that arrive within this time were pasted together, in ms. */
const PASTE_MS = 20;
/** After Ctrl+Z, the process is suspended before this time is over, in ms. */
const RESUME_MS = 50;

/** Standard input and output, with the terminal's own line editing except in questions. */
export class ProcessPlainTerminal implements PlainTerminal {
	#listener: PlainListener | null = null;
	#input: ReadStream = process.stdin;
	#isByKey = false;
	#isEchoing = false;
	#isSecret = false;
	#characters: string[] = [];
	#begunAt = 0;
	#lines: Omit<TypedLine, "isPasted">[] = [];
	#timer: NodeJS.Timeout | undefined;
	readonly #onData = (data: string) => this.#take(data);
	readonly #onEnd = () => {
		if (!isatty(0)) {
			// The terminal was closed.
			process.kill(process.pid, "SIGHUP");
			return;
		}
		// Ctrl+D ends the stream but not the terminal: a question may follow.
		this.#close();
		this.#input = new ReadStream(0);
		this.#open();
		this.#listener?.onEnd();
	};
	readonly #onInterrupt = () => this.#listener?.onInterrupt();
	/** Ignored: a signal or the end of the input also reports that the terminal was closed. */
	readonly #onError = () => {};

	write(text: string): void {
		process.stdout.write(text);
	}

	start(listener: PlainListener): void {
		this.#listener = listener;
		process.stdout.on("error", this.#onError);
		this.#open();
		process.on("SIGINT", this.#onInterrupt);
	}

	async openLine(isHidden: boolean): Promise<string> {
		if (!this.#listener) return "";
		const wasSecret = this.#isSecret;
		this.#setByKey(true);
		this.#isEchoing = false;
		this.#isSecret = isHidden;
		// The terminal now passes on the unfinished line that it was editing; it has been read after a whole turn of the event loop.
		await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
		this.#isEchoing = !isHidden;
		const typed = this.#takeUnfinished();
		return wasSecret || isHidden ? "" : typed;
	}

	closeLine(): string {
		const wasSecret = this.#isSecret;
		const typed = this.#takeUnfinished();
		this.#isSecret = false;
		this.#isEchoing = false;
		if (this.#isByKey) this.#setByKey(false);
		return wasSecret ? "" : typed;
	}

	echoed(): string {
		return this.#isEchoing ? this.#characters.map(echoOf).join("") : "";
	}

	stop(): void {
		clearTimeout(this.#timer);
		process.off("SIGINT", this.#onInterrupt);
		this.#setByKey(false);
		this.#close();
		this.#listener = null;
	}

	#open(): void {
		this.#input.on("error", this.#onError);
		this.#input.setRawMode(this.#isByKey);
		this.#input.setEncoding("utf8").on("data", this.#onData).on("end", this.#onEnd);
		// A previous mode may have paused it.
		this.#input.resume();
	}

	#close(): void {
		this.#input.off("data", this.#onData).off("end", this.#onEnd);
		this.#input.pause();
	}

	#setByKey(isOn: boolean): void {
		this.#isByKey = isOn;
		this.#input.setRawMode(isOn);
	}

	#takeUnfinished(): string {
		return this.#characters.splice(0).join("");
	}

	#take(data: string): void {
		for (const character of data) {
			if (this.#isByKey && this.#edit(character)) continue;
			if (this.#characters.length === 0) this.#begunAt = monotonicMs();
			if (character !== "\n" && character !== "\r") {
				this.#characters.push(character);
				if (this.#isEchoing) this.write(echoOf(character));
			} else {
				if (this.#isByKey) this.write("\n");
				const text = this.#takeUnfinished();
				this.#lines.push({ text, begunAt: this.#begunAt, isSecret: this.#isSecret });
			}
		}
		if (this.#lines.length === 0) return;
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => this.#passOn(), PASTE_MS);
	}

	#passOn(): void {
		const lines = this.#lines.splice(0);
		const isPasted = lines.length > 1 || this.#characters.length > 0;
		this.#listener?.onLines(lines.map((line) => ({ ...line, isPasted })));
	}

	/** Handles the keys with which the terminal edits its own lines. @returns false for other characters */
	#edit(character: string): boolean {
		switch (character) {
			case "\x03":
				this.#characters = [];
				this.#listener?.onInterrupt();
				return true;
			case "\x04":
				if (this.#characters.length === 0) this.#listener?.onEnd();
				return true;
			case "\x7f":
			case "\b":
				this.#erase(1);
				return true;
			case "\x15":
				this.#erase(this.#characters.length);
				return true;
			case "\x17": {
				const text = this.#characters.join("").trimEnd();
				this.#erase(this.#characters.length - [...text].lastIndexOf(" ") - 1);
				return true;
			}
			case "\x1a":
				this.#suspend();
				return true;
			default:
				return false;
		}
	}

	#erase(count: number): void {
		if (count === 0) return;
		const gone = this.#characters.splice(-count);
		if (!this.#isEchoing) return;
		for (const one of gone.reverse()) this.write("\b \b".repeat(columnsOf(echoOf(one))));
	}

	/** Suspends the program, which the terminal only does while it edits lines. */
	#suspend(): void {
		if (process.platform === "win32") return;
		// As the terminal does. After the resumption, nobody would see it.
		this.#characters = [];
		this.#input.setRawMode(false);
		// Time spent suspended counts, so the timer fires soon after the process resumes.
		setTimeout(() => {
			if (this.#listener && this.#isByKey) this.#input.setRawMode(true);
		}, RESUME_MS);
		process.kill(0, "SIGTSTP");
	}
}

/** A typed character as terminals echo it. */
function echoOf(character: string): string {
	const code = character.charCodeAt(0);
	if (code < 0x20) return `^${String.fromCharCode(code + 0x40)}`;
	return code >= 0x7f && code < 0xa0 ? "" : character;
}

/** Characters that most terminals draw in two columns. */
const WIDE =
	/[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

/** Columns of an echo, without the screen's library: what is erased needs no more than to look erased. */
function columnsOf(echo: string): number {
	return [...echo].reduce(
		(sum, character) => sum + (/\p{Mark}/u.test(character) ? 0 : WIDE.test(character) ? 2 : 1),
		0,
	);
}
