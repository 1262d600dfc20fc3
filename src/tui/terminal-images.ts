import { allocateImageId, encodeITerm2, getCellDimensions } from "@mariozechner/pi-tui";
import { endsAsPng, imageSize, isBase64 } from "./image-size.js";
import type { CellImages } from "./tmux-images.js";

/** The protocol in which a terminal receives images. `cells`: through tmux, as cells of text over which the terminal draws them. */
export type ImageProtocol = "kitty" | "iterm2" | "cells";

/** How it is found out whether images can be drawn as cells. */
export interface CellSearch {
	/** Called once, when there is a first image. @returns null if they cannot */
	find(): Promise<CellImages | null>;
	/** Called when images can be drawn from now on. */
	onFound(): void;
}

/** An image as it is stored in messages. */
export interface ImageData {
	/** Base64. */
	readonly data: string;
	readonly mimeType: string;
}

/** Maximum size of an image on the screen, in columns and rows. */
export interface ImageRoom {
	columns: number;
	rows: number;
}

/** Maximum length of a chunk of data in Kitty's protocol, in characters. */
const CHUNK_LENGTH = 4_096;
/** Terminals reject images with a longer side, in pixels. */
const MAX_PIXELS = 10_000;
/** Fewer rows would show nothing recognizable. */
const MIN_ROWS = 2;
/**
 * Marks the line where an image ends: id, columns, rows. It has the form of Kitty's sequences, so that pi-tui treats the
 * line as an image and the mark as zero-width.
 */
const MARK = /\x1b_Gi=(\d{1,10}),c=(\d{1,4}),r=(\d{1,4});\x1b\\/g;

/**
 * Images on a terminal. Lines contain short marks, which keep frames cheap; `expand` replaces them with the terminal's
 * sequences when the frame is written. If the protocol allows it, the data of an image is sent only once.
 */
export class TerminalImages {
	readonly #images = new Map<number, ImageData>();
	/** Images whose data the terminal has received. */
	readonly #sent = new Set<number>();
	/** Placement number of each image on the screen. */
	readonly #placed = new Map<number, number>();
	#placements = 0;
	readonly #protocol: "kitty" | "iterm2" | null;
	/** Draws images as cells; null if it is not known whether that is possible, or not needed. */
	#cells: CellImages | null = null;
	#search: CellSearch | null;

	/** @param protocol null if the terminal cannot draw images, or only as cells */
	constructor(protocol: "kitty" | "iterm2" | null = null, search: CellSearch | null = null) {
		this.#protocol = protocol;
		this.#search = search;
	}

	/** null if the terminal cannot draw images. */
	get protocol(): ImageProtocol | null {
		return this.#cells ? "cells" : this.#protocol;
	}

	/** Whether the terminal draws images, but not this type: Kitty's protocol supports only PNG. */
	cannotDraw(mimeType: string): boolean {
		return this.protocol !== null && this.protocol !== "iterm2" && mimeType !== "image/png";
	}

	/** Adds an image. @returns its id; null when it is corrupt or cannot be drawn on this terminal */
	add(image: ImageData): number | null {
		this.#findCells();
		if (!this.protocol) return null;
		const size = imageSize(image.data, image.mimeType);
		if (!size || Math.max(size.width, size.height) > MAX_PIXELS || !isBase64(image.data)) return null;
		if (this.cannotDraw(image.mimeType)) return null;
		if (image.mimeType === "image/png" && !endsAsPng(image.data)) return null;
		const id = this.#cells ? this.#cells.newId() : allocateImageId();
		if (id !== null) this.#images.set(id, image);
		return id;
	}

