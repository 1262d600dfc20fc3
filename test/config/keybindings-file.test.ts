import { join } from "node:path";
import { expect, test } from "vitest";
import { readKeybindings } from "../../src/config/keybindings-file.js";
import { createKeymap } from "../../src/tui/keymap.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

function read(text: string) {
	const dir = tempDir();
	writeFiles(dir, { "keybindings.json": text });
	return readKeybindings(join(dir, "keybindings.json"));
}

test("placeOf locates a binding and each of its keys by line and column", () => {
	const file = read('{\n\t"app.model": [\n\t\t"f2",\n\t\t"f3"\n\t],\n\t"app.exit" : "f3"\n}\n');
	expect(file).toMatchObject({ value: { "app.model": ["f2", "f3"], "app.exit": "f3" }, problem: null });
	expect([
		file.placeOf("app.model"),
		file.placeOf("app.model", "f3"),
		file.placeOf("app.exit", "f3"),
		file.placeOf("app.exit", "f9"),
		file.placeOf("app.none"),
	]).toEqual([":2:2", ":4:3", ":6:2", ":6:2", ""].map((position) => `keybindings.json${position}`));
});

test("$schema is accepted", () => {
	const file = read('{"$schema": "./keybindings.schema.json", "app.exit": "f3"}');
	expect(createKeymap(file.value).problems).toEqual([]);
	createKeymap();
});

test("invalid JSON is reported with its location, and a missing file is not a problem", () => {
	expect(read("{ oops }")).toMatchObject({
		value: {},
		problem: expect.stringMatching(/keybindings\.json:1:3: .*fix the file/),
	});
	expect(readKeybindings(join(tempDir(), "keybindings.json"))).toMatchObject({ value: {}, problem: null });
});
