import { ProcessTerminal } from "@mariozechner/pi-tui";
import { InputGatherer } from "../input-gatherer.js";
import { PI_TUI_VERSION } from "./members.js";

type Listener = (data: string) => void;

/**
 * The terminal of the process, with keys and pastes that arrive in pieces reassembled. Input from before the start went
 * through the terminal's line editing, which turns Enter into a line feed; this class turns it back.
 */
export class KeyboardTerminal extends ProcessTerminal {
	#gatherer: InputGatherer | undefined;
	#listen: Listener | undefined;

	override start(onInput: (data: string) => void, onResize: () => void): void {
		// The terminal may already be raw, to suppress echo while the program loads; `stop` must not restore that state.
		process.stdin.isRaw = false;
		let early = true;
		const others = new Set(process.stdin.listeners("data"));
		super.start((data) => onInput(early && data === "\n" ? "\r" : data), onResize);
		// The listeners of the base class get their input through the gatherer.
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

/** Every listener for `data` on a text stream accepts a string. */
function isListener(listener: unknown): listener is Listener {
	return typeof listener === "function";
}
