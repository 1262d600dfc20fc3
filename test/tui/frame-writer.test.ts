import fc from "fast-check";
import { expect, test } from "vitest";
import { FrameWriter } from "../../src/tui/frame-writer.js";
import { VirtualTerminal } from "../helpers/virtual-terminal.js";

const COLUMNS = 24;

/** A terminal with rows of another program above, and a writer that draws on it. */
function createScreen(rows: number, others: number) {
	const terminal = new VirtualTerminal(COLUMNS, rows);
	const before = Array.from({ length: others }, (_, index) => `other ${index}`);
	for (const line of before) terminal.write(`${line}\r\n`);
	const writer = new FrameWriter();
	let redraws = 0;
	return {
		terminal,
		writer,
		before,
		get redraws() {
			return redraws;
		},
		/** Draws a frame. @returns the output */
		draw(lines: readonly string[], cursorLine = lines.length - 1, column = 0): string {
			const frame = { lines: [...lines], cursor: lines.length > 0 ? { line: cursorLine, column } : null, rows };
			let out = writer.lines.length > 0 ? writer.update(frame) : writer.redraw(frame, "");
			if (out === null) {
				redraws += 1;
				out = writer.redraw(frame, `\x1b[${rows}A\r\x1b[J`);
			}
			if (out) terminal.write(out);
			return out;
		},
	};
}

function numbered(count: number, name = "line"): string[] {
	return Array.from({ length: count }, (_, index) => `${name} ${index}`);
}

test("a frame that changes nothing writes nothing", () => {
	const screen = createScreen(10, 0);
	screen.draw(numbered(4));
	expect(screen.draw(numbered(4))).toBe("");
});

test("only changed lines are written", async () => {
	const screen = createScreen(10, 2);
	screen.draw(numbered(6));
	const out = screen.draw(numbered(6).with(1, "one").with(4, ""));
	expect(out).toBe("\x1b[?2026h\x1b[4A\r\x1b[Kone\x1b[3B\r\x1b[K\x1b[1B\x1b[1G\x1b[?2026l");
	expect(await screen.terminal.screen()).toEqual([...screen.before, "line 0", "one", "line 2", "line 3", "", "line 5"]);
});

test("lines below growing text are moved, not rewritten", async () => {
	const editor = ["─".repeat(COLUMNS), "draft", "─".repeat(COLUMNS)];
	const screen = createScreen(8, 3);
	screen.draw([...numbered(3), ...editor], 4);
	const out = screen.draw([...numbered(5), ...editor], 6);
	expect(out).not.toContain("─");
	expect(out).toContain("\x1b[2L");
	expect(await screen.terminal.scrollback()).toEqual([...screen.before, ...numbered(5), ...editor]);
});

test("text that grows by more than a screen scrolls above the lines below it, which are not rewritten", async () => {
	const editor = ["─".repeat(COLUMNS), "draft", "─".repeat(COLUMNS)];
	const screen = createScreen(9, 3);
	screen.draw([...numbered(3), ...editor], 4);
	const out = screen.draw([...numbered(25), ...editor], 26);
	expect(out).not.toContain("─");
	expect(await screen.terminal.scrollback()).toEqual([...screen.before, ...numbered(25), ...editor]);
});

test("a change above the screen requires a redraw", () => {
	const screen = createScreen(5, 0);
	screen.draw(numbered(12));
	expect(screen.writer.top).toBe(7);
	expect(screen.writer.update({ lines: numbered(12).with(6, "new"), cursor: null, rows: 5 })).toBeNull();
});

const text = fc.constantFrom("", "a", "bb", "x".repeat(COLUMNS), "─".repeat(COLUMNS), "\x1b[31mred\x1b[m", "語語");

/** One change of a screen: new lines replace some lines at a position. */
const change = fc.record({
	at: fc.double({ min: 0, max: 1, noNaN: true }),
	removed: fc.nat({ max: 4 }),
	added: fc.array(text, { maxLength: 25 }),
	cursor: fc.double({ min: 0, max: 1, noNaN: true }),
	lifts: fc.boolean(),
});

function plain(lines: readonly string[]): string[] {
	return lines.map((line) => line.replace(/\x1b\[[\d;]*m/g, ""));
}

test("after random changes the terminal shows the last frame and its cursor, and keeps the scrollback", async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.integer({ min: 1, max: 9 }),
			fc.nat({ max: 12 }),
			fc.array(change, { minLength: 1, maxLength: 12 }),
			async (rows, others, changes) => {
				const screen = createScreen(rows, others);
				const { terminal, writer } = screen;
				let lines = ["first", "second"];
				let lifted: string[] = [];
				screen.draw(lines);
				for (const { at, removed, added, cursor, lifts } of changes) {
					// Lines that have scrolled off do not change.
					const from = writer.top + Math.floor(at * Math.max(0, lines.length - writer.top));
					const next = lines.toSpliced(from, removed, ...added);
					if (next.length <= writer.top) continue;
					lines = next;
					const top = Math.max(writer.top, lines.length - rows);
					const cursorLine = top + Math.floor(cursor * (lines.length - 1 - top));
					screen.draw(lines, cursorLine, 3);
					expect(writer.top).toBe(top);
					const place = await terminal.cursor();
					const shown = await terminal.rowsNow();
					expect({ line: shown.slice(place.row - (cursorLine - top))[0] ?? "", column: place.column }).toEqual({
						line: plain(lines)[top],
						column: 3,
					});
					if (lifts) {
						lifted = [...lifted, ...lines.slice(0, top)];
						writer.lift(top);
						lines = lines.slice(top);
					}
				}
				expect(screen.redraws).toBe(0);
				const all = [...screen.before, ...plain([...lifted, ...lines])];
				while (all.at(-1) === "") all.pop();
				expect(await terminal.rowsNow(true)).toEqual(all);
			},
		),
		{ numRuns: 120 },
	);
});
