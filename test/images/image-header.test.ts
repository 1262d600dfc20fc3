import { expect, test } from "vitest";
import { imageType, readImageHeader } from "../../src/images/image-header.js";
import { corners, GIF, jpegHeader } from "../helpers/images.js";

const bytesOf = ({ data }: { data: string }) => Buffer.from(data, "base64");

test.each([
	["a PNG", corners(30, 20, "png"), { mimeType: "image/png", width: 30, height: 20, orientation: 1 }],
	["a JPEG", corners(30, 20, "jpeg"), { mimeType: "image/jpeg", width: 30, height: 20, orientation: 1 }],
	["a WebP", corners(30, 20, "webp"), { mimeType: "image/webp", width: 30, height: 20, orientation: 1 }],
	["a GIF", GIF, { mimeType: "image/gif", width: 1, height: 1, orientation: 1 }],
	[
		"a turned JPEG",
		corners(30, 20, "jpeg", { orientation: 6 }),
		{ mimeType: "image/jpeg", width: 30, height: 20, orientation: 6 },
	],
	[
		"a JPEG with long metadata",
		jpegHeader(640, 480, 200_000),
		{ mimeType: "image/jpeg", width: 640, height: 480, orientation: 1 },
	],
])("the header of %s is read", (_name, image, header) => {
	expect(readImageHeader(bytesOf(image))).toEqual(header);
});

test.each([
	["52494646000000005745425056503820000000000000009d012a1e001400", 30, 20],
	["524946460000000057454250565038580a000000000000001d0000130000", 30, 20],
])("the sizes of lossy and extended WebP files are read", (hex, width, height) => {
	expect(readImageHeader(Buffer.from(hex, "hex"))).toMatchObject({ mimeType: "image/webp", width, height });
});

test("no prefix of an image, and no other file, has a wrong size or throws", () => {
	for (const image of [
		corners(30, 20, "png"),
		corners(30, 20, "jpeg", { orientation: 3 }),
		corners(30, 20, "webp"),
		GIF,
	]) {
		const bytes = bytesOf(image);
		const complete = readImageHeader(bytes);
		for (let length = 0; length < Math.min(bytes.length, 700); length++) {
			const header = readImageHeader(bytes.subarray(0, length));
			if (header !== null) expect(header).toEqual(complete);
		}
	}
	expect(readImageHeader(Buffer.from("%PDF-1.7"))).toBeNull();
	expect(imageType(Buffer.from("BM"))).toBeUndefined();
});
