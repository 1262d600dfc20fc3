import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toolCall } from "../../helpers/loopback-provider.js";
import { tempDir } from "../../helpers/temp.js";
import { agentDirWith, EVERYTHING, hostile } from "../../mcp/servers.js";
import { type App, startApp } from "./app.js";

async function open(columns: number): Promise<App> {
	const agentDir = agentDirWith({ everything: EVERYTHING, ours: hostile(), broken: hostile("dies") });
	const app = await startApp({ columns, rows: 40, agentDir });
	await app.terminal.waitFor("0%");
	return app;
}

/** The rows of the panel, without its frame and with stable paths. */
async function panel({ terminal }: App): Promise<string> {
	const rows = (await terminal.screen()).map((row) => row.trimEnd());
	const from = rows.findIndex((row) => /^ (MCP servers|Log of|everything|broken|ours)/.test(row));
	const to = rows.findIndex((row, at) => at > from && / restart/.test(row));
	const text = `${rows
		.slice(from, to + 2)
		.join("\n")
		.trimEnd()}\n`;
	return text.replace(/\/\S*(mcp\.json|\.log)/g, "…$1").replace(/ {2,}\/[^\n]*node[^\n]*/g, "  …node …");
}

test.each([40, 80, 120])("/mcp shows, restarts, disables and logs the servers at %d columns", async (columns) => {
	const app = await open(columns);
	const { terminal } = app;
	await app.submit("/mcp");
	await terminal.waitFor(/everything.*ready/);
	await terminal.waitFor(/ours.*ready/);
	await terminal.waitFor(/broken.*failed/);
	await expect(await panel(app)).toMatchFileSnapshot(`../../screens/mcp-panel-${columns}.txt`);
	await terminal.press("down");
	await terminal.press("space");
	await terminal.waitFor(/ours.* off/);
	await terminal.press("space");
	await terminal.waitFor(/ours.*ready/);
	await terminal.press("down");
	await terminal.type("l");
	await terminal.waitFor("cannot find the database");
	expect(await terminal.text()).toContain("Log of broken");
	await terminal.type("l");
	await terminal.waitFor(/^ error +it ended with exit code 3/m);
	await terminal.press("escape");
	await terminal.type("r");
	await terminal.press("up");
	await terminal.press("enter");
	await terminal.waitFor(/tool +big \(\d+ tokens\)/);
	await terminal.press("escape", "escape");
	expect(await terminal.text()).not.toContain("MCP servers");
});

test("typing @ and / completes resources and prompts of servers", async () => {
	const app = await open(80);
	const { terminal } = app;
	await terminal.type("/every");
	await terminal.waitFor("/everything:simple-prompt");
	expect(await terminal.text()).toContain("MCP");
	for (let at = 0; at < 6; at++) await terminal.press("backspace");
	await terminal.type("see @every");
	await terminal.waitFor("resources of the MCP server");
	await terminal.press("tab");
	await terminal.type("feat");
	await terminal.waitFor("features.md");
	await terminal.press("tab");
	await terminal.waitFor("see @everything:demo://resource/static/document/features.md");
	app.provider.reply("It lists features.");
	await terminal.press("enter");
	await terminal.waitFor("It lists features.");
	expect(app.provider.requests[0]?.messages.at(-1)?.text).toContain("<file name=");
});

test.each([40, 120])("typing a prompt of a server completes its arguments at %d columns", async (columns) => {
	const { terminal, provider, submit } = await open(columns);
	await submit("/mcp");
	await terminal.waitFor(/everything.*ready/);
	await terminal.press("escape");
	await terminal.type("/everything:completable-prompt ");
	await terminal.waitFor("Engineering");
	expect((await terminal.screen()).filter((row) => /Engineering|Sales|Marketing|Support/.test(row))).toHaveLength(4);
	await terminal.type("Sal");
	await terminal.press("tab");
	await terminal.type(" ");
	await terminal.waitFor("Frank");
	await terminal.press("down", "down");
	provider.reply("Done.");
	await terminal.press("tab", "enter");
	await terminal.waitFor("▎ Done.");
	expect(provider.requests[0]?.messages.at(-1)?.text).toBe("Please promote Eve to the head of the Sales team.");
});

test.each([40, 80, 120])(
	"/reload restarts a server whose program changed, and says so at %d columns",
	async (columns) => {
		const dir = tempDir();
		const path = join(dir, "server.mjs");
		const source = readFileSync(hostile().args[0] ?? "", "utf8");
		writeFileSync(path, source);
		const agentDir = agentDirWith({ ours: { command: process.execPath, args: [path] }, other: hostile() });
		const { terminal, submit } = await startApp({ columns, rows: 40, agentDir });
		await terminal.waitFor("0%");
		await submit("/mcp");
		await terminal.waitFor(/ours.*ready/);
		await terminal.press("escape");
		writeFileSync(path, source.replace('tool("big"),', ""));
		await submit("/reload");
		await terminal.waitFor(/restarted\s+MCP\s+servers:\s+ours$/m);
		await submit("/mcp");
		await terminal.waitFor(columns > 40 ? /ours +9 tools .*ready/ : /ours.*ready/);
	},
);

test.each([40, 120])(
	"a call of a server's tool and its output are shown without control sequences at %d columns",
	async (columns) => {
		const app = await open(columns);
		app.provider.reply([toolCall("mcp_search", { query: "ansi" })], [toolCall("ours_ansi", {})], "Seen.");
		await app.submit("call it");
		await app.terminal.waitFor("▎ Seen.");
		const rows = (await app.terminal.screen()).map((row) => row.trimEnd());
		expect(rows.filter((row) => row.startsWith("▎ ours_ansi"))).toHaveLength(1);
		expect(rows.find((row) => row.includes("red text"))).toMatch(/red text‹U\+202E›end$/);
	},
);
