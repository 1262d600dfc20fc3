import type headless from "@xterm/headless";

/** The background of the terminal: one of pi's pages, or that of a color scheme. */
export type Page = keyof typeof PAGES;

/** Whether a page needs dark text. */
export function isLightPage(page: Page): boolean {
	return page === "light" || page === "solarized-light" || page === "catppuccin-latte";
}

export interface PictureOptions {
	/** Rows `[from, to)` of the buffer, counted from its first line including scrollback. */
	from?: number;
	to?: number;
	/** Text for screen readers. */
	title: string;
	/** Default: dark. */
	page?: Page;
}

/** Adjacent cells of one style. */
interface Run {
	column: number;
	text: string;
	width: number;
	style: CellStyle;
}

interface CellStyle {
	fill: string | null;
	background: string | null;
	/** Letters of the classes below. */
	classes: string;
}

const CELL = { width: 8.4, height: 18, fontSize: 14 } as const;
const PADDING = 16;
const PAGES = {
	dark: { page: "#16181d", edge: "#3a3f4b", text: "#d5d9e0" },
	light: { page: "#ffffff", edge: "#c8ccd4", text: "#24292f" },
	"solarized-dark": { page: "#002b36", edge: "#586e75", text: "#93a1a1" },
	"solarized-light": { page: "#fdf6e3", edge: "#d9d2c0", text: "#586e75" },
	gruvbox: { page: "#282828", edge: "#504945", text: "#ebdbb2" },
	nord: { page: "#2e3440", edge: "#4c566a", text: "#d8dee9" },
	"catppuccin-mocha": { page: "#1e1e2e", edge: "#45475a", text: "#cdd6f4" },
	"catppuccin-latte": { page: "#eff1f5", edge: "#bcc0cc", text: "#4c4f69" },
} as const;
type PageColors = (typeof PAGES)[Page];
/** The sixteen named colors, chosen to be readable on the page. */
const NAMED = [
	...["#3b4048", "#e06c75", "#8cc265", "#d9b36a", "#61a8f5", "#c882e0", "#45b5c4", "#c8ccd4"],
	...["#7f848e", "#f07f88", "#a5d97f", "#ecc77c", "#82bdff", "#d9a0ee", "#62d0de", "#ffffff"],
];
const FONT = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace";

/** Draws rows of a terminal as an SVG image that only needs a monospaced font. */
export function terminalSvg(
	terminal: headless.Terminal,
	{ from = 0, to, title, page = "dark" }: PictureOptions,
): string {
	const colors = PAGES[page];
	const buffer = terminal.buffer.active;
	const rows: Run[][] = [];
	for (let y = from; y < (to ?? buffer.length); y++) {
		const line = buffer.getLine(y);
		rows.push(line ? runsOf(line, terminal.cols, colors) : []);
	}
	while (rows.length > 0 && rows.at(-1)?.length === 0) rows.pop();
	const width = round(terminal.cols * CELL.width + 2 * PADDING);
	const height = rows.length * CELL.height + 2 * PADDING;
	const body = rows.flatMap((runs, row) => runs.map((run) => drawRun(run, row, colors)));
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
		`<title>${escapeXml(title)}</title>`,
		`<style>text{font:${CELL.fontSize}px ${FONT};white-space:pre;fill:${colors.text}}.b{font-weight:bold}.d{opacity:.6}.i{font-style:italic}.u{text-decoration:underline}</style>`,
		`<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8" fill="${colors.page}" stroke="${colors.edge}"/>`,
		...body,
		"</svg>",
		"",
	].join("\n");
}

function runsOf(line: headless.IBufferLine, columns: number, colors: PageColors): Run[] {
	const runs: Run[] = [];
	let open: Run | null = null;
	for (let column = 0; column < columns; column++) {
		const cell = line.getCell(column);
		if (!cell || cell.getWidth() === 0) continue;
		const text = cell.getChars() || " ";
		const style = styleOf(cell, colors);
		const isBlank = text === " " && style.background === null;
		// A run also ends before blanks and lines, so that each starts at its column in any font.
		const kind = LINES[text];
		if (open && !(sameStyle(open.style, style) && kind === LINES[open.text.at(-1) ?? ""])) open = null;
		if (
			isBlank &&
			(!open ||
				line
					.getCell(column + 1)
					?.getChars()
					.trim() === "")
		) {
			open = null;
			continue;
		}
		if (!open) {
			open = { column, text: "", width: 0, style };
			runs.push(open);
		}
		open.text += text;
		open.width += cell.getWidth();
	}
	return runs;
}

/** Characters drawn as shapes, because fonts leave gaps between them. */
const LINES: Record<string, "across" | "down" | "bar"> = { "─": "across", "│": "down", "▎": "bar" };

function drawRun({ column, text, width, style }: Run, row: number, colors: PageColors): string {
	const x = round(PADDING + column * CELL.width);
	const y = PADDING + row * CELL.height;
	const length = round(width * CELL.width);
	const paint = `fill="${style.fill ?? colors.text}"${style.classes.includes("d") ? ' class="d"' : ""}`;
	switch (LINES[text[0] ?? ""]) {
		case "across":
			return `<rect x="${x}" y="${y + CELL.height / 2}" width="${length}" height="1" ${paint}/>`;
		case "down":
			return `<rect x="${round(x + CELL.width / 2)}" y="${y}" width="1" height="${CELL.height}" ${paint}/>`;
		case "bar":
			return `<rect x="${x}" y="${y}" width="2" height="${CELL.height}" ${paint}/>`;
	}
	const { fill, background, classes } = style;
	const shade =
		background === null
			? ""
			: `<rect x="${x}" y="${y}" width="${length}" height="${CELL.height}" fill="${background}"/>`;
	if (text.trim() === "") return shade;
	const attributes = [
		fill === null ? "" : ` style="fill:${fill}"`,
		classes === "" ? "" : ` class="${[...classes].join(" ")}"`,
	];
	// `textLength` keeps the grid if the reader's font is wider or narrower.
	return `${shade}<text x="${x}" y="${y + 13}" textLength="${length}"${attributes.join("")}>${escapeXml(text)}</text>`;
}

function styleOf(cell: headless.IBufferCell, colors: PageColors): CellStyle {
	const fill = cell.isFgDefault() ? null : cssColor(cell.getFgColor(), cell.isFgRGB());
	const background = cell.isBgDefault() ? null : cssColor(cell.getBgColor(), cell.isBgRGB());
	const classes = `${cell.isBold() ? "b" : ""}${cell.isDim() ? "d" : ""}${cell.isItalic() ? "i" : ""}${cell.isUnderline() ? "u" : ""}`;
	if (!cell.isInverse()) return { fill, background, classes };
	return { fill: background ?? colors.page, background: fill ?? colors.text, classes };
}

function sameStyle(a: CellStyle, b: CellStyle): boolean {
	return a.fill === b.fill && a.background === b.background && a.classes === b.classes;
}

function cssColor(value: number, isRgb: boolean): string {
	if (isRgb) return hex([value >> 16, (value >> 8) & 0xff, value & 0xff]);
	const named = NAMED[value];
	if (named !== undefined) return named;
	if (value >= 232) return hex(Array<number>(3).fill(8 + (value - 232) * 10));
	const cube = value - 16;
	return hex(
		[cube / 36, (cube / 6) % 6, cube % 6].map((level) => (Math.floor(level) === 0 ? 0 : 55 + Math.floor(level) * 40)),
	);
}

function hex(channels: readonly number[]): string {
	return `#${channels.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}

function round(value: number): number {
	return Math.round(value * 10) / 10;
}

function escapeXml(text: string): string {
	return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