	/**
	 * Lays out an image, at most in its natural size.
	 * @returns blank lines and a last one with the image's mark, or lines of cells after the mark; null when the room is too small
	 */
	lines(id: number, room: ImageRoom): string[] | null {
		const image = this.#images.get(id);
		const size = image && imageSize(image.data, image.mimeType);
		if (!size || room.columns < 1 || room.rows < MIN_ROWS) return null;
		const cell = getCellDimensions();
		const scale = Math.min(1, (room.columns * cell.widthPx) / size.width, (room.rows * cell.heightPx) / size.height);
		const columns = between(Math.round((size.width * scale) / cell.widthPx), room.columns);
		const rows = between(Math.ceil((size.height * scale) / cell.heightPx), room.rows);
		const mark = `\x1b_Gi=${id},c=${columns},r=${rows};\x1b\\`;
		if (this.#cells) {
			const [first = "", ...others] = this.#cells.rows(id, columns, rows);
			return [mark + first, ...others];
		}
		const blank = Array.from({ length: rows - 1 }, () => "");
		return [...blank, mark];
	}

	/** Replaces the marks in a frame with the terminal's sequences. */
	expand(frame: string): string {
		if (!hasImage(frame)) return frame;
		return frame.replace(MARK, (_all, id: string, columns: string, rows: string) =>
			this.#draw(Number(id), Number(columns), Number(rows)),
		);
	}

	/** @returns output that removes all images from the screen; clearing rows does not remove them */
	removeAll(): string {
		return [...this.#placed.keys()].map((id) => this.#remove(id)).join("");
	}

	/** Leaves the images of lines that have scrolled off in the scrollback, even if they are drawn again below. */
	leave(lines: readonly string[]): void {
		if (this.#placed.size === 0) return;
		for (const line of lines) for (const [, id] of line.matchAll(MARK)) this.#placed.delete(Number(id));
	}

	/** Assumes that the terminal has lost all images because another program has used it. */
	forgetSent(): void {
		this.#sent.clear();
		this.#placed.clear();
	}

	/** Drops all images. */
	clear(): void {
		this.#images.clear();
		this.#sent.clear();
		this.#cells?.reset();
	}

	#findCells(): void {
		const search = this.#search;
		this.#search = null;
		search?.find().then(
			(cells) => {
				this.#cells = cells;
				if (cells) search.onFound();
			},
			() => {},
		);
	}

	/** @returns output that removes an image from the screen; the terminal keeps its data */
	#remove(id: number): string {
		const placement = this.#placed.get(id);
		this.#placed.delete(id);
		return placement === undefined ? "" : `\x1b_Ga=d,d=i,i=${id},p=${placement},q=2\x1b\\`;
	}

	#draw(id: number, columns: number, rows: number): string {
		const image = this.#images.get(id);
		if (!image) return "";
		if (this.#cells) {
			if (this.#sent.has(id)) return "";
			this.#sent.add(id);
			return this.#cells.place(id, transmission(id, image.data), columns, rows);
		}
		const up = rows > 1 ? `\x1b[${rows - 1}A` : "";
		if (this.#protocol === "iterm2") {
			// iTerm2 leaves the cursor in the image's last row.
			return up + encodeITerm2(image.data, { width: columns, height: rows });
		}
		const down = rows > 1 ? `\x1b[${rows - 1}B` : "";
		const data = this.#sent.has(id) ? "" : transmission(id, image.data);
		const removal = this.#remove(id);
		this.#sent.add(id);
		this.#placements += 1;
		this.#placed.set(id, this.#placements);
		const place = `\x1b_Ga=p,i=${id},p=${this.#placements},c=${columns},r=${rows},C=1,q=2\x1b\\`;
		return data + removal + up + place + down;
	}
}

/** Pattern of a mark in a line. */
export const IMAGE_MARK = MARK.source;

/** Whether a line contains an image's mark. */
export function hasImage(line: string): boolean {
	return line.includes("\x1b_G");
}

function between(count: number, most: number): number {
	return Math.max(1, Math.min(most, count));
}

/** @returns the sequences of Kitty's protocol that transmit the data of a PNG */
function transmission(id: number, data: string): string {
	let sequences = "";
	for (let at = 0; at < data.length; at += CHUNK_LENGTH) {
		const more = at + CHUNK_LENGTH < data.length ? 1 : 0;
		const keys = at === 0 ? `a=t,f=100,i=${id},q=2,m=${more}` : `q=2,m=${more}`;
		sequences += `\x1b_G${keys};${data.slice(at, at + CHUNK_LENGTH)}\x1b\\`;
	}
	return sequences;
}
