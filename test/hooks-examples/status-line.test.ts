import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { httpError, text, toolCall } from "../helpers/loopback-provider.js";
import { type App, startApp } from "../modes/interactive/app.js";
import { tryExample } from "./example.js";

/** The app with the line on, in a repository on the branch `topic`. */
async function start(columns = 80): Promise<App> {
	const app = await startApp({
		columns,
		agentSettings: { hooks: ["pi:status-line"], retry: { enabled: false } },
		modelOptions: { reasoning: true, cost: { input: 1e6, output: 0, cacheRead: 0, cacheWrite: 0 } },
	});
	execFileSync("git", ["init", "--quiet", "-b", "topic"], { cwd: app.cwd });
	return app;
}

async function lastLine(app: App): Promise<string> {
	return (await app.terminal.screen()).findLast((line) => line.trim() !== "")?.trim() ?? "";
}

test.each([
	[40, /^topic · trial · \$\d+\.\d\d · context 0 % · …$/],
	[80, /^topic · trial · \$\d+\.\d\d · context 0 % · scripted low$/],
	[120, /^topic · trial · \$\d+\.\d\d · context 0 % · scripted low$/],
])("at %i columns the footer is one line that follows the events", async (columns, line) => {
	const app = await start(columns);
	app.provider.reply("Hello.");
	await app.terminal.waitFor("scripted medium");
	await app.submit("hi");
	await app.terminal.waitFor(/^ *topic · \$/m);
	app.session().setName("trial");
	app.session().setThinkingLevel("low");
	await app.terminal.waitFor(/topic · trial · .*(low|…)/);
	expect(await lastLine(app)).toMatch(line);
});

test.each([40, 120])("at %i columns the line counts words and lines during a turn", async (columns) => {
	const app = await start(columns);
	let end = () => {};
	const hold = new Promise<void>((resolve) => {
		end = resolve;
	});
	const command = `printf '1\\n2\\n3\\n'; while ! test -e ready; do sleep 0.05; done`;
	app.provider.reply([toolCall("bash", { command })], { content: [text("one two three four")], hold });
	await app.terminal.waitFor("scripted medium");
	await app.submit("hi");
	await app.terminal.waitFor(/^ *topic · bash: 3 lines · /m);
	writeFileSync(join(app.cwd, "ready"), "");
	await app.terminal.waitFor(/^ *topic · 4 words · /m);
	expect((await lastLine(app)).length).toBeLessThanOrEqual(columns);
	end();
	await app.terminal.waitFor(/^ *topic · \$/m);
});

test("a rate limit is shown until a response has none, and requests left are those of the headers", async () => {
	const app = await start();
	app.provider.reply(httpError(429, {}, "slow down"), httpError(400, { "x-ratelimit-remaining-requests": "7" }, "no"));
	await app.terminal.waitFor("scripted medium");
	await app.submit("hi");
	await app.terminal.waitFor(/· rate limited ·/);
	await app.submit("again");
	await app.terminal.waitFor(/· 7 requests left ·/);
	expect(await lastLine(app)).not.toContain("rate limited");
});

test("turning the hook off restores pi's footer", async () => {
	const app = await start();
	await app.terminal.waitFor("scripted medium");
	await app.session().inspector.setHookEnabled("pi:status-line", false);
	await app.terminal.waitFor("0%");
});

test("where pi has no footer the line is a status", async () => {
	const t = await tryExample("status-line.ts", { replies: ["ok"] });
	await t.run("hi");
	expect(t.screen.statuses).toEqual({ line: expect.stringMatching(/^context \d % · scripted medium$/) });
	expect(t.errors).toEqual([]);
});
