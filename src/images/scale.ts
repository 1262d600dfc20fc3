/** An image to decode, scale and encode. */
export interface ScaleRequest {
	bytes: Uint8Array;
	/** Size of the result before it is turned upright, in pixels. */
	width: number;
	height: number;
	/** EXIF orientation. */
	orientation: number;
	/** True for a source with sharp edges or transparency: encoded as PNG if the result is small. */
	isLossless: boolean;
	/** Size of the result. A JPEG of the lowest quality may be larger. */
	maxBytes: number;
}

/** The result of scaling. */
export interface ScaledImage {
	bytes: Uint8Array;
	mimeType: "image/png" | "image/jpeg";
	/** Pixels, upright. */
	width: number;
	height: number;
}

const JPEG_QUALITY = 85;
/** A larger PNG is sent as JPEG: it is a photo, which takes a tenth of the space as JPEG. */
const MAX_PNG_BYTES = 1024 * 1024;

/** Decodes, scales and encodes an image. Blocks the thread for about a second per 12 million pixels. @throws if it is damaged */
export async function scaleImage(request: ScaleRequest): Promise<ScaledImage> {
	const { PhotonImage, resize, SamplingFilter } = await import("@silvia-odwyer/photon-node");
	const decoded = PhotonImage.new_from_byteslice(request.bytes);
	const isSized = decoded.get_width() === request.width && decoded.get_height() === request.height;
	const sized = isSized ? decoded : resize(decoded, request.width, request.height, SamplingFilter.Lanczos3);
	const upright = turnUpright(
		{ pixels: sized.get_raw_pixels(), width: sized.get_width(), height: sized.get_height() },
		request.orientation,
	);
	const { width, height } = upright;
	const png = request.isLossless ? new PhotonImage(upright.pixels, width, height).get_bytes() : null;
	if (png && png.length <= Math.min(MAX_PNG_BYTES, request.maxBytes))
		return { bytes: png, mimeType: "image/png", width, height };
	flatten(upright.pixels);
	const opaque = new PhotonImage(upright.pixels, width, height);
	for (let quality = JPEG_QUALITY; ; quality -= 20) {
		const bytes = opaque.get_bytes_jpeg(quality);
		if (bytes.length <= request.maxBytes || quality <= 25) return { bytes, mimeType: "image/jpeg", width, height };
	}
}

/** Pixels as RGBA. */
interface Raster {
	pixels: Uint8Array;
	width: number;
	height: number;
}

/** Applies an EXIF orientation: 2 to 4 mirror, 5 to 8 also swap the sides. */
function turnUpright({ pixels, width, height }: Raster, orientation: number): Raster {
	if (orientation === 1) return { pixels, width, height };
	const isSwapped = orientation >= 5;
	const flipsX = [2, 3, 7, 8].includes(orientation);
	const flipsY = [3, 4, 6, 7].includes(orientation);
	const [outWidth, outHeight] = isSwapped ? [height, width] : [width, height];
	const source = new Uint32Array(pixels.slice().buffer);
	const target = new Uint32Array(source.length);
	for (let y = 0; y < outHeight; y++) {
		for (let x = 0; x < outWidth; x++) {
			const [sideX, sideY] = isSwapped ? [y, x] : [x, y];
			const fromX = flipsX ? width - 1 - sideX : sideX;
			const fromY = flipsY ? height - 1 - sideY : sideY;
			target[y * outWidth + x] = source[fromY * width + fromX] ?? 0;
		}
	}
	return { pixels: new Uint8Array(target.buffer), width: outWidth, height: outHeight };
}

/** Draws transparent pixels on white: JPEG has no transparency. */
function flatten(pixels: Uint8Array): void {
	for (let at = 3; at < pixels.length; at += 4) {
		const alpha = pixels[at] ?? 255;
		if (alpha === 255) continue;
		for (let channel = at - 3; channel < at; channel++) {
			pixels[channel] = Math.round(((pixels[channel] ?? 0) * alpha + 255 * (255 - alpha)) / 255);
		}
		pixels[at] = 255;
	}
}
