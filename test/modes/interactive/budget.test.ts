import { expect, test } from "vitest";
import { toolCall } from "../../helpers/loopback-provider.js";
import { startApp } from "./app.js";
import { panel } from "./dialogs/support.js";

test.each([
	[
		40,
		[
			" Continue over budget?",
			" This session has cost $1.25; the",
			" budget is $1.00. pi asks again at",
			" $2.00.",
			" → n  No",
			"   y  Yes",
			" ↑↓ choose · enter · esc no",
		],
	],
	[
		80,
		[
			" Continue over budget?",
			" This session has cost $1.25; the budget is $1.00. pi asks again at $2.00.",
			" → n  No",
			"   y  Yes",
			" ↑↓ choose · enter · esc no",
		],
	],
	[
		120,
		[
			" Continue over budget?",
			" This session has cost $1.25; the budget is $1.00. pi asks again at $2.00.",
			" → n  No",
			"   y  Yes",
			" ↑↓ choose · enter · esc no",
		],
	],
])("at %d columns the question of a budget names the amounts, and a no stops the run", async (columns, lines) => {
	const app = await startApp({
		columns,
		agentSettings: { budget: { perSession: 1 } },
		modelOptions: { cost: { input: 1.25, output: 1, cacheRead: 1, cacheWrite: 1 } },
	});
	app.provider.reply({ content: [toolCall("ls", {})], usage: { input: 1_000_000, output: 0 } });
	await app.terminal.waitFor("0%");
	await app.submit("go");
	await app.terminal.waitFor("→ n  No");
	expect(await panel(app)).toEqual(["─".repeat(columns), ...lines]);
	await app.terminal.press("escape");
	await app.terminal.waitFor("raise");
	expect(app.provider.requests.length).toBe(1);
	expect(app.session().isRunning).toBe(false);
});
