import { Editor, wrapTextWithAnsi } from "@mariozechner/pi-tui";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { type Block, BlockList, LiveTUI } from "../../src/tui/live-tui.js";
import { createTheme } from "../../src/tui/theme.js";
import { propertyRuns } from "../helpers/property-blocks.js";
import { VirtualTerminal } from "../helpers/virtual-terminal.js";
import { Lines, numbered } from "./live-stage.js";

const OTHERS = ["other 0", "other 1", "other 2"];

/** A screen with lines and an editor, below the output of other programs. */
async function screenOf(content: string[] | Block, columns = 60, rows = 24) {
	const terminal = new VirtualTerminal(columns, rows);
	terminal.write(OTHERS.map((line) => `${line}\r\n`).join(""));
	const tui = new LiveTUI(terminal, { resizeDelayMs: 1 });
	tui.addChild(new Editor(tui, createTheme("plain").editor));
	tui.blocks.append(Array.isArray(content) ? new Lines(content) : content);
	tui.start();
	onTestFinished(() => tui.stop());
	await terminal.settle();
	return {
		terminal,
		tui,
		/** @returns the screen after it is drawn at that size */
		async resize(columns: number, rows: number): Promise<string[]> {
			const redraws = tui.fullRedraws;
			terminal.resize(columns, rows);
			await terminal.waitFor(() => tui.fullRedraws > redraws);
			return (await terminal.rowsNow()).map((line) => line.trimEnd());
		},
	};
}

test.each([
	["lower", 60, 8],
	["much lower", 60, 4],
	["narrower", 20, 24],
	["narrower and lower", 30, 8],
	["wider and lower", 90, 8],
])("a window that was temporarily %s shows each line once at its old size", async (_, columns, rows) => {
	const lines = numbered(0, 15).map((line) => line.slice(0, 19).trimEnd());
	const { terminal, resize } = await screenOf(lines);
	const drawn = [...lines, "─".repeat(60), "", "─".repeat(60)];
	for (let round = 0; round < 3; round += 1) {
		await resize(columns, rows);
		const screen = (await resize(60, 24)).filter((line) => !OTHERS.includes(line));
		if (round === 0) expect(screen).toEqual(drawn);
		// Later, lines that are in the scrollback twice stay there: the screen begins after them.
		else
			expect(screen.filter((line) => line !== "")).toEqual(drawn.slice(-screen.length).filter((line) => line !== ""));
		const all = (await terminal.rowsNow(true)).map((line) => line.trimEnd());
		const copies = lines.map((line) => all.filter((other) => other === line).length);
		expect(copies.filter((count) => count < 1 || count > 2)).toEqual([]);
	}
	expect((await terminal.scrollback()).slice(0, 3)).toEqual(OTHERS);
});

test("after random heights, a tall window shows each line once and keeps the output of other programs", async () => {
	const heights = fc.array(fc.integer({ min: 2, max: 40 }), { minLength: 1, maxLength: 6 });
	await fc.assert(
		fc.asyncProperty(heights, fc.integer({ min: 1, max: 40 }), async (sizes, count) => {
			const lines = numbered(0, count).map((line) => line.trimEnd());
			const { terminal, tui, resize } = await screenOf(lines);
			try {
				for (const rows of sizes) if (terminal.rows !== rows) await resize(60, rows);
				const screen = await resize(60, 50);
				const shown = screen.filter((line) => !OTHERS.includes(line));
				expect(shown).toEqual([...lines, "─".repeat(60), "", "─".repeat(60)]);
				expect((await terminal.rowsNow(true)).slice(0, 3)).toEqual(OTHERS);
			} finally {
				tui.stop();
			}
		}),
		propertyRuns(20, 4),
	);
}, 60_000);

/** A screen with a block of lines that streams in above the editor. */
async function streamOf() {
	const { terminal, tui, resize } = await screenOf([], 60, 24);
	const stream = new Lines([]);
	stream.done = false;
	tui.blocks.append(stream);
	tui.setFocus(tui.children[1] ?? null);
	let count = 0;
	const grow = (lines: number) => {
		stream.text = [...stream.text, ...Array.from({ length: lines }, () => `w${count++}w`)];
		stream.settledLines = Math.max(0, stream.text.length - 3);
	};
	return {
		terminal,
		tui,
		resize,
		/** Adds lines and draws them in the next frame of streaming text. */
		grow(lines: number) {
			grow(lines);
			tui.requestStreamFrame();
		},
		/** Adds lines and draws them at once. */
		async draw(lines: number) {
			grow(lines);
			tui.requestRender();
			await terminal.settle(18);
		},
		/** @returns numbers of the lines that are neither on the screen nor above it, and the maximum number of copies of a line */
		async found() {
			const lines = (await terminal.scrollback()).map((line) => line.trim()).filter((line) => /^w\d+w$/.test(line));
			const copies = Array.from({ length: count }, (_, at) => lines.filter((line) => line === `w${at}w`).length);
			return { lost: copies.flatMap((n, at) => (n === 0 ? [at] : [])), copies: Math.max(...copies) };
		},
	};
}

test("resizes while lines stream in, one by one, lose no line and leave at most one further copy", async () => {
	for (const sizes of [
		[
			[100, 30],
			[70, 18],
			[90, 24],
		],
		[
			[60, 40],
			[60, 12],
			[60, 40],
			[60, 12],
		],
		[
			[60, 12],
			[60, 24],
			[60, 12],
			[60, 24],
		],
	]) {
		const { terminal, tui, resize, grow, found } = await streamOf();
		for (let step = 0; step < 20; step++) grow(2);
		await terminal.settle();
		for (const [columns = 60, rows = 24] of sizes) {
			const resized = resize(columns, rows);
			grow(5);
			await resized;
			for (let step = 0; step < 5; step++) grow(3);
			await terminal.settle();
		}
		grow(60);
		const { lost, copies } = await found();
		expect({ sizes, lost }).toEqual({ sizes, lost: [] });
		expect(copies).toBeLessThanOrEqual(2);
		tui.stop();
	}
});

