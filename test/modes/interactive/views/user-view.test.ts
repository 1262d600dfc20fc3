import headless from "@xterm/headless";
import { expect, test } from "vitest";
import { createTheme } from "../../../../src/tui/theme.js";
import { startApp } from "../app.js";

test.each(["dark", "light", "high-contrast"] as const)("a prompt is on a band that ends with the row (%s)", (name) => {
	const { userBand, userText } = createTheme(name);
	expect([userBand(" "), userText(" ")]).not.toContain(" ");
});

test("the band is behind every row of a prompt, and a selection has no spaces after the text", async () => {
	const app = await startApp({ columns: 60, rows: 20 });
	app.provider.reply("Sure.");
	await app.submit("a prompt that is so long that it needs two rows of the screen, or even more");
	const screen = await app.terminal.waitFor("Sure.");
	const rows = screen.filter((line) => /a prompt|or even more/.test(line));
	expect(rows).toHaveLength(2);
	expect(rows.every((line) => !line.endsWith(" "))).toBe(true);
	const emulator = new headless.Terminal({ cols: 60, rows: 20, allowProposedApi: true });
	await new Promise<void>((resolve) => emulator.write(app.terminal.output, resolve));
	const row = emulator.buffer.active.getLine(screen.indexOf(rows[1] ?? ""));
	expect(row?.getCell(59)?.getBgColor()).toBe(236);
	expect(emulator.buffer.active.getLine(screen.indexOf("▎ Sure."))?.getCell(59)?.isBgDefault()).toBe(true);
});
