import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { tempAgentDir } from "../helpers/temp.js";
import { agentDirFor, openPi, read, submit, submitIdle } from "./support.js";

const CLEAR = `export default (pi) => {
	pi.command("wipe", { handler: async (ctx) => {
		if (!(await ctx.ui.confirm("Clear session?", "This starts a new session."))) return { status: "nothing was cleared" };
		await ctx.saveEntry({ type: "wiped" });
		return { status: "everything was cleared" };
	} });
};`;

test.each([40, 80, 120])("at %d columns, up and enter on a hook's question clear nothing", async (columns) => {
	const provider = await startProvider();
	const pi = await openPi({ agentDir: agentDirFor(provider, { hooks: { "stacking.ts": CLEAR } }), columns });
	await pi.waitForText(columns === 40 ? "0%" : "1 hook");
	await submit(pi, "/wipe");
	await pi.waitForText("stacking asks: Clear session?");
	await pi.waitForText("→ n  No");
	await read();
	await pi.press("up");
	await read();
	await pi.press("enter");
	await pi.waitForText("nothing was cleared");
	await submit(pi, "/wipe");
	await pi.waitForText("→ n  No");
	await read();
	await pi.press("down");
	await pi.waitForText("→ y  Yes");
	await read();
	await pi.press("enter");
	await pi.waitForText("everything was cleared");
});

test("/settings offers the themes, and refuses a shell that does not exist", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider, { files: { "themes/sea.json": { name: "Sea", colors: {} } } });
	const saved = () => JSON.parse(readFileSync(join(agentDir, "settings.json"), "utf8"));
	const pi = await openPi({ agentDir, rows: 40 });
	await pi.waitForText("0%");
	await submit(pi, "/settings");
	await pi.waitForText("Settings");
	pi.type("theme");
	await pi.press("enter");
	await pi.waitForText("theme: which value?");
	await pi.waitForText(/^ {3}sea +/m);
	pi.type("sea");
	await pi.press("enter");
	await pi.waitForText(/→ • theme +sea +user/);
	expect(saved()).toMatchObject({ theme: "sea" });
	await pi.press("ctrl+u");
	pi.type("shell");
	await pi.press("enter");
	await pi.waitForText("shellPath: ");
	pi.type("/no/such/shell");
	await pi.press("enter");
	await pi.waitForText("/no/such/shell does not exist · use the absolute path of a shell");
	expect(saved()).not.toHaveProperty("shellPath");
});

test("the first start of a user whose key pi finds shows one line, and /setup turns on web pages", async () => {
	const provider = await startProvider();
	const agentDir = tempAgentDir({ models: provider.modelsJson() });
	const saved = () => JSON.parse(readFileSync(join(agentDir, "settings.json"), "utf8"));
	const pi = await openPi({ agentDir });
	await pi.waitForText("nothing asks before commands run · /setup turns on a guard");
	await submit(pi, "/setup");
	await pi.waitForText("What do you want to set up?");
	pi.type("more");
	await pi.waitForText("→ Plan mode and more");
	await pi.press("enter");
	await pi.waitForText("What should be on?");
	await pi.press("space", "up", "space");
	await pi.waitForText("→ ● Web pages");
	await pi.press("enter");
	await pi.waitForText("On: plan mode, web pages");
	expect(saved()).toMatchObject({ hooks: ["pi:plan-mode", "pi:web"], features: { tasks: false } });
	const offered = () => JSON.stringify(provider.requests.at(-1)?.body.tools);
	provider.reply("hello");
	await submit(pi, "hi");
	await pi.waitForText("hello");
	expect(offered()).toContain('"web_fetch"');
	await submitIdle(pi, "/quit");
	await pi.exited;
	const again = await openPi({ agentDir });
	await again.waitForText("0%");
	expect(await again.screen()).not.toContain("/setup turns on");
});
