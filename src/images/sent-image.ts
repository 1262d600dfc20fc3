import type { ImageContent } from "@mariozechner/pi-ai";
import { readImageHeader } from "./image-header.js";

/** An image before it is fitted to the limits, and the file that it is from. */
export interface SourceImage extends ImageContent {
	path?: string;
}

/** The image before it was scaled or converted. */
export interface OriginalImage {
	/** Upright, in pixels. */
	width: number;
	height: number;
	mimeType: string;
	/** Size of the file. */
	bytes: number;
	/** Its file; null if it could not be saved. */
	path: string | null;
}

/** An image as it is sent and logged. */
export interface SentImage extends ImageContent {
	/** Present if the sent image differs from it. Providers do not receive it. */
	original?: OriginalImage;
}

/** The original of an image in a log or from a program; null if the image is unchanged. */
export function originalOf(image: ImageContent): OriginalImage | null {
	if (!("original" in image) || typeof image.original !== "object" || image.original === null) return null;
	const fields = new Map<string, unknown>(Object.entries(image.original));
	const [width, height, mimeType, bytes] = ["width", "height", "mimeType", "bytes"].map((name) => fields.get(name));
	const path = fields.get("path");
	if (typeof width !== "number" || typeof height !== "number") return null;
	if (typeof mimeType !== "string" || typeof bytes !== "number") return null;
	return { width, height, mimeType, bytes, path: typeof path === "string" ? path : null };
}

/** How an image was fitted, in words for the model such as `4000×3000 scaled to 1568×1176`; empty if it is unchanged. */
export function describeFit(image: SentImage): string[] {
	const { original } = image;
	const sent = readImageHeader(Buffer.from(image.data, "base64"));
	if (!original || !sent) return [];
	const sizes = [`${original.width}×${original.height}`, `${sent.width}×${sent.height}`] as const;
	const scaled = sizes[0] === sizes[1] ? [] : [`${sizes[0]} scaled to ${sizes[1]}`];
	return image.mimeType === original.mimeType ? scaled : [...scaled, `converted to ${image.mimeType}`];
}
