import { expect, test } from "vitest";
import { PastedImages } from "../../../src/modes/interactive/pasted-images.js";

test("a pasted image inserts a mark in the text and is sent with it", async () => {
	let draft = "";
	const images = new PastedImages(
		(mark) => {
			draft += mark;
		},
		[["no-such-program"], ["sh", "-c", "echo no image"], ["sh", "-c", String.raw`printf '\211PNG data'`]],
	);
	expect(await images.paste()).toBeNull();
	expect(await images.paste()).toBeNull();
	expect(draft).toBe("[image #1] [image #2] ");
	const data = Buffer.from("\u0089PNG data", "latin1").toString("base64");
	expect(images.in("look at [image #2] and [image #9]")).toEqual([{ type: "image", data, mimeType: "image/png" }]);
	expect(images.in("nothing")).toEqual([]);
});

test("AppleScript's hexadecimal image format is read", async () => {
	const images = new PastedImages(() => {}, [["echo", "«data PNGf89504E47»"]]);
	await images.paste();
	expect(images.in("[image #1]")[0]?.data).toBe(Buffer.from([0x89, 0x50, 0x4e, 0x47]).toString("base64"));
});

test("a clipboard without an image is reported", async () => {
	const images = new PastedImages(() => {}, [["false"]]);
	expect(await images.paste()).toMatch(/no supported image/);
});

test("PowerShell's Base64 output is read", async () => {
	const images = new PastedImages(() => {}, [["echo", "iVBORw0KGgoAAA=="]]);
	expect(await images.paste()).toBeNull();
	expect(images.in("[image #1]")[0]?.data).toBe("iVBORw0KGgoAAA==");
});

test("without a clipboard program, the hint names one to install", async () => {
	const images = new PastedImages(() => {}, [["no-such-program"], ["nor-this-one"]]);
	expect(await images.paste()).toMatch(/^no program found that reads images .* install /);
});
