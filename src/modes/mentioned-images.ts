import { resolveUserPath } from "../config/paths.js";
import { imageType } from "../images/image-header.js";
import type { SourceImage } from "../images/sent-image.js";
import { readRegularFileSync } from "../util/fs.js";

/** An image that a prompt names with `@`. */
export interface MentionedImage {
	/** Position of the `@` in the text, in UTF-16 units. */
	at: number;
	image: SourceImage;
}

const MAX_BYTES = 50 * 1024 * 1024;
const IMAGE = String.raw`\.(?:png|jpe?g|gif|webp)`;
/**
 * The source of an expression (flags `gi`) for the name of an image after `@`, with two groups: the path in quotes, or without.
 * Other files are only mentioned: the model reads the part that it needs.
 */
export const IMAGE_MENTION = String.raw`(?<![^\s(])@(?:"([^"\n]{1,400}${IMAGE})"|([^\s"]{1,400}${IMAGE})(?!\.?[\w/-]))`;

/**
 * The images that a prompt names, such as `@shot.png` or `@"my shot.png"`, in text order, each once. Files that are missing, too
 * large or no images are omitted: the text names them.
 * @param base the working directory, for relative paths, and the home directory (default: that of the user)
 */
export function mentionedImages(text: string, base: { cwd: string; home?: string }): MentionedImage[] {
	const found = new Map<string, MentionedImage>();
	for (const { 1: quoted, 2: plain, index } of text.matchAll(new RegExp(IMAGE_MENTION, "gi"))) {
		const path = resolveUserPath(quoted ?? plain ?? "", base.cwd, base.home);
		const image = found.has(path) ? null : readImage(path);
		if (image) found.set(path, { at: index, image });
	}
	return [...found.values()];
}

function readImage(path: string): SourceImage | null {
	try {
		const data = readRegularFileSync(path, { maxBytes: MAX_BYTES });
		const mimeType = imageType(data);
		return mimeType === undefined ? null : { type: "image", data: data.toString("base64"), mimeType, path };
	} catch {
		return null; // missing, a folder, too large or unreadable
	}
}
