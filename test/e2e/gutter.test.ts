import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import type { PiTerminal } from "../helpers/pty.js";
import { type Cell, isBar } from "../helpers/screen-cells.js";
import { agentDirFor, openPi, STACKING, submit } from "./support.js";

/** What a selection of a row copies. */
function copied(row: readonly Cell[]): string {
	return row
		.map((cell) => cell.text || " ")
		.join("")
		.trimEnd();
}

/** A turn that `/pop` has replaced with a summary, and another turn. */
async function openPopped(env: Record<string, string>): Promise<PiTerminal> {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider, { hooks: { "stacking.ts": STACKING } });
	provider.reply("A shop.", "Nothing.", "The notes were read.", "Which part?");
	const pi = await openPi({ agentDir, env, rows: 40 });
	await pi.waitForText("1 hook");
	await submit(pi, "what is this project?");
	await pi.waitForText("A shop.");
	await submit(pi, "what do the notes say?");
	await pi.waitForText("Nothing.");
	await pi.waitForGone("esc stops");
	await submit(pi, "/pop");
	await pi.waitForText("Pop to which turn?");
	await pi.press("enter");
	await pi.waitForText("popped to turn 2");
	await submit(pi, "now the tax code");
	await pi.waitForText("Which part?");
	return pi;
}

/** The rows with the prompts and the summary, and whether the cell of the gutter is filled with a color. */
async function gutterOf(pi: PiTerminal, column: number): Promise<[string, boolean][]> {
	const rows = await pi.cells();
	return ["what is this project?", "what do the notes say?", "The notes were read.", "now the tax code"].map((text) => {
		const row = rows.find((cells) => copied(cells).includes(text)) ?? [];
		return [copied(row), isBar(row, column)];
	});
}

test("a selection of the transcript copies no sign of the gutter, which still shows what the model sees", async () => {
	const pi = await openPopped({});
	expect((await pi.cells()).map(copied).join("\n")).not.toMatch(/[▎┆]/);
	expect(await gutterOf(pi, 0)).toEqual([
		["  › what is this project?", true],
		["  › what do the notes say?", false],
		["◆ The notes were read.", false],
		["  › now the tax code", true],
	]);
	await pi.press("ctrl+o");
	await pi.waitForText("Transcript");
	expect((await pi.cells()).map(copied).join("\n")).not.toMatch(/[▎┆]/);
	expect(await gutterOf(pi, 1)).toEqual([
		["    › what is this project?", true],
		[expect.stringMatching(/^ {4}› what do the notes say\? +hidden by stacking$/), false],
		[expect.stringMatching(/^ ◆. The notes were read\./), false],
		["    › now the tax code", true],
	]);
});

test("with NO_COLOR the gutter consists of signs", async () => {
	const pi = await openPopped({ NO_COLOR: "1" });
	expect(await gutterOf(pi, 0)).toEqual([
		["▎ › what is this project?", false],
		["┆ › what do the notes say?", false],
		["◆ The notes were read.", false],
		["▎ › now the tax code", false],
	]);
});
