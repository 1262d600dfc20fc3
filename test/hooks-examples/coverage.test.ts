import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { BUNDLED_HOOKS } from "../../src/hooks/bundled.js";
import { EVENT_NAMES } from "../../src/hooks/events.js";
import type { HookUI } from "../../src/hooks/types.js";
import { example } from "./example.js";

/** Every member of `ctx.ui`: the compiler rejects a missing or an unknown one. */
const UI_MEMBERS: Readonly<Record<keyof HookUI, true>> = {
	select: true,
	confirm: true,
	input: true,
	editor: true,
	notify: true,
	setStatus: true,
	setWidget: true,
	custom: true,
	setTitle: true,
	setWorkingMessage: true,
	setLook: true,
	setFooter: true,
	setHeader: true,
	setEditor: true,
	addAutocompleteProvider: true,
	pasteToEditor: true,
	getEditorText: true,
	setEditorText: true,
	theme: true,
	themes: true,
};

const sources = BUNDLED_HOOKS.map(({ name }) => readFileSync(example(`${name}.ts`), "utf8"));

test.each(EVENT_NAMES)("an example handles the event %s", (name) => {
	expect(sources.some((source) => source.includes(`pi.on("${name}"`))).toBe(true);
});

test.each(Object.keys(UI_MEMBERS))("an example uses ctx.ui.%s", (member) => {
	const use = new RegExp(`\\bui\\.${member}\\b|\\{[^}]*\\b${member}\\b[^}]*\\} = (ctx\\.)?ui\\b`);
	expect(sources.some((source) => use.test(source))).toBe(true);
});
