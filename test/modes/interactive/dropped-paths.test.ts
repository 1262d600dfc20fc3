import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, test } from "vitest";
import { dropFiles, droppedPaths, mentionOf } from "../../../src/modes/interactive/dropped-paths.js";
import { PastedImages } from "../../../src/modes/interactive/pasted-images.js";

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk", "base64");
const dir = realpathSync(mkdtempSync(join(tmpdir(), "pi-dropped-")));
const at = (name: string) => join(dir, name);
for (const name of ["plain.ts", "a b.ts", "it's.ts"]) writeFileSync(at(name), "");
writeFileSync(at("shot.png"), PNG);
afterAll(() => rmSync(dir, { recursive: true }));

test.each<[string, string, string[] | null]>([
	["a plain path", at("plain.ts"), [at("plain.ts")]],
	["blanks escaped, and one behind", `${at("a\\ b.ts")} `, [at("a b.ts")]],
	["single quotes", `'${at("a b.ts")}'`, [at("a b.ts")]],
	["double quotes", `"${at("it's.ts")}"`, [at("it's.ts")]],
	["a file URL", pathToFileURL(at("a b.ts")).href, [at("a b.ts")]],
	["several", `${at("plain.ts")} '${at("a b.ts")}'\n${at("it\\'s.ts")}`, [at("plain.ts"), at("a b.ts"), at("it's.ts")]],
	["something that does not exist", at("nothing.ts"), null],
	["a path among words", `see ${at("plain.ts")}`, null],
	["words behind a path", `${at("plain.ts")} is broken`, null],
	["a relative path", "plain.ts", null],
	["a URL of another host", "file://elsewhere/etc/hosts", null],
	["an open quote", `'${at("plain.ts")}`, null],
])("%s", (_, pasted, paths) => {
	expect(droppedPaths(pasted)).toEqual(paths);
});

test("a file inside the working directory is mentioned by its relative path, quoted if necessary", () => {
	expect(mentionOf(at("plain.ts"), dir)).toBe("@plain.ts");
	expect(mentionOf(at("a b.ts"), dir)).toBe('@"a b.ts"');
	expect(mentionOf(at("plain.ts"), join(dir, "sub"))).toBe(`@${at("plain.ts")}`);
	expect(mentionOf(dir, dir)).toBe(`@${dir}`);
});

test("images are attached and other files mentioned; commands keep plain paths", () => {
	const images = new PastedImages(() => {}, []);
	const addImage = (path: string) => images.addFile(path);
	const dropped = `${at("shot.png")} ${at("plain.ts")}`;
	const hint = (text: string) => void hints.push(text);
	const hints: string[] = [];
	expect(dropFiles(dropped, { cwd: dir, elsewhere: null, hint, draft: "look at", addImage })).toBe(
		" [image #1] @plain.ts ",
	);
	expect(images.in("[image #1]")).toEqual([
		{ type: "image", data: PNG.toString("base64"), mimeType: "image/png", path: at("shot.png") },
	]);
	expect(dropFiles(dropped, { cwd: dir, elsewhere: null, hint, draft: "!file ", addImage })).toBeNull();
	expect(dropFiles(dropped, { cwd: dir, elsewhere: null, hint, draft: "/export ", addImage })).toBeNull();
	expect(hints).toEqual([]);
	// A mention would name a file of the other machine.
	expect(dropFiles(dropped, { cwd: dir, elsewhere: "ssh box", hint, draft: "", addImage })).toBe(
		`[image #2] ${join(dir, "plain.ts")} `,
	);
	expect(hints).toEqual(["plain.ts is not on ssh box"]);
	expect(dropFiles("text", { cwd: dir, elsewhere: null, hint, draft: "", addImage })).toBeNull();
});
