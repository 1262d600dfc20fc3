import { expect, test } from "vitest";
import { createBranchPicker } from "../../../../src/modes/interactive/dialogs/branch-picker.js";
import { createKeymap } from "../../../../src/tui/keymap.js";
import { createTheme } from "../../../../src/tui/theme.js";
import { startApp } from "../app.js";

const look = { theme: createTheme("plain"), keymap: createKeymap(), rows: () => 24 };
const MINUTE = 60_000;
const NOW = 100 * MINUTE;

const ROWS = [
	["what is this project?", 1, 20, 40_100, false],
	["why does checkout\nround down?", 5, 17, 31_000, false],
	["now the tax code, and please look at every place where it rounds too", 12, 3, 2100, true],
] as const;

test.each([80, 40])(
	"the picker shows the messages after each branch point and popped messages, at %d columns",
	async (width) => {
		const chosen: unknown[] = [];
		const rows = ROWS.map(([text, entryIndex, messagesAfter, tokensAfter, isInContext], index) => {
			return { text, entryIndex, messagesAfter, tokensAfter, isInContext, at: index * 45 * MINUTE };
		});
		const picker = createBranchPicker(look, rows, (entryIndex) => chosen.push(entryIndex), NOW);
		await expect(`${picker.render(width).join("\n")}\n`).toMatchFileSnapshot(
			`../../../screens/branch-picker-${width}.txt`,
		);
		for (const key of ["\x1b[B", "\r", "\x1b"]) picker.handleInput(key);
		expect(chosen).toEqual([5, null]);
	},
);

const HIDE_FIRST = `export default (pi) => pi.on("context", ({ messages }) => ({ messages: messages.slice(messages.findLastIndex(({ message }) => message.role === "user")) }));`;

test("escape twice opens the picker with the sign of hidden messages, and enter branches", async () => {
	const { terminal, provider, submit, session } = await startApp({ rows: 30, hooks: { "last.ts": HIDE_FIRST } });
	provider.reply("One.", "Two.");
	await terminal.waitFor("0%");
	await submit("first question");
	await terminal.waitFor("One.");
	await submit("second question");
	await terminal.waitFor("Two.");
	await terminal.press("escape");
	await terminal.press("escape");
	const screen = await terminal.waitFor("Branch from which message?");
	expect(screen.filter((line) => / after /.test(line)).map((line) => line.replace(/ {2,}/g, "  "))).toEqual([
		" → ▎ second question  1 after  13  now",
		"  ┆ first question  3 after  26  now",
	]);
	await terminal.press("down", "enter");
	await terminal.waitFor("New session, branched before entry");
	expect(session().entries.filter(({ type }) => type === "message")).toEqual([]);
	expect(await terminal.text()).toMatch(/^ *first question *$/m);
});
