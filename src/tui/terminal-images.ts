import { randomInt } from "node:crypto";
import { allocateImageId, encodeITerm2, getCellDimensions } from "@mariozechner/pi-tui";
import { endsAsPng, imageSize, isBase64 } from "./image-size.js";
import { imageCells, MAX_CELLS, throughTmux, transmission } from "./kitty-images.js";

/** The protocol in which a terminal receives images. `cells`: through tmux, as cells of text over which the terminal draws them. */
export type ImageProtocol = "kitty" | "iterm2" | "cells";

/** How a protocol is found that is not known at the start. */
export interface ImageSearch {
	/** Called once, when there is a first image. */
	find(): Promise<ImageProtocol | null>;
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

/** Terminals reject images with a longer side, in pixels. */
const MAX_PIXELS = 10_000;
/** Fewer rows would show nothing recognizable. */
const MIN_ROWS = 2;
/** Maximum number of images as cells: their ids differ in one byte. */
const MAX_CELLED = 255;
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
	#protocol: ImageProtocol | null;
	#search: ImageSearch | null;
	/** First byte of the ids of images as cells: that of another program in the terminal should differ. */
	#firstByte = 0;
	/** Number of such images, which is the last byte. */
	#count = MAX_CELLED;

	/** @param protocol null if the terminal cannot draw images, or if it is not known */
	constructor(protocol: ImageProtocol | null = null, search: ImageSearch | null = null) {
		this.#protocol = protocol;
		this.#search = search;
	}

	/** null if the terminal cannot draw images. */
	get protocol(): ImageProtocol | null {
		return this.#protocol;
	}

	/** Whether the terminal draws images, but not this type: Kitty's protocol supports only PNG. */
	cannotDraw(mimeType: string): boolean {
		return (this.#protocol === "kitty" || this.#protocol === "cells") && mimeType !== "image/png";
	}

	/** Adds an image. @returns its id; null when it is corrupt or cannot be drawn on this terminal */
	add(image: ImageData): number | null {
		this.#findProtocol();
		if (!this.#protocol) return null;
		const size = imageSize(image.data, image.mimeType);
		if (!size || Math.max(size.width, size.height) > MAX_PIXELS || !isBase64(image.data)) return null;
		if (this.cannotDraw(image.mimeType)) return null;
		if (image.mimeType === "image/png" && !endsAsPng(image.data)) return null;
		const id = this.#protocol === "cells" ? this.#newCellId() : allocateImageId();
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
		const columns = between(Math.round((size.width * scale) / cell.widthPx), Math.min(room.columns, MAX_CELLS));
		const rows = between(Math.ceil((size.height * scale) / cell.heightPx), Math.min(room.rows, MAX_CELLS));
		const mark = `\x1b_Gi=${id},c=${columns},r=${rows};\x1b\\`;
		if (this.#protocol === "cells") {
			const [first = "", ...others] = imageCells(id, columns, rows);
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
		this.#count = MAX_CELLED;
	}

	#findProtocol(): void {
		const search = this.#search;
		this.#search = null;
		search?.find().then(
			(protocol) => {
				this.#protocol = protocol;
				if (protocol !== null) search.onFound();
			},
			() => {},
		);
	}

	/** @returns null for an image too many: its cells would show another one */
	#newCellId(): number | null {
		if (this.#count === MAX_CELLED && this.#images.size > 0) return null;
		if (this.#count === MAX_CELLED) {
			this.#firstByte = randomInt(1, MAX_CELLED + 1);
			this.#count = 0;
		}
		this.#count += 1;
		return this.#firstByte * 2 ** 24 + this.#count;
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
		if (this.#protocol === "cells") {
			if (this.#sent.has(id)) return "";
			this.#sent.add(id);
			const place = `\x1b_Ga=p,U=1,i=${id},c=${columns},r=${rows},q=2\x1b\\`;
			return throughTmux(transmission(id, image.data) + place);
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
