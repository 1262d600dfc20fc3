import { stripAll } from "../util/sanitize.js";

/** How a window shows what is no text of the screen, and what of it the user wants. */
export interface WindowOptions {
	/** Writes control sequences to the terminal. */
	write(data: string): void;
	title: boolean;
	progress: boolean;
	/** How messages are shown; null: never. */
	notification: "osc9" | "osc777" | "bell" | null;
}

const ST = "\x07";
/** Puts the title that the terminal has aside, and back. Terminals without a stack of titles ignore it. */
const KEEP_TITLE = "\x1b[22;2t";
const OLD_TITLE = "\x1b[23;2t";
const FOCUS_REPORTS_ON = "\x1b[?1004h";
const FOCUS_REPORTS_OFF = "\x1b[?1004l";
const FOCUS_GAINED = "\x1b[I";
const FOCUS_LOST = "\x1b[O";
const PROGRESS_ON = `\x1b]9;4;3${ST}`;
const PROGRESS_OFF = `\x1b]9;4;0${ST}`;
/** Terminals take a program that is silent for long for one that died, and end its progress; ms. */
const PROGRESS_AGAIN_MS = 5_000;
/** Characters of a title or a message. */
const MAX_LENGTH = 120;

/**
 * The window around the screen: its title, its progress mark, and messages for a user who looks elsewhere. What it turns
 * on in the terminal it turns off in `stop`.
 */
export class TerminalWindow {
	#title = "";
	#busy = false;
	#focused = true;
	#running = false;
	#timer: NodeJS.Timeout | null = null;

	constructor(private options: WindowOptions) {}

	/** Shows other things from here on. */
	use(wishes: Partial<Omit<WindowOptions, "write">>): void {
		const isRunning = this.#running;
		this.stop();
		this.options = { ...this.options, ...wishes };
		if (isRunning) this.start();
	}

	/** False once the terminal has said that the user went elsewhere; many never say. */
	get isFocused(): boolean {
		return this.#focused;
	}

	/** What the title says; control characters do not get there. */
	set title(text: string) {
		const title = plain(text);
		if (title === this.#title) return;
		this.#title = title;
		this.#writeTitle();
	}

	/** Whether something goes on. */
	set busy(busy: boolean) {
		if (busy === this.#busy) return;
		this.#busy = busy;
		this.#showProgress();
	}

	/** Takes the window; call it again after each `stop`. */
	start(): void {
		if (this.#running) return;
		this.#running = true;
		this.#focused = true;
		const { title, notification, write } = this.options;
		if (title) write(KEEP_TITLE);
		if (notification !== null) write(FOCUS_REPORTS_ON);
		this.#writeTitle();
		this.#showProgress();
	}

	/** Gives the window back as it was. */
	stop(): void {
		if (!this.#running) return;
		const { title, progress, notification, write } = this.options;
		this.#endTimer();
		if (progress && this.#busy) write(PROGRESS_OFF);
		if (notification !== null) write(FOCUS_REPORTS_OFF);
		if (title) write(OLD_TITLE);
		this.#running = false;
	}

	/** Takes what the terminal says of the focus. @returns true when the input was such a report */
	handleInput(data: string): boolean {
		if (data !== FOCUS_GAINED && data !== FOCUS_LOST) return false;
		this.#focused = data === FOCUS_GAINED;
		return true;
	}

	/** Tells a user who looks elsewhere; does nothing while the window has the focus. */
	notify(text: string): void {
		const { notification, write } = this.options;
		if (notification === null || this.#focused || !this.#running) return;
		// The name in front keeps a message from being read as one of the numbered commands of OSC 9.
		const message = plain(`pi · ${text}`);
		if (notification === "osc9") write(`\x1b]9;${message}${ST}`);
		else if (notification === "osc777") write(`\x1b]777;notify;pi;${message.replaceAll(";", ",")}${ST}`);
		else write("\x07");
	}

	#writeTitle(): void {
		if (this.options.title && this.#running && this.#title) this.options.write(`\x1b]2;${this.#title}${ST}`);
	}

	#showProgress(): void {
		const { progress, write } = this.options;
		if (!progress || !this.#running) return;
		if (!this.#busy) {
			if (this.#timer) write(PROGRESS_OFF);
			this.#endTimer();
			return;
		}
		write(PROGRESS_ON);
		this.#timer ??= setInterval(() => write(PROGRESS_ON), PROGRESS_AGAIN_MS).unref();
	}

	#endTimer(): void {
		if (this.#timer) clearInterval(this.#timer);
		this.#timer = null;
	}
}

function plain(text: string): string {
	return stripAll(text).replace(/\s+/g, " ").trim().slice(0, MAX_LENGTH).toWellFormed();
}
