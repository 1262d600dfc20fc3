import { join } from "node:path";
import { expect, test } from "vitest";
import { listThemeFiles, loadThemeFile } from "../../src/config/theme-files.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

function homeWith(files: Record<string, unknown>): string {
	const home = tempDir();
	writeFiles(home, files);
	return home;
}

test("themes of the user, of pi and of the project are listed; the first of them with a name counts", () => {
	const home = homeWith({
		".pi/agent/themes/dusk.json": {},
		".pi/agent/themes/notes.txt": "",
		".pi/agent/themes/light.json": {},
		".pi/agent/themes/.hidden.json": {},
		"project/.pi/themes/dusk.json": {},
		"project/.pi/themes/brand.json": {},
		".pi/agent/themes/nord.json": {},
		"project/.pi/themes/nord.json": {},
		"project/.pi/themes/gruvbox.json": {},
		"project/.pi/themes/folder.json/x": "",
	});
	const found = listThemeFiles({ user: join(home, ".pi/agent/themes"), project: join(home, "project/.pi/themes") });
	expect(found.filter(({ scope }) => scope !== "bundled")).toEqual([
		{ name: "brand", path: join(home, "project/.pi/themes/brand.json"), scope: "project", within: expect.anything() },
		{ name: "dusk", path: join(home, ".pi/agent/themes/dusk.json"), scope: "user" },
		{ name: "nord", path: join(home, ".pi/agent/themes/nord.json"), scope: "user" },
	]);
	expect(found.find(({ name }) => name === "gruvbox")?.scope).toBe("bundled");
	const alone = listThemeFiles({ user: join(home, "nowhere"), project: join(home, "nowhere") });
	expect([alone.length, ...new Set(alone.map(({ scope }) => scope))]).toEqual([6, "bundled"]);
});

test("problems in a theme file are reported with their location", () => {
	const home = homeWith({
		"torn.json": '{\n  "colors": {"accent": "red",}\n}',
		"list.json": "[]",
		"wrong.json": { colors: { dim: 300 }, extra: 1 },
	});
	expect(loadThemeFile({ path: join(home, "torn.json") })).toEqual({
		theme: null,
		problems: [expect.stringMatching(/torn\.json:2:30: a "," before "}" is not allowed/)],
	});
	expect(loadThemeFile({ path: join(home, "list.json") })).toEqual({
		theme: null,
		problems: [expect.stringMatching(/list\.json:1:1: expected an object/)],
	});
	expect(loadThemeFile({ path: join(home, "wrong.json") })).toEqual({
		theme: { colors: {} },
		problems: [
			expect.stringMatching(/wrong\.json: colors\.dim must be a color/),
			expect.stringMatching(/wrong\.json: unknown "extra"; ignored$/),
		],
	});
	expect(loadThemeFile({ path: join(home, "none.json") })).toEqual({
		theme: null,
		problems: [`${join(home, "none.json")} does not exist`],
	});
});
