import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mentionedImages } from "../../src/modes/mentioned-images.js";
import { png } from "../helpers/images.js";
import { tempDir } from "../helpers/temp.js";

const PIXEL = Buffer.from(png(1, 1).data, "base64");

function start() {
	const cwd = tempDir();
	for (const name of ["shot.png", "my shot.PNG", "b.jpg"]) writeFileSync(join(cwd, name), PIXEL);
	writeFileSync(join(cwd, "text.png"), "no image");
	writeFileSync(join(cwd, "notes.txt"), PIXEL);
	return { cwd, found: (text: string) => mentionedImages(text, { cwd, home: cwd }) };
}

test.each<[string, (readonly [at: number, name: string])[]]>([
	["@shot.png", [[0, "shot.png"]]],
	[
		'see @shot.png, @"my shot.PNG" and (@b.jpg)',
		[
			[4, "shot.png"],
			[15, "my shot.PNG"],
			[35, "b.jpg"],
		],
	],
	["why?\n@~/shot.png.", [[5, "shot.png"]]],
	["@shot.png or @./shot.png?", [[0, "shot.png"]]],
])("%j names images", (text, expected) => {
	const { cwd, found } = start();
	expect(found(text).map(({ at, image }) => [at, image.path])).toEqual(
		expected.map(([at, name]) => [at, join(cwd, name)]),
	);
	expect(found(text)[0]?.image).toMatchObject({ type: "image", mimeType: "image/png" });
});

test.each([
	"shot.png",
	"me@shot.png",
	"@missing.png",
	"@text.png",
	"@notes.txt",
	"@shot.png.bak",
	"@shot.png/x",
	"@.png",
	"@server:file://shot.txt",
])("%j names no image", (text) => {
	expect(start().found(text)).toEqual([]);
});

test("a long text with many marks is searched at once", () => {
	const started = performance.now();
	expect(start().found("(@".repeat(50_000) + "@".repeat(50_000))).toEqual([]);
	expect(performance.now() - started).toBeLessThan(5000);
});
