import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { openPi, submit } from "./support.js";

const page = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const [, firstPart = "", secondPart = ""] = page.split("\n## Keys\n")[0]?.split("\n### ") ?? [];

const SUGGESTION = "The tests fail. Find out why, fix it and run them again.";

test("the first part of the tour works as printed in the README", async () => {
	const pi = await openPi({ args: startArguments(firstPart), columns: 100, rows: 40 });
	await pi.waitForText("Demo (scripted)");
	await pi.waitForText(SUGGESTION);
	await pi.press("enter");
	await pi.waitForText("All tests pass", { timeoutMs: 30_000 });
	// Wait for the last words of the reply: the status line may disappear briefly while text streams.
	await pi.waitForText("again afterwards", { timeoutMs: 30_000 });
	await pi.waitForGone("esc stops");
	const [context = "", pop = "", contextAgain = "", ...more] = linesToType(firstPart);
	expect(more).toEqual([]);
	await submit(pi, context);
	await pi.waitForText(/Next request[\s\S]*11 of 11 entries/);
	// Escape and a slash in one read would be Alt+slash.
	await pi.press("escape");
	await pi.waitForGone("Next request");
	await submit(pi, pop);
	await pi.waitForText("Pop to which turn?");
	await pi.press("enter");
	await pi.waitForText("Restore the files");
	await pi.press("enter");
	await pi.waitForText("popped to turn 1");
	await submit(pi, contextAgain);
	await pi.waitForText(/hidden/);
	expect(await pi.scrollback()).toMatch(/^ {2}› The tests fail/m);
	expect(await pi.scrollback()).toMatch(/^◆ /m);
});

test("the second part of the tour loads the printed hook, and /context names it", async () => {
	const cwd = tempDir();
	writeFiles(cwd, { "remind.ts": /```ts\n([\s\S]*?)```/.exec(secondPart)?.[1] });
	const pi = await openPi({ args: startArguments(secondPart), cwd, columns: 100, rows: 40 });
	await pi.waitForText("1 hook");
	// The reader types over the suggestion.
	await pi.waitForText(SUGGESTION);
	const [remind = "", question = "", context = ""] = linesToType(secondPart);
	await submit(pi, remind);
	await pi.waitForText("Sent with every request: Prices are whole cents.");
	await submit(pi, question);
	await pi.waitForText("In this demo I can");
	await pi.waitForGone("esc stops");
	await submit(pi, context);
	await pi.waitForText(/Prices are whole cents\.[\s\S]*remind/);
});

/** The arguments after `npm start --` in the part's shell block. */
function startArguments(part: string): string[] {
	return /^npm start -- (.*)$/m.exec(part)?.[1]?.split(" ") ?? [];
}

/** The lines of the part's plain code block. */
function linesToType(part: string): string[] {
	return /\n\n```\n([\s\S]*?)\n```\n/.exec(part)?.[1]?.split("\n") ?? [];
}
