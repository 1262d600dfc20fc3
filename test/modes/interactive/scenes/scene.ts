import { tmpdir } from "node:os";
import { visibleWidth } from "@mariozechner/pi-tui";
import { expect, onTestFinished, vi } from "vitest";
import type { Rgb } from "../../../../src/themes/color.js";
import { FullScreen } from "../../../../src/tui/full-screen.js";
import { LiveTUI } from "../../../../src/tui/live-tui.js";
import { cellContrast, type Page } from "../../../helpers/contrast.js";
import type { KeyName } from "../../../helpers/keys.js";
import { tempDir } from "../../../helpers/temp.js";
import { type App, type AppOptions, startApp } from "../app.js";

/** Something that a person can see. */
export interface Scene {
	/** Of its snapshot. */
	name: string;
	/** Opens it on the screen that the previous scene left. */
	open(app: App): Promise<unknown>;
	/** What must be on the screen at every size; if it is in the transcript, which scrolls, not at few rows. */
	title: RegExp;
	isTranscript?: boolean;
	/** The selected row of its list, which must be on the screen at every size. */
	selected?: RegExp;
	/** Keys that close it. Default: Escape. */
	close?: readonly KeyName[];
	/** Number of rows at which colors and text are compared. Default: 24. */
	rows?: number;
	/** A row that a hook styled when it was drawn, and that keeps those styles. Its contrast is not measured. */
	styledOnce?: RegExp;
	/** Why it has no snapshot: other tests have one, its text differs between runs, or from one second to the next. */
	unpinned?: "pinned elsewhere" | "varies" | "ticks";
}

const WIDTHS = [40, 80, 120];
const LOW_ROWS = 12;

const BLACK: Rgb = [0, 0, 0];
const WHITE: Rgb = [255, 255, 255];
const ON_BLACK: Page = { text: [204, 204, 204], background: BLACK };
const ON_WHITE: Page = { text: [51, 51, 51], background: WHITE };

/** A theme with the pages on which its text must be readable. */
interface Look {
	name: string;
	theme: string;
	/** Whether the terminal reports a light background. Default: a dark one. */
	isLight?: boolean;
	pages: readonly Page[];
	/** Least contrast of text; `named`: of text in one of the sixteen colors, whose values are the terminal's. */
	least: { fixed: number; named: number };
}

const LOOKS: readonly Look[] = [
	// As src/themes/contrast.ts requires.
	{ name: "dark", theme: "dark", pages: [ON_BLACK], least: { fixed: 2, named: 1.5 } },
	{ name: "light", theme: "light", pages: [ON_WHITE], least: atLeast(4.5) },
	{
		name: "nord",
		theme: "nord",
		pages: [ON_BLACK, { text: [216, 222, 233], background: [46, 52, 64] }],
		least: atLeast(4.5),
	},
	{
		name: "catppuccin-latte",
		theme: "catppuccin-latte",
		pages: [ON_WHITE, { text: [76, 79, 105], background: [239, 241, 245] }],
		least: atLeast(4.5),
	},
	{ name: "high-contrast on dark", theme: "high-contrast", pages: [ON_BLACK], least: atLeast(7) },
	{ name: "high-contrast on light", theme: "high-contrast", isLight: true, pages: [ON_WHITE], least: atLeast(7) },
];
/** Characters of lines and frames, which are no text. */
const LINES = /^[─│╭╮╰╯├┤┬┴┼┌┐└┘▎]*$/;

function atLeast(ratio: number): Look["least"] {
	return { fixed: ratio, named: ratio };
}

/** Starts an app whose theme `playScenes` can change. */
export async function startStory(options: AppOptions = {}): Promise<App> {
	const nowhere = tempDir();
	const dirs = { user: `${nowhere}/themes`, project: `${nowhere}/project/.pi/themes` };
	const { mode, ...others } = options;
	return startApp({
		...others,
		mode: { theme: { level: 3, background: "dark", queryBackground: true, dirs }, ...mode },
	});
}

/** Opens each scene and checks it at all widths, at few rows, and in several themes. */
export async function playScenes(app: App, scenes: readonly Scene[]): Promise<void> {
	const problems: string[] = [];
	const snapshots: [string, string][] = [];
	const watched = watchFrames();
	for (const scene of scenes) {
		await scene.open(app);
		await app.terminal.waitFor(scene.title);
		const shown: string[] = [];
		for (const columns of WIDTHS) {
			const where = `${scene.name} at ${columns} columns`;
			const found = (problem: string) => void problems.push(`${where}: ${problem}`);
			if (!scene.isTranscript) {
				await resize(app, columns, LOW_ROWS);
				await checkPlaces(app, scene, (problem) => found(`${LOW_ROWS} rows: ${problem}`));
			}
			await resize(app, columns, scene.rows ?? 24);
			// The rows that frames of other sizes left are not compared.
			await drawn(app, () => app.settings.override("theme", "light"));
			await drawn(app, () => {
				watched.tui?.requestRender(true);
				app.settings.override("theme", "dark");
			});
			const text = stable(await app.terminal.rowsNow());
			shown.push(`── ${columns} columns ──\n${scene.isTranscript ? text : fromRule(text)}\n`);
			await checkPlaces(app, scene, found);
			for (const problem of controlsIn(text)) found(problem);
			await checkLooks(app, scene, text, found);
			for (const line of watched.tooWide.splice(0)) found(`too wide: ${line}`);
		}
		if (scene.unpinned === undefined) snapshots.push([scene.name, shown.join("\n")]);
		await resize(app, 80, 24);
		await app.terminal.press(...(scene.close ?? ["escape"]));
	}
	expect.soft(problems).toEqual([]);
	for (const [name, text] of snapshots) {
		await expect.soft(text).toMatchFileSnapshot(`../../../screens/scenes/${name}.txt`);
	}
}

