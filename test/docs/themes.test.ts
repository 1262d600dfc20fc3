import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { BUILT_IN_THEMES } from "../../src/themes/built-in.js";
import { ROLE_NAMES, THEME_ROLES } from "../../src/themes/roles.js";
import { checkTheme, themeStyles } from "../../src/themes/theme-file.js";
import { createTheme } from "../../src/tui/theme.js";
import { isObject } from "../helpers/json.js";

const docs = new URL("../../docs/", import.meta.url);
const page = readFileSync(new URL("themes.md", docs), "utf8");

test("every role is listed with its description", () => {
	const [, table = ""] = page.split("\n## Roles\n");
	const rows = [...table.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, name, is]) => [name, is]);
	expect(rows).toEqual(ROLE_NAMES.map((role) => [role, THEME_ROLES[role]]));
});

test("every built-in theme is listed with its description", () => {
	const rows = [...page.matchAll(/^\| `([\w-]+)` \| (.*) \|$/gm)].map(([, name, is]) => [name, is]);
	expect(rows).toEqual(expect.arrayContaining(Object.entries(BUILT_IN_THEMES)));
});

test("the example is a valid theme and renders as described", () => {
	const [, example = ""] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
	const json: unknown = JSON.parse(example);
	if (!isObject(json)) throw new Error("The example is no object");
	const { theme, problems } = checkTheme(json);
	expect(problems).toEqual([]);
	const drawn = createTheme({ name: "dusk", styles: themeStyles(theme, "light") });
	expect([drawn.accent("x"), drawn.dim("x"), drawn.error("x"), drawn.muted("x"), drawn.success("x")]).toEqual([
		"\x1b[38;2;122;162;247mx\x1b[39m",
		"\x1b[38;5;244mx\x1b[39m",
		"\x1b[91mx\x1b[39m",
		"x",
		createTheme("dark").success("x"),
	]);
});

test("the pictures and the schema exist", () => {
	const links = [...page.matchAll(/\]\(((?:images\/|\.\.\/schemas\/)?[\w.-]+\.(?:svg|json))\)/g)].map(
		([, path = ""]) => path,
	);
	expect(links).toContain("../schemas/theme.json");
	expect(links.filter((path) => !existsSync(new URL(path, docs)))).toEqual([]);
});
