import { imageType } from "../../images/image-header.js";
import type { SourceImage } from "../../images/sent-image.js";
import { readRegularFileSync } from "../../util/fs.js";
import type { MentionedImage } from "../mentioned-images.js";
import type { ImageProgram } from "./clipboard-image.js";

const MAX_BYTES = 50 * 1024 * 1024;

/** Images pasted into the editor. A mark in the text represents each image until the prompt is sent. */
export class PastedImages {
	readonly #images = new Map<string, SourceImage>();

	/** @param insert inserts a mark at the cursor */
	constructor(
		private readonly insert: (mark: string) => void,
		private readonly programs?: readonly ImageProgram[],
	) {}

	/** Pastes the image of the clipboard. @returns a hint for the user when that fails, else null */
	async paste(): Promise<string | null> {
		const { readClipboardImage } = await import("./clipboard-image.js");
		const image = await readClipboardImage(this.programs);
		if (typeof image === "string") return image;
		this.insert(`${this.#add(image, { mimeType: "image/png" })} `);
		return null;
	}

	/** Attaches an image file. @returns its mark; null when the file is not an image that models accept */
	addFile(path: string): string | null {
		try {
			const data = readRegularFileSync(path, { maxBytes: MAX_BYTES });
			const mimeType = imageType(data);
			return mimeType === undefined ? null : this.#add(data, { mimeType, path });
		} catch {
			return null; // a folder, too large or unreadable: the caller mentions the path instead
		}
	}

	/** The images whose marks occur in a text, and those that it names, in text order. */
	in(text: string, named: readonly MentionedImage[] = []): SourceImage[] {
		const marked = [...text.matchAll(/\[image #\d+\]/g)].flatMap(({ 0: mark, index }): MentionedImage[] => {
			const image = this.#images.get(mark);
			return image ? [{ at: index, image }] : [];
		});
		return [...marked, ...named].sort((a, b) => a.at - b.at).map(({ image }) => image);
	}

	#add(data: Buffer, from: Pick<SourceImage, "mimeType" | "path">): string {
		const mark = `[image #${this.#images.size + 1}]`;
		this.#images.set(mark, { type: "image", data: data.toString("base64"), ...from });
		return mark;
	}
}
