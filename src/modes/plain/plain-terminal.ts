import { isatty } from "node:tty";

/** A line-oriented terminal. */
export interface PlainTerminal {
	/** Writes text without control characters other than line ends. */
	write(text: string): void;
	start(listener: PlainListener): void;
	/** Turns the echo on or off. Hidden lines are read key by key, so that the terminal cannot echo them. */
	setEcho(isOn: boolean): void;
	/** Restores the terminal. */
	stop(): void;
}

/** Receives user input. */
export interface PlainListener {
	/** One line, or several pasted ones. */
	onLines(lines: readonly string[]): void;
	/** Ctrl+C. */
	onInterrupt(): void;
	/** Ctrl+D on an empty line. */
	onEnd(): void;
}

/** Lines that arrive within this time were pasted together, in ms. */
const PASTE_MS = 20;

/** Standard input and output, with the terminal's own line editing. */
export class ProcessPlainTerminal implements PlainTerminal {
	#listener: PlainListener | null = null;
	#isHidden = false;
	#partial = "";
	#lines: string[] = [];
	#timer: NodeJS.Timeout | undefined;
	readonly #onData = (data: string) => this.#take(data);
	readonly #onEnd = () => {
		if (isatty(0)) this.#listener?.onEnd();
		// The terminal was closed.
		else process.kill(process.pid, "SIGHUP");
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
		process.stdin.on("error", this.#onError);
		process.stdin.setRawMode(false);
		process.stdin.setEncoding("utf8").on("data", this.#onData).on("end", this.#onEnd);
		// A previous mode may have paused it.
		process.stdin.resume();
		process.on("SIGINT", this.#onInterrupt);
	}

	setEcho(isOn: boolean): void {
		this.#isHidden = !isOn;
		process.stdin.setRawMode(!isOn);
	}

	stop(): void {
		clearTimeout(this.#timer);
		process.off("SIGINT", this.#onInterrupt);
		process.stdin.off("data", this.#onData).off("end", this.#onEnd);
		this.setEcho(true);
		process.stdin.pause();
		this.#listener = null;
	}

	#take(data: string): void {
		for (const character of data) {
			if (this.#isHidden && this.#takeHidden(character)) continue;
			if (character !== "\n" && character !== "\r") this.#partial += character;
			else {
				this.#lines.push(this.#partial);
				this.#partial = "";
			}
		}
		if (this.#lines.length === 0) return;
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => this.#listener?.onLines(this.#lines.splice(0)), PASTE_MS);
	}

	/** Handles the editing keys that the terminal handles for visible lines. @returns false for other characters */
	#takeHidden(character: string): boolean {
		switch (character) {
			case "\x03":
				this.#partial = "";
				this.#listener?.onInterrupt();
				return true;
			case "\x04":
				if (this.#partial === "") this.#listener?.onEnd();
				return true;
			case "\x7f":
			case "\b":
				this.#partial = [...this.#partial].slice(0, -1).join("");
				return true;
			case "\x15":
				this.#partial = "";
				return true;
			default:
				return false;
		}
	}
}
