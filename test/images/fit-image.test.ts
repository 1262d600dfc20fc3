import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { fitImage } from "../../src/images/fit-image.js";
import { API_LIMITS, COMMON_LIMITS } from "../../src/images/limits.js";
import { describeFit } from "../../src/images/sent-image.js";
import { corners, cornersOf, GIF, noise, png } from "../helpers/images.js";
import { tempDir } from "../helpers/temp.js";

const UPRIGHT = ["red", "green", "blue", "white"];

test("the common limits are accepted by every API", () => {
	for (const { types, bytes, edge = Number.POSITIVE_INFINITY } of API_LIMITS) {
		expect(types).toEqual(expect.arrayContaining([...COMMON_LIMITS.types]));
		expect(bytes).toBeGreaterThanOrEqual(COMMON_LIMITS.bytes);
		expect(edge).toBeGreaterThanOrEqual(COMMON_LIMITS.edge);
	}
	expect(COMMON_LIMITS).toEqual({ types: ["image/png", "image/jpeg"], bytes: 3_538_944, edge: 1568 });
});

describe("an image within the limits", () => {
	test.each(["png", "jpeg"] as const)("is sent unchanged as %s", async (type) => {
		const image = corners(40, 30, type);
		expect(await fitImage(image, "/nowhere")).toEqual(image);
	});

	test("gets the type of its bytes, whatever a program calls it", async () => {
		const image = corners(40, 30, "png");
		expect(await fitImage({ ...image, mimeType: "image/jpeg" }, "/nowhere")).toEqual(image);
	});
});

describe("an image beyond the limits", () => {
	test("is scaled to the longest side that all providers accept, and its original is saved privately", async () => {
		const dir = `${tempDir()}/private`;
		const image = corners(3000, 2000, "png");
		const sent = await fitImage(image, dir);
		expect(cornersOf(sent)).toEqual({ width: 1568, height: 1045, corners: UPRIGHT });
		expect(sent).toMatchObject({
			mimeType: "image/png",
			original: { width: 3000, height: 2000, mimeType: "image/png", bytes: Buffer.from(image.data, "base64").length },
		});
		const path = sent.original?.path ?? "";
		expect(dirname(path)).toBe(dir);
		expect(readFileSync(path).toString("base64")).toBe(image.data);
		expect(statSync(path).mode & 0o777).toBe(0o600);
		expect(statSync(dir).mode & 0o777).toBe(0o700);
		expect(describeFit(sent)).toEqual(["3000×2000 scaled to 1568×1045"]);
		expect(await fitImage(sent, dir)).toEqual({ type: "image", data: sent.data, mimeType: "image/png" });
	});

	test("of a file names that file", async () => {
		const dir = `${tempDir()}/private`;
		const sent = await fitImage({ ...corners(1600, 10, "jpeg"), path: "/home/me/wide.jpg" }, dir);
		expect(sent.original?.path).toBe("/home/me/wide.jpg");
		expect(existsSync(dir)).toBe(false);
		expect(cornersOf(sent)).toMatchObject({ width: 1568, height: 10 });
	});

	test("is sent even if its original cannot be saved", async () => {
		const sent = await fitImage(corners(1600, 10, "jpeg"), "/proc/nowhere");
		expect(sent.original?.path).toBeNull();
	});

	test.each([1, 2, 3, 4, 5, 6, 7, 8])("is turned upright from orientation %i", async (orientation) => {
		const {
			corners: found,
			width,
			height,
		} = cornersOf(await fitImage(corners(1600, 80, "jpeg", { orientation }), tempDir()));
		const expected: Record<number, string[]> = {
			1: ["red", "green", "blue", "white"],
			2: ["green", "red", "white", "blue"],
			3: ["white", "blue", "green", "red"],
			4: ["blue", "white", "red", "green"],
			5: ["red", "blue", "green", "white"],
			6: ["blue", "red", "white", "green"],
			7: ["white", "green", "blue", "red"],
			8: ["green", "white", "red", "blue"],
		};
		expect(found).toEqual(expected[orientation]);
		expect([width, height]).toEqual(orientation >= 5 ? [78, 1568] : [1568, 78]);
	});

	test.each([
		["a GIF, which may be animated", GIF],
		["a WebP, which local servers cannot read", corners(40, 30, "webp")],
	])("%s is converted to PNG", async (_name, image) => {
		const sent = await fitImage(image, tempDir());
		expect(sent.mimeType).toBe("image/png");
		expect(describeFit(sent)).toEqual(["converted to image/png"]);
	});

	test("with too many bytes becomes a JPEG within the limits", async () => {
		const image = noise(1400, 1400);
		expect(Buffer.from(image.data, "base64").length).toBeGreaterThan(COMMON_LIMITS.bytes);
		const sent = await fitImage(image, tempDir());
		expect(cornersOf(sent)).toMatchObject({ width: 1400, height: 1400 });
		expect(sent.mimeType).toBe("image/jpeg");
		expect(Buffer.from(sent.data, "base64").length).toBeLessThan(COMMON_LIMITS.bytes);
	});

	test("is drawn on white if JPEG loses its transparency", async () => {
		const sent = await fitImage(noise(1400, 1400, 0), tempDir());
		expect(sent.mimeType).toBe("image/jpeg");
		expect(cornersOf(sent).corners).toEqual(["white", "white", "white", "white"]);
	});
});

describe("refused with a sentence", () => {
	test("a file that is no image", async () => {
		const data = Buffer.from("BM not an image").toString("base64");
		await expect(fitImage({ type: "image", data, mimeType: "image/bmp", path: "/x/a.bmp" }, "")).rejects.toMatchObject({
			code: "bad_arguments",
			message: "Cannot send a.bmp: it is damaged, or not a PNG, JPEG, GIF or WebP file",
		});
	});

	test("a bomb: a small file with more pixels than memory, without decoding it", async () => {
		const bomb = Buffer.from(png(8, 8).data, "base64");
		bomb.writeUInt32BE(60_000, 16);
		bomb.writeUInt32BE(60_000, 20);
		const started = performance.now();
		const data = bomb.toString("base64");
		await expect(fitImage({ type: "image", data, mimeType: "image/png" }, "")).rejects.toMatchObject({
			message: "Cannot send the image: it has 60000×60000 pixels; pi decodes at most 100 million",
		});
		expect(performance.now() - started).toBeLessThan(100);
	});

	test("an image whose data is damaged", async () => {
		const header = Buffer.from(corners(2000, 2000, "png").data, "base64").subarray(0, 60);
		await expect(
			fitImage({ type: "image", data: header.toString("base64"), mimeType: "image/png" }, tempDir()),
		).rejects.toMatchObject({ message: "Cannot send the image: it is damaged" });
		// A failed decoding leaves nothing behind that breaks the next one.
		expect(cornersOf(await fitImage(corners(1600, 16, "png"), tempDir())).corners).toEqual(UPRIGHT);
	});
});
