import { realpathSync } from "node:fs";
import { expect, test } from "vitest";
import { toolCall } from "../../../helpers/loopback-provider.js";
import { tempDir } from "../../../helpers/temp.js";
import { type App, startApp } from "../app.js";

const OLD = `import { sum } from "./sum.js";

/** The price of all parts. */
export function price(parts) {
	const total = sum(parts);
	return total;
}

export function describe(parts) {
	// A sentence for people.
	return "The parts cost " + price(parts);
}
`;
const NEW = OLD.replace("return total;", "return Math.round(total * 100) / 100;").replace(
	'"The parts cost " + price(parts)',
	"`The parts cost $" + "{price(parts)} €`",
);

async function openPanel(columns: number): Promise<App> {
	const cwd = realpathSync(tempDir("pi-project-"));
	const app = await startApp({ columns, rows: 40, cwd, files: { "src/price.ts": OLD, "logo.bin": "\0one" } });
	const write = (path: string, content: string) => toolCall("write", { path, content });
	app.provider.reply(
		[write("src/price.ts", NEW), write("logo.bin", "\0two"), write("notes.md", "# Notes\n\n- round\n")],
		"Done.",
	);
	await app.terminal.waitFor("0%");
	await app.submit("round it");
	await app.terminal.waitFor("Done.");
	await app.submit("/diff");
	await app.terminal.waitFor("3 files");
	return app;
}

/** The panel alone. */
async function panel({ terminal }: App): Promise<string> {
	const screen = await terminal.screen();
	const from = screen.findIndex((line) => /^ Changes/.test(line));
	const to = screen.findIndex((line) => line.includes("esc close"));
	return `${screen.slice(from, to + 1).join("\n")}\n`;
}

test.each([40, 80, 120])("shows files and hunks at %i columns", async (columns) => {
	const app = await openPanel(columns);
	await expect(await panel(app)).toMatchFileSnapshot(`../../../screens/diff-panel-${columns}.txt`);
});

test("decides on a file, a hunk, and a comment; scrolling selects what is visible", async () => {
	const app = await openPanel(80);
	await app.terminal.press("down", "down");
	await app.terminal.type("c");
	await app.terminal.type("why not Intl?");
	await app.terminal.press("enter", "up");
	await app.terminal.type("k");
	await app.terminal.waitFor("kept line 6 of src/price.ts");
	await app.terminal.press("end", "up");
	await app.terminal.type("r");
	await app.terminal.waitFor("reverted notes.md");
	await expect(await panel(app)).toMatchFileSnapshot("../../../screens/diff-panel-decided.txt");
	await app.terminal.type("u");
	await app.terminal.waitFor("took it back");
	await app.terminal.press("tab");
	await app.terminal.waitFor("Changes of the last prompt");
	await app.terminal.press("escape");
	await app.terminal.waitFor("why not Intl?");
});

test("without changes it says so", async () => {
	const app = await startApp({ columns: 60, rows: 24 });
	await app.terminal.waitFor("0%");
	await app.submit("/diff");
	await app.terminal.waitFor("Nothing is left to review.");
	await app.terminal.press("escape");
	await app.submit("/diff all");
	await app.terminal.waitFor("/diff all: expected turn or no argument");
});