test("output in flight during resizes loses no line and leaves at most one further copy per resize", async () => {
	const size = fc.record({ columns: fc.integer({ min: 30, max: 90 }), rows: fc.integer({ min: 10, max: 40 }) });
	const race = fc.record({
		/** Numbers of lines that frames in flight add. */
		inFlight: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 4 }),
		sizes: fc.array(size, { minLength: 1, maxLength: 3 }),
		after: fc.integer({ min: 0, max: 20 }),
	});
	await fc.assert(
		fc.asyncProperty(
			fc.integer({ min: 0, max: 60 }),
			fc.array(race, { minLength: 1, maxLength: 3 }),
			async (before, races) => {
				const { terminal, tui, draw, found } = await streamOf();
				try {
					await draw(before);
					for (const { inFlight, sizes, after } of races) {
						terminal.hold();
						for (const lines of inFlight) await draw(lines);
						const { columns, rows } = sizes.at(-1) ?? terminal;
						const isSame = columns === terminal.columns && rows === terminal.rows;
						const redraws = tui.fullRedraws;
						for (const { columns, rows } of sizes) terminal.resize(columns, rows);
						terminal.arrive();
						if (!isSame) await terminal.waitFor(() => tui.fullRedraws > redraws);
						await draw(after);
					}
					await draw(60);
					const { lost, copies } = await found();
					expect(lost).toEqual([]);
					expect(copies).toBeLessThanOrEqual(1 + races.length);
				} finally {
					tui.stop();
				}
			},
		),
		propertyRuns(15, 7),
	);
}, 60_000);

test.each([
	["narrower and wider", [60, 90, 70, 100]],
	["narrow and back", [60, 100, 60, 100]],
	["wide and narrow", [120, 50, 120, 50]],
	["very narrow", [20, 100, 20, 100]],
])("paragraphs that wrap are in the scrollback at most twice after resizes one by one: %s", async (_, widths) => {
	const paragraphs = Array.from(
		{ length: 80 },
		(_, at) => `p${at}p is a paragraph that needs two rows in a narrow window, up to its end${at}`,
	);
	const wrapped: Block = {
		done: true,
		render: (width) => paragraphs.flatMap((text) => [...wrapTextWithAnsi(text, width - 2), ""]),
		invalidate: () => {},
	};
	const { terminal, resize } = await screenOf(wrapped, 100, 30);
	for (const columns of widths) await resize(columns, 30);
	const text = (await terminal.scrollback()).join("\n");
	for (const word of ["p#p", "end#"]) {
		const copies = paragraphs.map(
			(_, at) => text.match(new RegExp(`\\b${word.replace("#", `${at}`)}\\b`, "g"))?.length ?? 0,
		);
		expect({ word, wrong: copies.filter((count) => count === 0 || count > 2) }).toEqual({ word, wrong: [] });
		// Lines that were not on the screen are never drawn again.
		expect(copies.slice(0, 60).filter((count) => count > 1)).toEqual([]);
	}
});

test.each([
	["narrower", 25],
	["wider", 110],
])("a position in the transcript is found again in a %s window", (_, width) => {
	const words = Array.from({ length: 400 }, (_, word) => `word${word}`);
	const wrapped: Block = {
		done: true,
		render: (columns) => wrapTextWithAnsi(words.join(" "), columns - 2).map((line) => `\x1b[34m▎\x1b[m ${line}`),
		invalidate: () => {},
	};
	const list = new BlockList();
	list.append(wrapped);
	const text = list.render(60);
	list.lift(20);
	const { start } = list;
	list.lift(10);
	const { before } = list.restoreFrom(start, width);
	const first = list.render(width)[before];
	expect(first).toContain(text[20]?.split(" ")[1]);
});

test("what the transcript gets after random sizes with a tall dialog is on the screen", async () => {
	const size = fc.record({ columns: fc.integer({ min: 1, max: 90 }), rows: fc.integer({ min: 1, max: 30 }) });
	const tiny = [
		{ columns: 5, rows: 4 },
		{ columns: 1, rows: 13 },
	];
	await fc.assert(
		fc.asyncProperty(
			fc.array(size, { minLength: 1, maxLength: 5 }),
			fc.integer({ min: 1, max: 12 }),
			fc.integer({ min: 1, max: 6 }),
			async (sizes, height, lines) => {
				const { terminal, tui, resize } = await screenOf(numbered(0, lines));
				const dialog = new Lines(Array.from({ length: height }, (_, at) => `row ${at}`));
				tui.children.splice(1, 0, dialog);
				tui.requestRender();
				await terminal.settle();
				try {
					for (const { columns, rows } of [...sizes, { columns: 60, rows: 24 }]) {
						if (terminal.columns !== columns || terminal.rows !== rows) await resize(columns, rows);
					}
					tui.removeChild(dialog);
					tui.fillScreen();
					await terminal.settle();
					for (const text of ["added 0", "added 1", "added 2"]) {
						tui.blocks.append(new Lines([text]));
						tui.requestRender();
						await terminal.settle();
					}
					const screen = (await terminal.rowsNow()).map((line) => line.trimEnd()).join("\n");
					expect(screen).toMatch(/added 0\nadded 1\nadded 2\n─{60}\n\n─{60}/);
				} finally {
					tui.stop();
				}
			},
		),
		{ numRuns: 12, seed: 4, examples: [[tiny, 9, 1]] },
	);
}, 60_000);
