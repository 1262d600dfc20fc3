import { ProcessTerminal } from "@mariozechner/pi-tui";
import { InputGatherer } from "../input-gatherer.js";
import { PI_TUI_VERSION } from "./members.js";

type Listener = (data: string) => void;

/**
 * The terminal of the process. What is typed before it is started is taken as it was meant: the terminal's own line
 * editing has made a line feed of Enter. Keys and pastes that arrive in pieces are whole before anyone reads them.
 */
export class KeyboardTerminal extends ProcessTerminal {
	#gatherer: InputGatherer | undefined;
	#listen: Listener | undefined;

	override start(onInput: (data: string) => void, onResize: () => void): void {
		// It may be raw already, so that nothing typed is echoed while the program loads: `stop` must not go back to that.
		process.stdin.isRaw = false;
		let early = true;
		const others = new Set(process.stdin.listeners("data"));
		super.start((data) => onInput(early && data === "\n" ? "\r" : data), onResize);
		// What the base class reads with gets its input by way of the gatherer.
		const readers = process.stdin
			.listeners("data")
			.filter((listener) => !others.has(listener))
			.filter(isListener);
		if (readers.length === 0) {
			throw new TypeError(`pi needs pi-tui ${PI_TUI_VERSION}: ProcessTerminal does not read stdin in this version`);
		}
		for (const reader of readers) process.stdin.off("data", reader);
		const gatherer = new InputGatherer((data) => {
			for (const reader of readers) reader(data);
		});
		this.#gatherer = gatherer;
		this.#listen = (data) => {
			gatherer.push(data);
			early = false;
		};
		process.stdin.on("data", this.#listen);
	}

	override stop(): void {
		if (this.#listen) process.stdin.off("data", this.#listen);
		this.#gatherer?.stop();
		this.#listen = undefined;
		this.#gatherer = undefined;
		super.stop();
	}
}

/** What listens for `data` on a stream of text takes a text. */
function isListener(listener: unknown): listener is Listener {
	return typeof listener === "function";
}
