import { expect, test } from "vitest";
import { toolCall } from "../../src/testing/index.js";
import * as loopback from "../helpers/loopback-provider.js";
import { startApp } from "../modes/interactive/app.js";
import { tryExample } from "./example.js";

const list = (...items: [text: string, done: boolean][]) => ({ items: items.map(([text, done]) => ({ text, done })) });
const timestamp = "2026-01-01T00:00:00.000Z";

test("the model keeps a list, the user sees the open items and reads all with /todo", async () => {
	const t = await tryExample("todo.ts", {
		replies: [
			toolCall("todo", list(["Read the code", false], ["Fix it", false])),
			"Starting.",
			toolCall("todo", list(["Read the code", true], ["Fix it", false])),
			toolCall("todo", {}),
			"Half done.",
		],
	});
	expect(await t.run("/todo")).toMatchObject({ status: "The to-do list is empty" });
	await t.run("go");
	expect(t.screen.widgets).toEqual({ open: ["☐ Read the code", "☐ Fix it"] });
	await t.run("go on");
	expect(t.screen.widgets).toEqual({ open: ["☐ Fix it"] });
	expect(t.requests.at(-1)?.messages.at(-1)).toEqual({ role: "toolResult", text: "☑ Read the code\n☐ Fix it" });
	expect(await t.run("/todo")).toMatchObject({ status: "1 of 2 done\n☑ Read the code\n☐ Fix it" });
	expect(t.errors).toEqual([]);
});

test("the widget has at most five items and a line for the others, and goes when all are done", async () => {
	const seven = Array.from({ length: 7 }, (_, n): [string, boolean] => [`step ${n + 1}`, false]);
	const t = await tryExample("todo.ts", {
		replies: [toolCall("todo", list(...seven)), "ok", toolCall("todo", list(["step 1", true])), "ok"],
	});
	await t.run("go");
	expect(t.screen.widgets.open?.slice(4)).toEqual(["☐ step 5", "… 2 more · /todo shows all"]);
	await t.run("go on");
	expect(t.screen.widgets).toEqual({});
});

test("a session that is opened again, a reload and a new session show their own list", async () => {
	const t = await tryExample("todo.ts", {
		entries: [
			{ type: "todo_list", timestamp, ...list(["old", false]) },
			{ type: "todo_list", timestamp, items: [{ text: "last", done: false }, { text: 7 }, "bad"] },
		],
	});
	await t.session.reload();
	expect(t.screen.widgets).toEqual({ open: ["☐ last"] });
	await t.run("/new");
	expect(t.screen.widgets).toEqual({});
});

test.each([40, 80, 120])("at %i columns call, result and widget are drawn in lines of their own", async (columns) => {
	const app = await startApp({ columns, agentSettings: { hooks: ["pi:todo"] } });
	app.provider.reply(
		[loopback.toolCall("todo", list(["Read the code", true], ["Fix the rounding of prices", false]))],
		"On it.",
	);
	await app.terminal.waitFor("0%");
	await app.submit("go");
	await app.terminal.waitFor("On it.");
	const lines = (await app.terminal.screen()).map((line) => line.trim());
	expect(lines.find((line) => line.includes("todo "))).toContain("todo 1 of 2 done");
	expect(lines.filter((line) => line.endsWith("☑ Read the code"))).toHaveLength(1);
	// In the result and above the editor.
	expect(lines.filter((line) => line.endsWith("☐ Fix the rounding of prices"))).toHaveLength(2);
});
