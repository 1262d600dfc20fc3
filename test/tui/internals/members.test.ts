import { readFileSync } from "node:fs";
import { Container } from "@mariozechner/pi-tui";
import { expect, test } from "vitest";
import { editorPastes, Redo } from "../../../src/tui/internals/editor.js";
import { PI_TUI_VERSION } from "../../../src/tui/internals/members.js";

test("package.json pins the pi-tui version whose private members are used", () => {
	const text = readFileSync(new URL("../../../package.json", import.meta.url), "utf8");
	const { devDependencies }: { devDependencies: Record<string, string> } = JSON.parse(text);
	expect(devDependencies["@mariozechner/pi-tui"]).toBe(`npm:@earendil-works/pi-tui@${PI_TUI_VERSION}`);
});

test.each([
	["Editor has no pastes of type object", () => editorPastes(new Container())],
	["Editor has no undoStack of type object", () => new Redo(editorWith({}))],
	[
		"UndoStack has no push of type function",
		() => new Redo(editorWith({ undoStack: {}, state: {}, pastes: {}, pasteCounter: 0 })),
	],
])("a version of pi-tui without a member is refused: %s", (problem, use) => {
	expect(use).toThrow(new TypeError(`pi needs pi-tui ${PI_TUI_VERSION}: ${problem} in this version`));
});

function editorWith(members: object): { getText(): string } {
	return { getText: () => "", ...members };
}
