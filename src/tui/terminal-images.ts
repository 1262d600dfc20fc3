import { allocateImageId, encodeITerm2, getCellDimensions } from "@mariozechner/pi-tui";
import { endsAsPng, imageSize, isBase64 } from "./image-size.js";

/** How a terminal takes images. */
export type ImageProtocol = "kitty" | "iterm2";

/** An image as messages hold it. */
export interface ImageData {
	/** Base64. */
	readonly data: string;
	readonly mimeType: string;
}

/** What an image may take of the screen, in columns and rows. */
export interface ImageRoom {
	columns: number;
	rows: number;
}

/** Larger ones terminals refuse, pixels. */
const MAX_PIXELS = 10_000;
/** Below this there is nothing to be seen, rows. */
const MIN_ROWS = 2;
/** Kitty takes data in pieces of this many characters. */
const CHUNK_LENGTH = 4_096;
/**
 * Stands in a line for an image that ends there: id, columns, rows. It has the form of Kitty's sequences, so that pi-tui
 * takes the line for what it is, and no width.
 */
const MARK = /\x1b_Gi=(\d{1,10}),c=(\d{1,4}),r=(\d{1,4});\x1b\\/g;

/**
 * Images on a terminal. Lines hold short marks, which cost a frame nothing; `expand` puts the terminal's sequences in
 * their place when the frame is written. Where the protocol allows it, the data of an image is sent once.
 */
export class TerminalImages {
	readonly #images = new Map<number, ImageData>();
	/** Images whose data the terminal has. */
	readonly #sent = new Set<number>();
	/** Of each image on the screen: the number under which it was placed. */
	readonly #placed = new Map<number, number>();
	#placements = 0;

	/** @param protocol null where no image is to be drawn */
	constructor(readonly protocol: ImageProtocol | null = null) {}

	/** True for a kind of image that the terminal does not take, though it draws others: Kitty's protocol knows PNG only. */
	cannotDraw(mimeType: string): boolean {
		return this.protocol === "kitty" && mimeType !== "image/png";
	}

	/** Takes an image in. @returns its number; null when it cannot be drawn here, or is broken */
	add(image: ImageData): number | null {
		if (!this.protocol) return null;
		const size = imageSize(image.data, image.mimeType);
		if (!size || Math.max(size.width, size.height) > MAX_PIXELS || !isBase64(image.data)) return null;
		if (this.cannotDraw(image.mimeType)) return null;
		if (image.mimeType === "image/png" && !endsAsPng(image.data)) return null;
		const id = allocateImageId();
		this.#images.set(id, image);
		return id;
	}

	/**
	 * The lines of an image: blank ones, and a last one with its mark. It is never drawn larger than it is.
	 * @returns null when the room is too small
	 */
	lines(id: number, room: ImageRoom): string[] | null {
		const image = this.#images.get(id);
		const size = image && imageSize(image.data, image.mimeType);
		if (!size || room.columns < 1 || room.rows < MIN_ROWS) return null;
		const cell = getCellDimensions();
		const scale = Math.min(1, (room.columns * cell.widthPx) / size.width, (room.rows * cell.heightPx) / size.height);
		const columns = between(Math.round((size.width * scale) / cell.widthPx), room.columns);
		const rows = between(Math.ceil((size.height * scale) / cell.heightPx), room.rows);
		const blank = Array.from({ length: rows - 1 }, () => "");
		return [...blank, `\x1b_Gi=${id},c=${columns},r=${rows};\x1b\\`];
	}

	/** A frame with the terminal's sequences in place of the marks. */
	expand(frame: string): string {
		if (!hasImage(frame)) return frame;
		return frame.replace(MARK, (_all, id: string, columns: string, rows: string) =>
			this.#draw(Number(id), Number(columns), Number(rows)),
		);
	}

	/** @returns what takes all images off the screen: clearing rows leaves them */
	removeAll(): string {
		return [...this.#placed.keys()].map((id) => this.#remove(id)).join("");
	}

	/** Lines have scrolled off: the scrollback keeps their images, also when these are drawn again below. */
	leave(lines: readonly string[]): void {
		if (this.#placed.size === 0) return;
		for (const line of lines) for (const [, id] of line.matchAll(MARK)) this.#placed.delete(Number(id));
	}

	/** The terminal was someone else's: what it had of images may be gone. */
	forgetSent(): void {
		this.#sent.clear();
		this.#placed.clear();
	}

	/** None of the images is drawn any more. */
	clear(): void {
		this.#images.clear();
		this.#sent.clear();
	}

	/** Takes an image off the screen; the terminal keeps its data. */
	#remove(id: number): string {
		const placement = this.#placed.get(id);
		this.#placed.delete(id);
		return placement === undefined ? "" : `\x1b_Ga=d,d=i,i=${id},p=${placement},q=2\x1b\\`;
	}

	#draw(id: number, columns: number, rows: number): string {
		const image = this.#images.get(id);
		if (!image) return "";
		const up = rows > 1 ? `\x1b[${rows - 1}A` : "";
		if (this.protocol === "iterm2") {
			// It leaves the cursor in the image's last row.
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

/** Pattern of a mark, for who looks at lines. */
export const IMAGE_MARK = MARK.source;

/** True for a line that ends in an image. */
export function hasImage(line: string): boolean {
	return line.includes("\x1b_G");
}

function between(count: number, most: number): number {
	return Math.max(1, Math.min(most, count));
}

/** Kitty's sequences that hand over the data of a PNG. */
function transmission(id: number, data: string): string {
	let sequences = "";
	for (let at = 0; at < data.length; at += CHUNK_LENGTH) {
		const more = at + CHUNK_LENGTH < data.length ? 1 : 0;
		const keys = at === 0 ? `a=t,f=100,i=${id},q=2,m=${more}` : `q=2,m=${more}`;
		sequences += `\x1b_G${keys};${data.slice(at, at + CHUNK_LENGTH)}\x1b\\`;
	}
	return sequences;
}
