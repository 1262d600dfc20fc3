import { crc32, deflateSync } from "node:zlib";
import type { ImageContent } from "@mariozechner/pi-ai";

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
