import { getImageDimensions } from "@mariozechner/pi-tui";

/** Pixels of an image. */
export interface ImageSize {
	width: number;
	height: number;
}

/** Sizes stand at the beginning of a file; in a JPEG behind what cameras write. Base64 characters, multiples of 4. */
const HEADER_LENGTHS = [4_096, 400_000] as const;
const BASE64 = /^[\d+/A-Za-z]*={0,2}$/;
/** How every whole PNG ends: an empty chunk, its name, its checksum. */
const PNG_END = Buffer.from("0000000049454e44ae426082", "hex");

/**
 * The size of an image as its header says.
 * @param data base64
 * @returns null when it is broken, or none that pi knows
 */
export function imageSize(data: string, mimeType: string): ImageSize | null {
	for (const length of HEADER_LENGTHS) {
		const found = getImageDimensions(data.slice(0, length), mimeType);
		if (found) return found.widthPx > 0 && found.heightPx > 0 ? { width: found.widthPx, height: found.heightPx } : null;
		if (data.length <= length) return null;
	}
	return null;
}

/** How many bytes base64 stands for. */
export function base64Bytes(data: string): number {
	const padding = data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0;
	return Math.max(0, Math.floor((data.length * 3) / 4) - padding);
}

/** True for base64 and nothing else: only that may stand within a control sequence. Reads all of it. */
export function isBase64(data: string): boolean {
	return data.length > 0 && BASE64.test(data);
}

/** True when a PNG was not cut off. */
export function endsAsPng(data: string): boolean {
	// The last bytes begin anywhere within a group of four characters: whole groups are decoded.
	const start = Math.max(0, Math.floor((data.length - 24) / 4) * 4);
	return Buffer.from(data.slice(start), "base64").subarray(-PNG_END.length).equals(PNG_END);
}
