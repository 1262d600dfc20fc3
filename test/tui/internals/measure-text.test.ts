import { visibleWidth } from "@mariozechner/pi-tui";
import { expect, test } from "vitest";
import { simpleWidth } from "../../../src/tui/internals/measure-text.js";

test("text that is measured without a segmenter has the width that a segmenter finds", () => {
	const characters = Array.from({ length: 0xffff - 0x20 }, (_, at) => String.fromCharCode(0x20 + at));
	const simple = characters.filter((character) => simpleWidth(character) !== -1);
	// The emoji makes pi-tui segment the whole text.
	const isWrong = (text: string) => simpleWidth(text) + 2 !== visibleWidth(`${text}🙂`);
	expect(simple.filter((character) => isWrong(character) || isWrong(`${character}a${character}`))).toEqual([]);
});

test("the signs that pi draws and common scripts need no segmenter", () => {
	const signs = "…→─–−✗✓▎—┆›↓◆│‹▸∴↵☐☑●○↑←␛▾⋮⇥ℹ•“”◇◂▱▰™€⠼éß";
	expect([...signs].filter((sign) => simpleWidth(sign) !== 1)).toEqual([]);
	expect([..."漢字、ひらがなカタカナー한글！"].filter((letter) => simpleWidth(letter) !== 2)).toEqual([]);
});
