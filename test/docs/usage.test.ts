import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { HELP_TEXT } from "../../src/cli/help.js";
import { BUILTIN_COMMANDS } from "../../src/commands/builtin/index.js";
import { defaultSettings } from "../../src/config/settings.js";
import { SETTING_ROWS } from "../../src/config/settings-table.js";
import { KEY_ACTIONS } from "../../src/tui/key-table.js";
import { createKeymap } from "../../src/tui/keymap.js";
import { isObject } from "../helpers/json.js";

const page = readFileSync(new URL("../../docs/usage.md", import.meta.url), "utf8");

/** Cells of the table rows in a section of the page, without the head. */
function rowsOf(section: string): string[][] {
	const [, text = ""] = page.split(`\n## ${section}\n`);
	const lines = (text.split("\n## ")[0] ?? "").split("\n").filter((line) => line.startsWith("|"));
	return lines.slice(2).map((line) =>
		line
			.slice(1, -1)
			.split(/(?<!\\)\|/)
			.map((cell) => cell.trim().replaceAll("\\|", "|")),
	);
}

function codeOf(cell = ""): string {
	return cell.replace(/^`|`$/g, "");
}

test("the command line is quoted as pi --help prints it", () => {
	expect(page).toContain(`\`\`\`\n${HELP_TEXT.trimEnd()}\n\`\`\``);
});

test("the keys are those of the keymap, every action of pi's own in the editor among them", () => {
	const rows = rowsOf("Keys").map(([action, keys, does]) => [codeOf(action), keys, does]);
	const keymap = createKeymap();
	const actions = KEY_ACTIONS.filter(({ action }) => action.startsWith("app."));
	expect(rows).toEqual(actions.map(({ action, description }) => [action, keymap.keysOf(action), description]));
	for (const { action } of actions) expect(createKeymap({ [action]: [] }).problems).toEqual([]);
});

test("the example of key bindings has no problems", () => {
	const [, example = ""] = /keybindings\.json[\s\S]*?```json\n([\s\S]*?)```/.exec(page) ?? [];
	const bindings: unknown = JSON.parse(example);
	expect(createKeymap(bindings).problems).toEqual([]);
});

test("the commands are the built-in ones, in the order of the palette", () => {
	expect(rowsOf("Commands")).toEqual(
		BUILTIN_COMMANDS.map(({ name, argumentHint, aliases = [], description }) => [
			[argumentHint ? `${name} ${argumentHint}` : name, ...aliases].map((word) => `\`/${word}\``).join(", "),
			description,
		]),
	);
});

test("every setting is there, with its default", () => {
	const rows = rowsOf("Settings").map(([name, value]) => [codeOf(name), codeOf(value)]);
	const [, unused = ""] = /without effect so far: ([^.]*(?:\.\w[^.]*)*)\.\n/.exec(page) ?? [];
	const others = [...unused.matchAll(/`([\w.]+)`/g)].map(([, name = ""]) => name);
	const settings = new Map(flatten(defaultSettings()));
	expect([...rows.map(([name = ""]) => name), ...others].sort()).toEqual([...settings.keys()].sort());
	for (const [name = "", value] of rows)
		expect([name, value]).toEqual([name, JSON.stringify(settings.get(name)) ?? ""]);
});

test("the settings mean what the table says that /settings shows", () => {
	const means = new Map(SETTING_ROWS.map((row) => [row.path, row.means.replaceAll("`", "")]));
	for (const [name, , text = ""] of rowsOf("Settings")) {
		const meaning = means.get(codeOf(name)) ?? "no such setting";
		expect([name, text.replaceAll("`", "").slice(0, meaning.length)]).toEqual([name, meaning]);
	}
});

/** Groups by their inner names: `compaction.enabled`. */
function flatten(settings: object): [string, unknown][] {
	return Object.entries(settings).flatMap(([key, value]): [string, unknown][] =>
		isObject(value) && Object.keys(value).length > 0
			? Object.entries(value).map(([inner, item]): [string, unknown] => [`${key}.${inner}`, item])
			: [[key, value]],
	);
}
