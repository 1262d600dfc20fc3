/** Image types that pi reads, by their first bytes. */
const TYPES: [mimeType: ImageType, magic: RegExp][] = [
	["image/png", /^\x89PNG\r\n\x1a\n/],
	["image/jpeg", /^\xff\xd8\xff/],
	["image/gif", /^GIF8[79]a/],
	["image/webp", /^RIFF.{4}WEBP/s],
];

/** An image type that pi reads. */
export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** The facts in the header of an image. */
export interface ImageHeader {
	mimeType: ImageType;
	/** Pixels, as stored: before the rotation that `orientation` asks for. */
	width: number;
	height: number;
	/** EXIF orientation of a JPEG, 1 to 8; 1 is upright. */
	orientation: number;
}

/** The MIME type of an image that pi reads; undefined for all other files. */
export function imageType(bytes: Uint8Array): ImageType | undefined {
	const start = Buffer.from(bytes.subarray(0, 16)).toString("latin1");
	return TYPES.find(([, magic]) => magic.test(start))?.[0];
}

/** Reads the header of an image without decoding it. @returns null if the type is unknown or the header is damaged */
export function readImageHeader(bytes: Uint8Array): ImageHeader | null {
	const mimeType = imageType(bytes);
	if (mimeType === undefined) return null;
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	try {
		const { width, height, orientation = 1 } = READERS[mimeType](view);
		return width > 0 && height > 0 ? { mimeType, width, height, orientation } : null;
	} catch (error) {
		if (error instanceof RangeError) return null; // the file ends inside its header
		throw error;
	}
}

interface Size {
	width: number;
	height: number;
	orientation?: number;
}

const NO_SIZE: Size = { width: 0, height: 0 };

const READERS: Record<ImageType, (view: DataView) => Size> = {
	"image/png": (view) => ({ width: view.getUint32(16), height: view.getUint32(20) }),
	"image/gif": (view) => ({ width: view.getUint16(6, true), height: view.getUint16(8, true) }),
	"image/webp": webpSize,
	"image/jpeg": jpegSize,
};

/** @see https://developers.google.com/speed/webp/docs/riff_container */
function webpSize(view: DataView): Size {
	switch (view.getUint32(12)) {
		case 0x56503820: // "VP8 ", lossy
			return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
		case 0x5650384c: {
			// "VP8L", lossless
			const bits = view.getUint32(21, true);
			return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
		}
		case 0x56503858: // "VP8X", extended
			return { width: uint24(view, 24) + 1, height: uint24(view, 27) + 1 };
		default:
			return NO_SIZE;
	}
}

function uint24(view: DataView, at: number): number {
	return view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
}

/** The size is in the first frame segment (SOF0 to SOF15), after the metadata of cameras. */
function jpegSize(view: DataView): Size {
	let orientation = 1;
	for (let at = 2; ; ) {
		if (view.getUint8(at) !== 0xff) return NO_SIZE;
		const marker = view.getUint8(at + 1);
		if (marker === 0xff) {
			at += 1; // fill byte
			continue;
		}
		const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
		if (isFrame) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5), orientation };
		const length = view.getUint16(at + 2);
		if (marker === 0xe1 && view.getUint32(at + 4) === 0x45786966) orientation = exifOrientation(view, at + 10);
		at += 2 + Math.max(length, 2);
	}
}

const ORIENTATION_TAG = 0x0112;

/** The orientation in the first directory of EXIF data, which is a TIFF file. @param start offset of that file */
function exifOrientation(view: DataView, start: number): number {
	try {
		const isLittle = view.getUint16(start) === 0x4949;
		const directory = start + view.getUint32(start + 4, isLittle);
		const count = view.getUint16(directory, isLittle);
		for (let index = 0; index < count; index++) {
			const field = directory + 2 + index * 12;
			if (view.getUint16(field, isLittle) !== ORIENTATION_TAG) continue;
			const value = view.getUint16(field + 8, isLittle);
			return value >= 1 && value <= 8 ? value : 1;
		}
	} catch (error) {
		if (!(error instanceof RangeError)) throw error; // damaged metadata: the image itself may be fine
	}
	return 1;
}
