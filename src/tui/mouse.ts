import { visibleWidth } from "@mariozechner/pi-tui";
import { monotonicMs } from "../util/clock.js";
import { stripAll } from "../util/sanitize.js";
import { SHOWN_MS } from "./answer-guard.js";
import { isOfMouse, markOf, WHEEL } from "./clicks.js";
import { linkAddress, withoutLinks } from "./links.js";

/** What the mouse needs of the screen. */
export interface MouseHost {
	/** Writes control sequences to the terminal. */
	write(data: string): void;
	/** Passes input to the component with the focus. */
	type(data: string): void;
	/** Asks for the row of the cursor, from 0. */
	askCursor(onRow: (row: number) => void): void;
	openLink(address: string): void;
	columns(): number;
}

/** The frame on the screen. */
export interface ClickableFrame {
	/** As the components drew them. */
	readonly lines: readonly string[];
	/** The first line on the screen. */
	readonly top: number;
	/** The line with the cursor; null: the first line is on the first row. */
	readonly cursorLine: number | null;
}

/** Reports of presses, releases and the wheel, with positions beyond column 223. Terminals with another reporting ignore it. */
const REPORTS_ON = "\x1b[?1000h\x1b[?1006h";
const REPORTS_OFF = "\x1b[?1006l\x1b[?1000l";
const REPORT = /^\x1b\[<(\d{1,3});(\d{1,5});(\d{1,5})([Mm])$/;
/** Shift, Alt and Ctrl in the number of a button. */
const MODIFIERS = 4 | 8 | 16;
const LEFT = 0;
const WHEEL_UP = 64;
const WHEEL_DOWN = 65;
/** An answer of the terminal that takes longer belongs to a screen that may have changed. ms */
const MAX_ANSWER_MS = 1000;

/**
 * Clicks on rows and links, and the wheel, while a dialog or the pager is open. Otherwise the mouse belongs to the terminal, so that
 * text is selected and scrolled as everywhere. A click counts only if what it hits has been there for as long as an answer must be
 * on the screen: nothing may move under the pointer.
 */
export class Mouse {
	#isWanted = false;
	#isOpen = false;
	/** Between `start` and `stop`. */
	#isRunning = false;
	/** Whether the terminal sends reports. */
	#isOn = false;
	#frame: ClickableFrame | null = null;
	/** The marks on the rows of the screen, from its end. */
	#layout = "";
	#changedAt = 0;
	/** The cell where the left button is down, and the layout of that moment. */
	#pressed: { cell: string; changedAt: number } | null = null;

	constructor(
		private readonly host: MouseHost,
		private readonly now: () => number = monotonicMs,
	) {}

	/** Turns the mouse on or off, by the user's setting. */
	use(isWanted: boolean): void {
		this.#isWanted = isWanted;
		this.#update();
	}

	/** Call whenever another component gets the focus. @param isOverlay whether it is a dialog or the pager */
	follow(isOverlay: boolean): void {
		this.#isOpen = isOverlay;
		this.#changedAt = this.now();
		this.#pressed = null;
		this.#update();
	}

	/** Call after the screen has taken over the terminal. */
	start(): void {
		this.#isRunning = true;
		this.#update();
	}

	/** Call before the screen releases the terminal. */
	stop(): void {
		this.#isRunning = false;
		this.#update();
	}

	/** Must be called for each frame. */
	drew(frame: ClickableFrame): void {
		if (!this.#isOn) return;
		this.#frame = frame;
		const shown = frame.lines.slice(frame.top);
		const layout = `${shown.length}${shown.map((line) => `${markOf(line)}\n`).join("")}`;
		if (layout !== this.#layout) this.#changedAt = this.now();
		this.#layout = layout;
	}

	/** @returns true when the input is a report of the mouse, or would be mistaken for one of its inputs */
	handleInput(data: string): boolean {
		if (isOfMouse(data)) return true;
		const report = REPORT.exec(data);
		if (!report) return false;
		if (this.#isOn) this.#read(report);
		return true;
	}

	#read([, code = "", x = "", y = "", kind = ""]: RegExpExecArray): void {
		const button = Number(code) & ~MODIFIERS;
		if (button === WHEEL_UP) this.host.type(WHEEL.up);
		else if (button === WHEEL_DOWN) this.host.type(WHEEL.down);
		else if (button !== LEFT) this.#pressed = null;
		else if (kind === "M") {
			// What counts is what was there when the button went down, however long it stays down.
			const isSettled = this.now() - this.#changedAt >= SHOWN_MS;
			this.#pressed = isSettled ? { cell: `${x};${y}`, changedAt: this.#changedAt } : null;
		} else {
			const pressed = this.#pressed;
			this.#pressed = null;
			if (pressed?.cell === `${x};${y}` && pressed.changedAt === this.#changedAt)
				this.#click(Number(x) - 1, Number(y) - 1);
		}
	}

	#click(x: number, y: number): void {
		const frame = this.#frame;
		const changedAt = this.#changedAt;
		const clickedAt = this.now();
		if (!frame) return;
		const { lines, top, cursorLine } = frame;
		if (cursorLine === null) {
			this.#hit(lines[top + y], x);
			return;
		}
		this.host.askCursor((row) => {
			const isSame = this.#isOn && this.#changedAt === changedAt && this.now() - clickedAt <= MAX_ANSWER_MS;
			const line = cursorLine + y - row;
			if (isSame && line >= top) this.#hit(lines[line], x);
		});
	}

	#hit(line: string | undefined, x: number): void {
		if (line === undefined) return;
		const address = linkAt(line, x, this.host.columns());
		if (address !== null) this.host.openLink(address);
		else if (markOf(line) !== "") this.host.type(markOf(line));
	}

	#update(): void {
		const isOn = this.#isWanted && this.#isOpen && this.#isRunning;
		if (isOn === this.#isOn) return;
		this.#isOn = isOn;
		this.#frame = null;
		this.#layout = "";
		this.host.write(isOn ? REPORTS_ON : REPORTS_OFF);
	}
}

const LINK_PARTS = /\x1b\]8;[^;\x00-\x1f\x7f-\x9f]*;([^\x00-\x1f\x7f-\x9f]*)(?:\x07|\x1b\\)/;
/** An address in the text, without the sign that ends a sentence after it. */
const WRITTEN = /https?:\/\/[\x21-\x7e]*[\w/#=&-]/gi;
/** What a click may open: no file, which could be a program. */
const OPENED = /^(?:https?|mailto):/i;

/**
 * Finds the address at a column of a drawn line, from 0: that of a link, or one that is written there. One that ends at the
 * edge of the screen is not complete.
 */
export function linkAt(line: string, at: number, columns: number): string | null {
	let column = 0;
	let target = "";
	// Texts alternate with the targets of the links that begin after them; an empty one ends a link.
	for (const [index, part] of line.split(LINK_PARTS).entries()) {
		if (index % 2 === 1) target = part;
		else {
			const end = column + visibleWidth(part);
			if (at >= column && at < end && target !== "") return openedAddress(target);
			column = end;
		}
	}
	const text = stripAll(withoutLinks(line));
	for (const { index, 0: found } of text.matchAll(WRITTEN)) {
		const start = visibleWidth(text.slice(0, index));
		const end = start + visibleWidth(found);
		if (at >= start && at < end && end < columns - 1) return openedAddress(found);
	}
	return null;
}

function openedAddress(text: string): string | null {
	const address = linkAddress(text);
	return address !== null && OPENED.test(address) ? address : null;
}
