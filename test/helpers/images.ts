import { createCipheriv } from "node:crypto";
import { crc32, deflateSync } from "node:zlib";
import type { ImageContent } from "@mariozechner/pi-ai";
import { PhotonImage } from "@silvia-odwyer/photon-node";

/** A PNG of noise, which cannot be compressed; deterministic. */
export function png(width: number, height: number): ImageContent {
	const header = Buffer.alloc(13);
	header.writeUInt32BE(width, 0);
	header.writeUInt32BE(height, 4);
	header.set([8, 0, 0, 0, 0], 8);
	const rows = Buffer.alloc(height * (width + 1));
	let noise = 1;
	for (let at = 0; at < rows.length; at += 1) {
		noise = (noise * 1_103_515_245 + 12_345) % 2_147_483_648;
		rows[at] = at % (width + 1) === 0 ? 0 : noise >> 16;
	}
	const bytes = Buffer.concat([
		Buffer.from("89504e470d0a1a0a", "hex"),
		chunk("IHDR", header),
		chunk("IDAT", deflateSync(rows)),
		chunk("IEND", Buffer.alloc(0)),
	]);
	return { type: "image", data: bytes.toString("base64"), mimeType: "image/png" };
}

/** The start of a JPEG, with `metadata` bytes before the segment that contains its size. */
export function jpegHeader(width: number, height: number, metadata = 0): ImageContent {
	const parts: Buffer[] = [Buffer.from("ffd8", "hex")];
	for (let left = metadata; left > 0; left -= 60_000) {
		const size = Math.min(left, 60_000);
		const head = Buffer.from("ffe10000", "hex");
		head.writeUInt16BE(size + 2, 2);
		parts.push(head, Buffer.alloc(size, 1));
	}
	const frame = Buffer.from("ffc0001108000000000301220002110103110100", "hex");
	frame.writeUInt16BE(height, 5);
	frame.writeUInt16BE(width, 7);
	return { type: "image", data: Buffer.concat([...parts, frame]).toString("base64"), mimeType: "image/jpeg" };
}

function chunk(name: string, data: Buffer): Buffer {
	const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
	const bytes = Buffer.alloc(body.length + 8);
	bytes.writeUInt32BE(data.length, 0);
	bytes.set(body, 4);
	bytes.writeUInt32BE(crc32(body), body.length + 4);
	return bytes;
}

/** A picture whose corners differ: top left red, top right green, bottom left blue, bottom right white. */
export function corners(
	width: number,
	height: number,
	type: "png" | "jpeg" | "webp",
	{ orientation = 1, alpha = 255 } = {},
): ImageContent {
	const [left, top] = [Math.ceil(width / 2), Math.ceil(height / 2)];
	const pixels = (count: number, ...color: number[]) => Buffer.alloc(count * 4, Buffer.from([...color, alpha]));
	const rows = (count: number, ...halves: Buffer[]) => Buffer.alloc(count * width * 4, Buffer.concat(halves));
	const picture = Buffer.concat([
		rows(top, pixels(left, 255, 0, 0), pixels(width - left, 0, 255, 0)),
		rows(height - top, pixels(left, 0, 0, 255), pixels(width - left, 255, 255, 255)),
	]);
	const image = new PhotonImage(picture, width, height);
	const bytes =
		type === "png" ? image.get_bytes() : type === "webp" ? image.get_bytes_webp() : image.get_bytes_jpeg(90);
	const data = orientation === 1 ? Buffer.from(bytes) : withOrientation(Buffer.from(bytes), orientation);
	return { type: "image", data: data.toString("base64"), mimeType: `image/${type}` };
}

/** Size, and the colors in the corners of an image: top left, top right, bottom left, bottom right. */
export function cornersOf({ data }: ImageContent): { width: number; height: number; corners: string[] } {
	const image = PhotonImage.new_from_byteslice(Buffer.from(data, "base64"));
	const [width, height] = [image.get_width(), image.get_height()];
	const pixels = image.get_raw_pixels();
	const colorAt = (x: number, y: number) => {
		const bits = [0, 1, 2].map((channel) => ((pixels[(y * width + x) * 4 + channel] ?? 0) > 127 ? 1 : 0)).join("");
		return { "100": "red", "010": "green", "001": "blue", "111": "white" }[bits] ?? bits;
	};
	const points = [
		[0, 0],
		[width - 1, 0],
		[0, height - 1],
		[width - 1, height - 1],
	] as const;
	return { width, height, corners: points.map(([x, y]) => colorAt(x, y)) };
}

/** Adds EXIF data with an orientation, as cameras write it. */
function withOrientation(jpeg: Buffer, orientation: number): Buffer {
	const exif = Buffer.from("ffe1002245786966000049492a000800000001001201030001000000", "hex");
	const value = Buffer.alloc(8);
	value.writeUInt16LE(orientation, 0);
	return Buffer.concat([jpeg.subarray(0, 2), exif, value, jpeg.subarray(2)]);
}

/** A GIF of one pixel. */
export const GIF: ImageContent = {
	type: "image",
	data: "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
	mimeType: "image/gif",
};

/** A PNG of random colors, which cannot be compressed; deterministic. */
export function noise(width: number, height: number, alpha = 255): ImageContent {
	const random = createCipheriv("aes-128-ctr", Buffer.alloc(16), Buffer.alloc(16));
	const pixels = random.update(Buffer.alloc(width * height * 4));
	for (let at = 3; at < pixels.length; at += 4) pixels[at] = alpha;
	const bytes = new PhotonImage(pixels, width, height).get_bytes();
	return { type: "image", data: Buffer.from(bytes).toString("base64"), mimeType: "image/png" };
}
