import { stripAll } from "../util/sanitize.js";

/** The window features that the user wants. */
export interface WindowOptions {
	/** Writes control sequences to the terminal. */
	write(data: string): void;
	title: boolean;
	progress: boolean;
	/** How notifications are sent; null: never. */
	notification: "osc9" | "osc777" | "bell" | null;
}

/** Shapes of the cursor (DECSCUSR); `usual` is that of the terminal. */
export type CursorShape = keyof typeof CURSOR_SHAPES;

const CURSOR_SHAPES = { usual: "\x1b[0 q", underline: "\x1b[4 q", bar: "\x1b[6 q" } as const;
const ST = "\x07";
/** Save and restore the terminal's title. Terminals without a title stack ignore them. */
const SAVE_TITLE = "\x1b[22;2t";
const RESTORE_TITLE = "\x1b[23;2t";
const FOCUS_REPORTS_ON = "\x1b[?1004h";
const FOCUS_REPORTS_OFF = "\x1b[?1004l";
const FOCUS_GAINED = "\x1b[I";
const FOCUS_LOST = "\x1b[O";
const PROGRESS_ON = `\x1b]9;4;3${ST}`;
const PROGRESS_OFF = `\x1b]9;4;0${ST}`;
/** Interval for repeating the progress mark, which terminals remove when a program is silent for long. */
const PROGRESS_AGAIN_MS = 5_000;
/** Maximum length of a title or a notification, in characters. */
const MAX_LENGTH = 120;

/**
 * The terminal's window: its title, its progress mark, and notifications while the user is in another window. `stop` turns
 * off everything that it has turned on.
 */
export class TerminalWindow {
	#title = "";
	#busy = false;
	/** False once the terminal has reported that the window lost the focus; many terminals never do. */
	#focused = true;
	#running = false;
	#timer: NodeJS.Timeout | null = null;
	#cursor: CursorShape = "usual";

	constructor(private options: WindowOptions) {}

	/** Changes the wanted features. */
	use(changes: Partial<Omit<WindowOptions, "write">>): void {
		const isRunning = this.#running;
		this.stop();
		this.options = { ...this.options, ...changes };
		if (isRunning) this.start();
	}

	/** Sets the title, without control characters. */
	set title(text: string) {
		const title = plain(text);
		if (title === this.#title) return;
		this.#title = title;
		this.#writeTitle();
	}

	/** Sets whether progress is shown. */
	set busy(busy: boolean) {
		if (busy === this.#busy) return;
		this.#busy = busy;
		this.#showProgress();
	}

	/** Sets the shape of the cursor. */
	set cursor(shape: CursorShape) {
		if (shape === this.#cursor) return;
		this.#cursor = shape;
		if (this.#running) this.options.write(CURSOR_SHAPES[shape]);
	}

	/** Turns on the features; call it again after each `stop`. */
	start(): void {
		if (this.#running) return;
		this.#running = true;
		this.#focused = true;
		const { title, notification, write } = this.options;
		if (title) write(SAVE_TITLE);
		if (notification !== null) write(FOCUS_REPORTS_ON);
		this.#writeTitle();
		this.#showProgress();
		if (this.#cursor !== "usual") write(CURSOR_SHAPES[this.#cursor]);
	}

	/** Restores the window. */
	stop(): void {
		if (!this.#running) return;
		const { title, progress, notification, write } = this.options;
		this.#endTimer();
		if (this.#cursor !== "usual") write(CURSOR_SHAPES.usual);
		if (progress && this.#busy) write(PROGRESS_OFF);
		if (notification !== null) write(FOCUS_REPORTS_OFF);
		if (title) write(RESTORE_TITLE);
		this.#running = false;
	}

	/** Handles focus reports. @returns true when the input is one */
	handleInput(data: string): boolean {
		if (data !== FOCUS_GAINED && data !== FOCUS_LOST) return false;
		this.#focused = data === FOCUS_GAINED;
		return true;
	}

	/** Sends a notification; does nothing while the window has the focus. */
	notify(text: string): void {
		const { notification, write } = this.options;
		if (notification === null || this.#focused || !this.#running) return;
		// The prefix keeps the terminal from reading a message as one of the numbered commands of OSC 9.
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
