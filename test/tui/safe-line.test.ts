import headless from "@xterm/headless";
import fc from "fast-check";
import { expect, test } from "vitest";
import { safeLine, sealLine } from "../../src/tui/safe-line.js";
import { PROPERTY_TIMEOUT_MS, propertyRuns } from "../helpers/property-blocks.js";

test.each([
	["a plain line", "plain", "plain"],
	["one style", "\x1b[31mred\x1b[39m and more", "\x1b[31mred\x1b[m and more"],
	["styles that end together", "\x1b[1m\x1b[33mtitle\x1b[39m\x1b[22m", "\x1b[1m\x1b[33mtitle\x1b[m"],
	["a style inside another", "\x1b[1ma \x1b[31mb\x1b[39m c\x1b[22m", "\x1b[1ma \x1b[31mb\x1b[39m c\x1b[m"],
	["a style that is left on", "a \x1b[38;5;240mb", "a \x1b[38;5;240mb\x1b[m"],
	["styles without text", "a\x1b[31m\x1b[39mb\x1b[0m", "ab"],
	["an RGB color", "\x1b[38;2;39;0;22mx\x1b[39m", "\x1b[38;2;39;0;22mx\x1b[m"],
	["one style after another", "\x1b[31ma\x1b[39m\x1b[32mb\x1b[39m", "\x1b[31ma\x1b[39m\x1b[32mb\x1b[m"],
	["a link that is left on", "\x1b]8;;http://x.y\x07x", "\x1b]8;;http://x.y\x07x\x1b]8;;\x07"],
	["a link that ends", "\x1b]8;;http://x.y\x07x\x1b]8;;\x07", "\x1b]8;;http://x.y\x07x\x1b]8;;\x07"],
])("%s is sealed in the fewest bytes", (_, line, sealed) => {
	expect(sealLine(line)).toBe(sealed);
});

test.each([
	["at the end", "\x1b[44mtext\x1b[49m\x1b[44m\x1b[K\x1b[49m", null],
	["before other text", "text\x1b[K more", "text␛[K more"],
	["before another one", "text\x1b[K\x1b[K", "text␛[K\x1b[K"],
	["of the complete row", "text\x1b[2K", "text␛[2K"],
])("an erasure %s is kept only if it fills the rest of the row", (_, line, safe) => {
	expect(safeLine(line, 40)).toBe(safe ?? line);
});

/** The cells of a line and a letter after it on a terminal: characters with colors and styles. */
async function cells(line: string): Promise<string[]> {
	const terminal = new headless.Terminal({ cols: 60, rows: 2, allowProposedApi: true });
	await new Promise<void>((resolve) => terminal.write(`${line}!`, resolve));
	const row = terminal.buffer.active.getLine(0);
	const shown: string[] = [];
	for (let at = 0; at < terminal.buffer.active.cursorX; at += 1) {
		const cell = row?.getCell(at);
		if (!cell) continue;
		const colors = `${cell.getFgColorMode()}:${cell.getFgColor()} ${cell.getBgColorMode()}:${cell.getBgColor()}`;
		const styles = [
			cell.isBold(),
			cell.isDim(),
			cell.isItalic(),
			cell.isUnderline(),
			cell.isInverse(),
			cell.isStrikethrough(),
		];
		shown.push(`${cell.getChars()} ${colors} ${styles.map((on) => (on ? 1 : 0)).join("")}`);
	}
	terminal.dispose();
	return shown;
}

const part = fc.constantFrom(
	..."abc".split(""),
	...["0", "1", "2", "3", "4", "7", "9", "22", "23", "24", "27", "29", "31", "39", "41", "49", "92", "103"].map(
		(code) => `\x1b[${code}m`,
	),
	...["38;5;39", "48;5;22", "38;2;1;0;39", "1;31", "0;4", ""].map((code) => `\x1b[${code}m`),
);

test(
	"a sealed line looks the same, is never longer, and leaves text after it plain",
	async () => {
		await fc.assert(
			fc.asyncProperty(fc.array(part, { maxLength: 25 }), async (parts) => {
				const line = parts.join("");
				const sealed = sealLine(line);
				expect(await cells(sealed)).toEqual(await cells(`${line}\x1b[0m`));
				expect(sealed.length).toBeLessThanOrEqual(line.length + "\x1b[m".length);
			}),
			propertyRuns(100),
		);
	},
	PROPERTY_TIMEOUT_MS,
);
