import { ProcessTerminal } from "@mariozechner/pi-tui";

/**
 * The terminal of the process. What is typed before it is started is taken as it was meant: the terminal's own line
 * editing has made a line feed of Enter.
 */
export class KeyboardTerminal extends ProcessTerminal {
	override start(onInput: (data: string) => void, onResize: () => void): void {
		// It may be raw already, so that nothing typed is echoed while the program loads: `stop` must not go back to that.
		process.stdin.isRaw = false;
		let early = false;
		process.stdin.once("data", () => {
			early = true;
			// The base class hands on all of what was read while it is told of it.
			queueMicrotask(() => {
				early = false;
			});
		});
		super.start((data) => onInput(early && data === "\n" ? "\r" : data), onResize);
	}
}
