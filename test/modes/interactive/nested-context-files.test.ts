import { expect, test } from "vitest";
import { toolCall } from "../../helpers/loopback-provider.js";
import { startApp } from "./app.js";

const FILES = { "api/AGENTS.md": "# API\nUse tabs.\nRun the tests.", "api/\u001b[2Jold/CLAUDE.md": "old rules" };

test.each([
	[40, ["▎ api/AGENTS.md joined the context · 3", "▎ lines"]],
	[80, ["▎ api/AGENTS.md joined the context · 3 lines"]],
	[120, ["▎ api/AGENTS.md joined the context · 3 lines"]],
])("a context file below the working directory is named when it joins, at %i columns", async (columns, lines) => {
	const app = await startApp({ columns, files: FILES });
	app.provider.reply([toolCall("ls", { path: "api" })], "Done.");
	await app.submit("look");
	await app.terminal.waitFor("Done.");
	const screen = await app.terminal.screen();
	const first = screen.findIndex((line) => line.includes("joined"));
	expect(screen.slice(first, first + lines.length)).toEqual(lines);
	expect(screen.join("\n")).not.toContain("Use tabs.");
});

test("the pager shows its text, and control sequences in a directory's name are not executed", async () => {
	const app = await startApp({ files: FILES });
	app.provider.reply([toolCall("ls", { path: "api/\u001b[2Jold" })], "Done.");
	await app.submit("look");
	await app.terminal.waitFor("Done.");
	expect(await app.terminal.text()).toContain("api/␛[2Jold/CLAUDE.md joined the context · 1 line");
	await app.terminal.press("ctrl+o");
	await app.terminal.waitFor("Transcript");
	await app.terminal.press("up", "enter");
	await app.terminal.waitFor("old rules");
});

test.each([40, 120])("/context lists it with its tokens at %i columns", async (columns) => {
	const app = await startApp({ columns, rows: 30, files: FILES });
	app.provider.reply([toolCall("ls", { path: "api" })], "Done.");
	await app.submit("look");
	await app.terminal.waitFor("Done.");
	await app.submit("/context");
	await app.terminal.waitFor(/ file +api/);
	const row = (await app.terminal.screen()).find((line) => / file +api/.test(line));
	expect(row).toMatch(/ 4 file +api\/AGENTS\.md /);
});
