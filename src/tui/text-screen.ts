import { type Terminal, type TUI, TuiMainScreen } from "@mariozechner/pi-tui";
import { stripAll } from "../util/sanitize.js";
import { ContainedComponent, type ForeignComponent } from "./contained.js";
import { KEY_ACTIONS } from "./key-table.js";
import { createKeymap } from "./keymap.js";

/** A screen that nobody sees: draws components as text. */
export interface TextScreen {
	/** For components that need one. It draws nothing. */
	tui: TUI;
	/** The default keys. */
	keybindings: { matches(data: string, action: string): boolean };
	/** Draws a component, contained like on the screen. @param name names it in the line that replaces it if it fails */
	draw(component: ForeignComponent, name: string, onError: (error: unknown) => void): string[];
}

const same = (text: string): string => text;

/** Creates a screen of a fixed size. */
export function createTextScreen(columns: number, rows: number): TextScreen {
	const keymap = createKeymap();
	return {
		tui: new TuiMainScreen(new NoTerminal(columns, rows)),
		keybindings: {
			matches(data, name) {
				const known = KEY_ACTIONS.find(({ action }) => action === name);
				return known !== undefined && keymap.matches(data, known.action);
			},
		},
		draw(component, name, onError) {
			const view = new ContainedComponent(component, {
				name,
				errorStyle: same,
				maxRows: () => rows,
				onError,
				onDraw: () => {},
			});
			return view.render(columns).map((line) => stripAll(line.replaceAll(/\x1b_[^\x07]*\x07/g, "")).trimEnd());
		},
	};
}

/** A terminal that shows nothing. */
class NoTerminal implements Terminal {
	readonly kittyProtocolActive = false;

	constructor(
		readonly columns: number,
		readonly rows: number,
	) {}

	start(): void {}
	stop(): void {}
	async drainInput(): Promise<void> {}
	write(): void {}
	moveBy(): void {}
	hideCursor(): void {}
	showCursor(): void {}
	clearLine(): void {}
	clearFromCursor(): void {}
	clearScreen(): void {}
	setTitle(): void {}
	setProgress(): void {}
}
