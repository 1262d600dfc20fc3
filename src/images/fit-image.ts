import { randomBytes } from "node:crypto";
import { basename, join } from "node:path";
import { Worker } from "node:worker_threads";
import { PiError } from "../errors.js";
import { atomicWriteFile, ensurePrivateDir } from "../util/fs.js";
import { type ImageHeader, readImageHeader } from "./image-header.js";
import { type ImageBounds, imageBounds, isWithinLimits, MAX_PIXELS } from "./limits.js";
import type { ScaledImage, ScaleRequest } from "./scale.js";
import type { OriginalImage, SentImage, SourceImage } from "./sent-image.js";

/** Time for scaling one image, ms: a hostile file can make a decoder slow. */
const TIMEOUT_MS = 30_000;

/**
 * Fits an image to the limits of all providers: scales it down, and converts types that some providers refuse. An image
 * within the limits is unchanged, and the image library is not loaded.
 * @param bounds default: those of all APIs
 * @param saveDir private directory (0700) for the original of a changed image without a path
 * @throws PiError `bad_arguments` if it is not an image, damaged, or has more than 100 million pixels
 */
export async function fitImage(
	{ data, path }: SourceImage,
	saveDir: string,
	bounds: ImageBounds = imageBounds(),
): Promise<SentImage> {
	const bytes = Buffer.from(data, "base64");
	const header = readImageHeader(bytes);
	const name = path === undefined ? "the image" : basename(path);
	if (!header) throw unusable(name, "it is damaged, or not a PNG, JPEG, GIF or WebP file");
	const { mimeType, width, height } = header;
	if (isWithinLimits(header, bytes.length, bounds)) return { type: "image", data: bytes.toString("base64"), mimeType };
	if (width * height > MAX_PIXELS) {
		throw unusable(name, `it has ${width}×${height} pixels; pi decodes at most ${MAX_PIXELS / 1e6} million`);
	}
	const scaled = await scale(requestFor(bytes, header, bounds)).catch((cause: unknown) => {
		throw unusable(name, "it is damaged", cause);
	});
	const [uprightWidth, uprightHeight] = header.orientation >= 5 ? [height, width] : [width, height];
	const original: OriginalImage = {
		width: uprightWidth,
		height: uprightHeight,
		mimeType,
		bytes: bytes.length,
		path: path ?? (await save(bytes, mimeType, saveDir)),
	};
	const data64 = Buffer.from(scaled.bytes).toString("base64");
	return { type: "image", data: data64, mimeType: scaled.mimeType, original };
}

function requestFor(
	bytes: Buffer,
	{ mimeType, width, height, orientation }: ImageHeader,
	bounds: ImageBounds,
): ScaleRequest {
	const isTurned = orientation >= 5;
	const [upright, across] = isTurned ? [bounds.height, bounds.width] : [bounds.width, bounds.height];
	const factor = Math.min(1, upright / width, across / height);
	const scaled = (side: number) => Math.max(1, Math.round(side * factor));
	return {
		bytes,
		width: scaled(width),
		height: scaled(height),
		orientation,
		isLossless: mimeType !== "image/jpeg",
		maxBytes: bounds.bytes,
	};
}

/** Scales in a thread of its own, because it would block the screen, and so that its time is bounded. */
async function scale(request: ScaleRequest): Promise<ScaledImage> {
	if (import.meta.url.endsWith(".ts")) {
		// Sources run without a build step; a thread would need the same loader.
		const { scaleImage } = await import("./scale.js");
		return scaleImage(request);
	}
	const worker = new Worker(new URL("./scale-worker.cjs", import.meta.url), { name: "pi-image" });
	let timer: NodeJS.Timeout | undefined;
	try {
		return await new Promise<ScaledImage>((resolve, reject) => {
			timer = setTimeout(() => reject(new Error(`scaling took longer than ${TIMEOUT_MS / 1000} s`)), TIMEOUT_MS);
			worker.once("message", resolve).once("error", reject);
			worker.once("exit", () => reject(new Error("the thread ended without a result")));
			worker.postMessage(request);
		});
	} finally {
		clearTimeout(timer);
		await worker.terminate();
	}
}

/** @returns the path; null if the directory is not writable: the image is sent all the same */
async function save(bytes: Buffer, mimeType: string, dir: string): Promise<string | null> {
	const path = join(dir, `image-${Date.now().toString(36)}-${randomBytes(4).toString("hex")}.${mimeType.slice(6)}`);
	try {
		ensurePrivateDir(dir);
		await atomicWriteFile(path, bytes, { mode: 0o600 });
		return path;
	} catch {
		return null;
	}
}

function unusable(name: string, reason: string, cause?: unknown): PiError {
	return new PiError("bad_arguments", `Cannot send ${name}: ${reason}`, {
		...(cause === undefined ? {} : { cause }),
		hint: "convert it to a smaller PNG or JPEG",
	});
}
