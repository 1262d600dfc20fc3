import { readFileSync } from "node:fs";
import { Container, Markdown, TUI } from "@mariozechner/pi-tui";
import { expect, test } from "vitest";
import { editorPastes, Redo } from "../../../src/tui/internals/editor.js";
import { overrideMarkdown } from "../../../src/tui/internals/markdown.js";
import { PI_TUI_VERSION } from "../../../src/tui/internals/members.js";
import { takeOverFrames } from "../../../src/tui/internals/tui.js";
import { createTheme } from "../../../src/tui/theme.js";
import { VirtualTerminal } from "../../helpers/virtual-terminal.js";

test("package.json pins the pi-tui version whose private members are used", () => {
	const text = readFileSync(new URL("../../../package.json", import.meta.url), "utf8");
	const { devDependencies }: { devDependencies: Record<string, string> } = JSON.parse(text);
	expect(devDependencies["@mariozechner/pi-tui"]).toBe(PI_TUI_VERSION);
});

test.each([
	["TUI has no doRender of type function", () => takeOverFrames(without(screen(), "doRender"), () => {})],
	["TUI has no renderRequested of type boolean", () => takeOverFrames(without(screen(), "renderRequested"), () => {})],
	["Markdown has no renderInlineTokens of type function", () => override(without(markdown(), "renderInlineTokens"))],
	["Editor has no pastes of type object", () => editorPastes(new Container())],
	["Editor has no undoStack of type object", () => new Redo(editorWith({}))],
	["UndoStack has no push of type function", () => new Redo(editorWith({ undoStack: {}, state: {} }))],
])("a version of pi-tui without a member is refused: %s", (problem, use) => {
	expect(use).toThrow(new TypeError(`pi needs pi-tui ${PI_TUI_VERSION}: ${problem} in this version`));
});

function editorWith(members: object): { getText(): string } {
	return { getText: () => "", ...members };
}

function screen(): TUI {
	return new TUI(new VirtualTerminal(20, 5));
}

function markdown(): Markdown {
	return new Markdown("", 0, 0, createTheme("plain").markdown);
}

function override(component: Markdown): void {
	overrideMarkdown(component, {
		block: (token, width, { original }) => original(token, width),
		inline: (tokens) => tokens,
	});
}

function without<T extends object>(component: T, member: string): T {
	Object.defineProperty(component, member, { value: undefined });
	return component;
}
