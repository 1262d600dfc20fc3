import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { KEY_ACTIONS } from "../../src/tui/key-table.js";
import { createKeymap } from "../../src/tui/keymap.js";
import { encodingsOf } from "../helpers/key-encodings.js";

const page = readFileSync(new URL("../../docs/keybindings.md", import.meta.url), "utf8");

/** The tables of the page: one for each scope. */
function actionTables(): string {
	const scopes = [...new Set(KEY_ACTIONS.map(({ scope }) => scope))];
	const tables = scopes.map((title) => {
		const rows = KEY_ACTIONS.filter(({ scope }) => scope === title).map(
			({ action, keys, description }) =>
				`| \`${action}\` | ${keys.map((key) => `\`${key}\``).join(" ")} | ${description} |`,
		);
		return [`### ${title}`, "", "| action | keys | description |", "|---|---|---|", ...rows].join("\n");
	});
	return `${tables.join("\n\n")}\n`;
}

test("every action is listed by scope with its default keys and description", () => {
	const [, actions = ""] = /<!-- actions -->\n\n([\s\S]*?)\n## /.exec(page) ?? [];
	expect(actions).toEqual(actionTables());
});

test("the example has the described effect and no problems", () => {
	const bindings: unknown = JSON.parse(/```json\n([\s\S]*?)```/.exec(page)?.[1] ?? "");
	const keymap = createKeymap(bindings);
	expect(keymap.problems).toEqual([]);
	expect(keymap.list()).toEqual(
		expect.arrayContaining([
			["ctrl+e / f2", "Choose the model", "Editor"],
			["ctrl+- / ctrl+x", "Undo", "Editor"],
			["end", "Move to line end", "Editor"],
			["z", "Show or omit hidden entries", "Context panel"],
		]),
	);
	expect(keymap.keysOf("app.suspend")).toBe("");
	createKeymap();
});

test("the example for keys of hooks binds them without problems", () => {
	const [, section = ""] = page.split("## Keys of hooks");
	const keymap = createKeymap(JSON.parse(/```json\n([\s\S]*?)```/.exec(section)?.[1] ?? ""));
	const hookKey = { id: "hook.count.0", key: "ctrl+q", description: "Count", hook: "count" };
	keymap.setHookKeys([hookKey, { ...hookKey, id: "hook.notes-first.1", hook: "notes-first", description: "Plan" }]);
	expect([keymap.problems, keymap.hookProblems]).toEqual([[], []]);
	expect(keymap.list().slice(-2)).toEqual([
		["f6", "Count", "Hook count"],
		["alt+p / ctrl+q", "Plan", "Hook notes-first"],
	]);
	createKeymap();
});

test("every default key that a plain terminal cannot send is explained", () => {
	const missing = KEY_ACTIONS.flatMap(({ keys }) => keys).filter((key) => encodingsOf(key).legacy === undefined);
	expect(missing).toEqual(["shift+ctrl+p", "shift+ctrl+z", "shift+enter"]);
	expect(page).toContain("- Shift+Enter sends");
	expect(page).toContain("Shift+Ctrl+P goes");
	expect(page).toContain("Shift+Ctrl+Z suspends");
});
