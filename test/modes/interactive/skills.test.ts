import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { listSessions } from "../../../src/log/catalog.js";
import { tempAgentDir, writeFiles } from "../../helpers/temp.js";
import { startApp } from "./app.js";

/** An app with a skill of 120 lines and the hook `/fold`. */
async function start(columns = 80) {
	const agentDir = tempAgentDir();
	const body = Array.from({ length: 120 }, (_, at) => `Step ${at + 1}.`).join("\n");
	writeFiles(agentDir, { "skills/tea/SKILL.md": `---\nname: tea\ndescription: Make tea\n---\n${body}` });
	const app = await startApp({ agentDir, columns, session: { kind: "new" } });
	await app.terminal.waitFor("0%");
	return app;
}

test.each([40, 80])(
	"a prompt with a skill is its command with one row, also after a resume, at %i columns",
	async (columns) => {
		const app = await start(columns);
		app.provider.reply("Brewed.", "Fine.");
		await app.submit("/skill:tea with milk");
		await app.terminal.waitFor("Brewed.");
		expect(app.provider.requests[0]?.messages.at(-1)?.text).toMatch(
			/^<skill name="tea" .*Step 120\.\n<\/skill>\n\nwith milk$/s,
		);
		const shown = async () => {
			const screen = await app.terminal.screen();
			const at = screen.findIndex((line) => line.includes("› /skill"));
			return screen.slice(at, at + 3).map((line) => line.trimEnd());
		};
		const expected = ["▎ › /skill:tea with milk", "▎   skill tea · 120 lines · ctrl+o", "▎"];
		expect(await shown()).toEqual(expected);
		const file = app.session().sessionFile ?? "";
		await app.submit("/new");
		await app.terminal.waitFor("New session");
		await app.session().switchSession(file);
		await app.terminal.waitFor("Brewed.");
		expect(await shown()).toEqual(expected);
		await app.terminal.press("ctrl+o");
		await app.terminal.waitFor("Transcript ·");
		expect((await app.terminal.text()).split("\n").slice(1, 3)).toEqual([
			expect.stringMatching(/^ ▎▸ › \/skill:tea with milk$/),
			expect.stringMatching(/^ ▎ {4}skill tea · 120 lines$/),
		]);
		await app.terminal.type("E");
		await app.terminal.press("home");
		await app.terminal.waitFor("Step 3.");
	},
);

test("/branch, /fold, the history and the list of sessions show the command, and a branch edits it", async () => {
	const app = await start();
	app.provider.reply("Brewed.", "Done.");
	await app.submit("/skill:tea with milk");
	await app.terminal.waitFor("Brewed.");
	await app.submit("thanks");
	await app.terminal.waitFor("Done.");
	const file = app.session().sessionFile ?? "";
	expect(readFileSync(file, "utf8")).toContain("Step 120.");
	const [summary] = await listSessions(dirname(file));
	expect(summary?.firstMessage).toBe("/skill:tea with milk");
	await app.submit("/fold");
	await app.terminal.waitFor(/1 +\/skill:tea with milk/);
	await app.terminal.press("escape");
	await app.submit("/branch");
	await app.terminal.waitFor("Branch from which message?");
	await app.terminal.press("down");
	await app.terminal.waitFor(/→ ▎ \/skill:tea with milk/);
	await app.terminal.press("enter");
	await app.terminal.waitFor(/^ \/skill:tea with milk/m);
});

test("a skill that is queued comes back to the editor as its command", async () => {
	const app = await start();
	const asked = new Promise<string>(() => {});
	app.provider.reply(() => asked);
	await app.submit("go");
	await app.terminal.waitFor("esc stops");
	await app.submit("/skill:tea now");
	await app.terminal.waitFor("→ next: /skill:tea now");
	await app.terminal.press("escape");
	await app.terminal.waitFor(/^ \/skill:tea now/m);
});
