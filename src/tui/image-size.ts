import { getImageDimensions } from "@mariozechner/pi-tui";

/** The size of an image in pixels. */
export interface ImageSize {
	width: number;
	height: number;
}

/** The size is near the start of a file; in a JPEG, after the metadata of cameras. Base64 characters, multiples of 4. */
const HEADER_LENGTHS = [4_096, 400_000] as const;
const BASE64 = /^[\d+/A-Za-z]*={0,2}$/;
/** The end of every complete PNG: an empty chunk, its name, its checksum. */
const PNG_END = Buffer.from("0000000049454e44ae426082", "hex");

/**
 * Reads the size of an image from its header.
 * @param data base64
 * @returns null when the header is corrupt or the format unknown
 */
export function imageSize(data: string, mimeType: string): ImageSize | null {
	for (const length of HEADER_LENGTHS) {
		const found = getImageDimensions(data.slice(0, length), mimeType);
		if (found) return found.widthPx > 0 && found.heightPx > 0 ? { width: found.widthPx, height: found.heightPx } : null;
		if (data.length <= length) return null;
	}
	return null;
}

/** @returns number of bytes that the base64 text encodes */
export function base64Bytes(data: string): number {
	const padding = data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0;
	return Math.max(0, Math.floor((data.length * 3) / 4) - padding);
}

/** Checks that the complete text is base64, so that it is safe inside a control sequence. */
export function isBase64(data: string): boolean {
	return data.length > 0 && BASE64.test(data);
}

/** Checks that a PNG is not truncated. */
export function endsAsPng(data: string): boolean {
	// The last bytes can start inside a group of four characters, and only complete groups can be decoded.
	const start = Math.max(0, Math.floor((data.length - 24) / 4) * 4);
	return Buffer.from(data.slice(start), "base64").subarray(-PNG_END.length).equals(PNG_END);
}
