import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { paths } from "../../src/config/paths.js";
import { listThemeFiles } from "../../src/config/theme-files.js";
import { ThemeLibrary } from "../../src/config/theme-library.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

function library(files: Record<string, unknown> = {}) {
	const home = tempDir();
	writeFiles(home, files);
	const places = paths({}, join(home, "project"), home);
	return { home, places, library: new ThemeLibrary(places) };
}

test("themes are found with the user and in the project; of two with one name the user's counts", () => {
	const { home, library: themes } = library({
		".pi/agent/themes/dusk.json": {},
		".pi/agent/themes/notes.txt": "",
		".pi/agent/themes/light.json": {},
		".pi/agent/themes/.hidden.json": {},
		"project/.pi/themes/dusk.json": {},
		"project/.pi/themes/brand.json": {},
		"project/.pi/themes/folder.json/x": "",
	});
	expect(themes.list()).toEqual([
		{ name: "brand", path: join(home, "project/.pi/themes/brand.json"), scope: "project" },
		{ name: "dusk", path: join(home, ".pi/agent/themes/dusk.json"), scope: "user" },
	]);
	expect(listThemeFiles({ user: join(home, "nowhere"), project: join(home, "nowhere") })).toEqual([]);
});

test("what is wrong with a file is told with its place in it", () => {
	const { home, library: themes } = library({
		"torn.json": '{\n  "colors": {"accent": "red",}\n}',
		"list.json": "[]",
		"wrong.json": { colors: { dim: 300 }, extra: 1 },
	});
	expect(themes.load(join(home, "torn.json"))).toEqual({
		theme: null,
		problems: [expect.stringMatching(/torn\.json:2:30: a "," before "}" is not allowed/)],
	});
	expect(themes.load(join(home, "list.json"))).toEqual({
		theme: null,
		problems: [expect.stringMatching(/list\.json:1:1: expected an object/)],
	});
	expect(themes.load(join(home, "wrong.json"))).toEqual({
		theme: { colors: {} },
		problems: [
			expect.stringMatching(/wrong\.json: colors\.dim must be a colour/),
			expect.stringMatching(/wrong\.json: unknown "extra"; not used$/),
		],
	});
	expect(themes.load(join(home, "none.json"))).toEqual({
		theme: null,
		problems: [`${join(home, "none.json")} is gone`],
	});
});

test("a change is heard of once, also when an editor puts a new file in place of the old one", async () => {
	const { home, library: themes } = library({ "t/dusk.json": {}, "t/other.json": {} });
	const path = join(home, "t/dusk.json");
	let changes = 0;
	const close = themes.watch(path, () => {
		changes += 1;
	});
	onTestFinished(close);
	writeFileSync(path, '{"base": "dark"}');
	writeFileSync(path, '{"base": "light"}');
	await expect.poll(() => changes).toBe(1);
	writeFileSync(join(home, "t/other.json"), "{ }");
	writeFileSync(`${path}~`, "{}");
	renameSync(`${path}~`, path);
	await expect.poll(() => changes).toBe(2);
	rmSync(path);
	await expect.poll(() => changes).toBe(3);
	close();
	writeFileSync(path, "{}");
	const again = themes.watch(path, () => {
		changes += 10;
	});
	onTestFinished(again);
	writeFileSync(path, "{ }");
	await expect.poll(() => changes).toBe(13);
});

test("a directory that is not there is not watched, and nothing breaks", () => {
	const { home, library: themes } = library();
	themes.watch(join(home, "nowhere", "x.json"), () => {})();
});

test("the choice is kept beside keys that pi does not know", async () => {
	const { places, library: themes } = library({ ".pi/agent/settings.json": { mine: 1, theme: "dark" } });
	const saved = () => JSON.parse(readFileSync(places.settings, "utf8"));
	await themes.save("dusk");
	expect(saved()).toEqual({ mine: 1, theme: "dusk" });
	await themes.save(undefined);
	expect(saved()).toEqual({ mine: 1 });
});
