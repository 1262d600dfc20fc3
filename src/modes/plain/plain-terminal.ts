import { isatty } from "node:tty";

/** A terminal that only goes forward: lines come in, text goes out. */
export interface PlainTerminal {
	/** Writes text, which holds no control characters but line ends. */
	write(text: string): void;
	/** Begins to read. */
	start(listener: PlainListener): void;
	/** Whether what is typed shows. A line that does not is read key by key, so that the terminal cannot echo it. */
	setEcho(isOn: boolean): void;
	/** Gives the terminal back. */
	stop(): void;
}

/** Who hears what is typed. */
export interface PlainListener {
	/** One line, or several at once when they were pasted. */
	onLines(lines: readonly string[]): void;
	/** Ctrl+C. */
	onInterrupt(): void;
	/** Ctrl+D on an empty line, or the terminal is gone. */
	onEnd(): void;
}

/** What follows a line within this time was pasted along with it: nobody types so fast. ms. */
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
		// The terminal is gone: that is another end than Ctrl+D.
		else process.kill(process.pid, "SIGHUP");
	};
	readonly #onInterrupt = () => this.#listener?.onInterrupt();
	/** The terminal may be gone: then there is nobody to tell, and a signal or the end of input says so too. */
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
		// One before may have stopped it.
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

	/** The keys that the terminal itself knows while it edits the line. @returns true when it was one of them */
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
