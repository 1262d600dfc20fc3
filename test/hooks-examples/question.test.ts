import { expect, test } from "vitest";
import { type DialogAnswer, type HookTestOptions, toolCall } from "../../src/testing/index.js";
import * as loopback from "../helpers/loopback-provider.js";
import { skipTime } from "../helpers/skip-time.js";
import { startApp } from "../modes/interactive/app.js";
import { tryExample } from "./example.js";

const ASK = { question: "Which database?", options: ["SQLite", "Postgres"] };

/** Lets the model ask once. @returns what it learns, and the dialogs */
async function ask(args: object, dialogs: DialogAnswer[], options: Partial<HookTestOptions> = {}) {
	const t = await tryExample("question.ts", {
		...options,
		replies: [toolCall("question", { ...args }), "ok"],
		dialogs,
	});
	await t.run("go");
	expect(t.errors).toEqual([]);
	return { learned: t.requests[1]?.messages.at(-1)?.text, asked: t.asked };
}

test.each<[object, DialogAnswer[], string]>([
	[ASK, ["Postgres"], "Postgres"],
	[ASK, ["Something else…", "  A file\nof JSON "], "A file\nof JSON"],
	[{ question: "Why?" }, ["Because."], "Because."],
	[{ ...ASK, multiple: true }, [["SQLite", "Postgres"]], "SQLite\nPostgres"],
	[{ ...ASK, multiple: true }, [["SQLite", "Something else…"], "and a cache"], "SQLite\nand a cache"],
	[{ ...ASK, multiple: true }, [[]], "None of them."],
	[{ question: "Which?", options: ["a", "a", "Something else…"] }, ["a"], "a"],
])("the model receives the answer to %j", async (args, dialogs, answer) => {
	expect((await ask(args, dialogs)).learned).toBe(answer);
});

test("the user sees the question with its options and one for an answer in other words", async () => {
	const { asked } = await ask(ASK, ["SQLite"]);
	expect(asked).toEqual([
		{ kind: "select", title: "Which database?", options: ["SQLite", "Postgres", "Something else…"] },
	]);
});

test.each<[DialogAnswer[], string]>([
	[[null], "canceled"],
	[["Something else…", ""], "left empty"],
])("a question that is closed without an answer (%j) leaves the choice to the model", async (dialogs) => {
	expect((await ask(ASK, dialogs)).learned).toMatch(
		/^The user closed the question without an answer\. Choose the safest option yourself .* or stop/,
	);
});

test("without a person the model receives that nobody can answer, and nothing is asked", async () => {
	const { learned, asked } = await ask(ASK, [], { hasUI: false });
	expect(learned).toMatch(/^No user can answer in this mode\. Choose the safest option yourself .* or stop/);
	expect(asked).toEqual([]);
});

test.each([40, 120])("at %i columns the question is a dialog, and call and answer stay", async (columns) => {
	const app = await startApp({ columns, agentSettings: { hooks: ["pi:question"] } });
	app.provider.reply([loopback.toolCall("question", ASK)], "Postgres it is.");
	await app.terminal.waitFor("0%");
	await app.submit("go");
	await app.terminal.waitFor("Something else…");
	expect(await app.terminal.text()).toContain("question asks: Which database?");
	// Nobody expects it, so that keys which are still pressed choose nothing.
	await app.terminal.press("enter");
	skipTime(1);
	await app.terminal.press("down", "enter");
	await app.terminal.waitFor("Postgres it is.");
	const lines = (await app.terminal.screen()).map((line) => line.trim());
	expect(lines.some((line) => line.endsWith("question Which database?"))).toBe(true);
	expect(lines.some((line) => line.endsWith("→ Postgres"))).toBe(true);
});