/** What frames are made of. */
interface Watched {
	/** The screen that was drawn last. */
	tui: LiveTUI | null;
	/** The lines that components have drawn wider than the screen, which cuts them. */
	tooWide: string[];
}

function watchFrames(): Watched {
	const tooWide: string[] = [];
	const watched: Watched = { tui: null, tooWide };
	const check = (lines: readonly string[], width: number) => {
		for (const line of lines) if (visibleWidth(line) > width) tooWide.push(JSON.stringify(line));
	};
	const render = LiveTUI.prototype.render;
	const main = vi.spyOn(LiveTUI.prototype, "render").mockImplementation(function (this: LiveTUI, width) {
		watched.tui = this;
		const lines = render.call(this, width);
		check(lines, width);
		return lines;
	});
	const frame = FullScreen.prototype.frame;
	const full = vi.spyOn(FullScreen.prototype, "frame").mockImplementation(function (this: FullScreen, columns, rows) {
		const out = frame.call(this, columns, rows);
		check(this.lines, columns);
		return out;
	});
	onTestFinished(() => {
		main.mockRestore();
		full.mockRestore();
	});
	return watched;
}

/** The end of a frame. */
const FRAME_END = "\x1b[?2026l";

/** Does something that draws a frame, and waits for it. */
async function drawn({ terminal }: App, act: () => void): Promise<void> {
	const before = terminal.writes.length;
	act();
	await vi.waitFor(
		() => {
			if (!terminal.writes.slice(before).some((data) => data.includes(FRAME_END))) throw new Error("No frame yet");
		},
		{ timeout: 5000, interval: 2 },
	);
}

async function resize(app: App, columns: number, rows: number): Promise<void> {
	if (app.terminal.columns === columns && app.terminal.rows === rows) return;
	// What the terminal keeps of the frame before is not compared.
	app.terminal.write("\x1b[2J\x1b[3J");
	await drawn(app, () => app.terminal.resize(columns, rows));
}

async function checkPlaces({ terminal }: App, scene: Scene, found: (problem: string) => void): Promise<void> {
	const text = (await terminal.rowsNow()).join("\n");
	if (!scene.title.test(text)) found(`${scene.title} is not shown:\n${text}`);
	if (scene.selected && !scene.selected.test(text)) found(`the selected row ${scene.selected} is not shown:\n${text}`);
}

/** Problems with characters that a terminal does not draw, and with the remains of escape sequences. */
function controlsIn(text: string): string[] {
	return [...text.matchAll(/.{0,20}(?:[\x00-\x09\x0b-\x1f\x7f-\x9f]|\[[\d;]+m|\]8;|_pi:).{0,20}/g)].map(
		([shown]) => `control characters in ${JSON.stringify(shown)}`,
	);
}

async function checkLooks(app: App, scene: Scene, text: string, found: (problem: string) => void): Promise<void> {
	for (const look of LOOKS) {
		if (look.theme !== app.settings.current.theme) {
			await drawn(app, () => app.settings.override("theme", look.theme));
		}
		if (look.isLight) await drawn(app, () => app.terminal.send("\x1b[?997;2n"));
		const rows = await app.terminal.cells();
		const shown = stable(await app.terminal.rowsNow());
		if (shown !== text && scene.unpinned !== "ticks")
			found(`${look.name} shows another text:\n${shown}\ninstead of\n${text}`);
		for (const row of rows) {
			if (scene.styledOnce?.test(row.map((cell) => cell.text || " ").join(""))) continue;
			const weak = new Map<string, string>();
			for (const cell of row) {
				if (cell.text.trim() === "" || LINES.test(cell.text)) continue;
				const ratios = look.pages.map((page) => cellContrast(cell, page));
				const ratio = Math.min(...ratios.map((one) => one.ratio));
				if (ratio >= (ratios[0]?.isNamed ? look.least.named : look.least.fixed)) continue;
				const style = `${ratio.toFixed(2)} of ${JSON.stringify({ ...cell, text: undefined })}`;
				weak.set(style, (weak.get(style) ?? "") + cell.text);
			}
			for (const [style, letters] of weak) found(`${look.name}: ${JSON.stringify(letters)} has a contrast of ${style}`);
		}
	}
	await drawn(app, () => app.terminal.send("\x1b[?997;1n"));
	await drawn(app, () => app.settings.override("theme", "dark"));
}

/** The text from the rule above a dialog or the editor on. */
function fromRule(text: string): string {
	const at = text.search(/^─+$/m);
	return at < 0 ? text : text.slice(at);
}

/** The text without what differs between runs. */
function stable(rows: readonly string[]): string {
	return rows
		.map((row) =>
			row
				.replace(/(Current working directory: ).*?(?= {2}|$)/, (path, words) => `${words}…`.padEnd(path.length))
				.trimEnd()
				.replaceAll(tmpdir(), "/tmp")
				.replace(/(\/pi-[a-z-]+-)\w{6}/g, "$1XXXXXX")
				// The length of the path counts.
				.replace(/( environment: .* )\d\d(?=(?: +\w+)?$)/, "$1NN")
				.replace(/Date: \d{4}-\d\d-\d\d/, "Date: 2026-01-02")
				.replace(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/, "⠋")
				.replace(/\b\d+(?:\.\d)? (?:ms|s)\b/g, "N s"),
		)
		.join("\n")
		.replace(/^\n+/, "");
}
