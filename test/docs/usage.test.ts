import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { HELP_TEXT } from "../../src/cli/help.js";
import { BUILTIN_COMMANDS } from "../../src/commands/builtin/index.js";
import { choices } from "../../src/config/json-schema.js";
import { SETTING_ROWS } from "../../src/config/settings-schema.js";
import { KEY_ACTIONS } from "../../src/tui/key-table.js";
import { createKeymap } from "../../src/tui/keymap.js";

const page = readFileSync(new URL("../../docs/usage.md", import.meta.url), "utf8");

/** Cells of the table rows in a section of the page, without the header row. */
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

test("the page quotes the output of pi --help exactly", () => {
	expect(page).toContain(`\`\`\`\n${HELP_TEXT.trimEnd()}\n\`\`\``);
});

test("the page lists the keys of the keymap, including all editor actions of pi", () => {
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

test("the page lists the built-in commands in palette order", () => {
	expect(rowsOf("Commands")).toEqual(
		BUILTIN_COMMANDS.map(({ name, argumentHint, aliases = [], description }) => [
			[argumentHint ? `${name} ${argumentHint}` : name, ...aliases].map((word) => `\`/${word}\``).join(", "),
			description,
		]),
	);
});

test("the table of settings matches the schema (npm run schemas updates it)", async () => {
	const rows = SETTING_ROWS.flatMap(({ path, schema, group }, at) => {
		const value = schema.default === undefined ? "" : `\`${JSON.stringify(schema.default)}\``;
		const names = schema.type === "boolean" ? "" : (choices(schema) ?? []).map((name) => `\`"${name}"\``).join(", ");
		const meaning = `${schema.description}${names && `: ${names}`}`;
		const marks = [schema["x-live"] ? "now" : "next start", schema["x-project"] ? "yes" : ""];
		const row = `| ${[`\`${path}\``, value, meaning, ...marks].join(" | ")} |`.replaceAll("|  |", "| |");
		return group === SETTING_ROWS[at - 1]?.group ? [row] : [`| **${group}** | | | | |`, row];
	});
	const head = ["| setting | default | description | applies | project |", "|---|---|---|---|---|"];
	const [before = "", rest = ""] = page.split(/^\| setting \| [\s\S]*?\n(?=\n)/m);
	const written = `${before}${[...head, ...rows].join("\n")}\n${rest}`;
	await expect(written).toMatchFileSnapshot("../../docs/usage.md");
});
