import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createKeymap, KEY_ACTIONS } from "../../src/tui/keymap.js";
import { encodingsOf } from "../helpers/key-encodings.js";

const page = readFileSync(new URL("../../docs/keybindings.md", import.meta.url), "utf8");

test("every action is listed with its default keys and what it does", () => {
	const rows = page.match(/^\| `.*$/gm);
	expect(rows).toEqual(
		KEY_ACTIONS.map(
			({ action, keys, description }) =>
				`| \`${action}\` | ${keys.map((key) => `\`${key}\``).join(" ")} | ${description} |`,
		),
	);
});

test("the example does what it says, without a problem", () => {
	const bindings: unknown = JSON.parse(/```json\n([\s\S]*?)```/.exec(page)?.[1] ?? "");
	const keymap = createKeymap(bindings);
	expect(keymap.problems).toEqual([]);
	expect(keymap.list()).toEqual(
		expect.arrayContaining([
			["ctrl+e / f2", "Choose the model"],
			["ctrl+- / ctrl+x", "Undo"],
			["end", "Move to line end"],
		]),
	);
	expect(keymap.keysOf("app.suspend")).toBe("");
	createKeymap();
});

test("every default key that a plain terminal cannot send is explained", () => {
	const missing = KEY_ACTIONS.flatMap(({ keys }) => keys).filter((key) => encodingsOf(key).legacy === undefined);
	expect(missing).toEqual(["shift+ctrl+p", "shift+ctrl+z", "shift+enter"]);
	expect(page).toContain("- Shift+Enter sends");
	expect(page).toContain("Shift+Ctrl+P goes");
	expect(page).toContain("Shift+Ctrl+Z suspends");
});
