import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempAgentDir, tempDir } from "../../../helpers/temp.js";
import { type App, startApp } from "../app.js";
import { TAIL } from "./support.js";

/** An app on a session whose context was made by a hook that no longer exists. */
async function reopened(columns = 80): Promise<App> {
	const agentDir = tempAgentDir({ hooks: { "tail.ts": TAIL } });
	const cwd = tempDir("pi-shop-");
	const first = await startApp({ agentDir, cwd });
	first.provider.reply("It rounds down.", "The tax code is next.");
	await first.terminal.waitFor("0%");
	await first.submit("why does checkout round down?");
	await first.terminal.waitFor("It rounds down.");
	await first.submit("/tail");
	await first.submit("now the tax code");
	await first.terminal.waitFor("is next.");
	const target = first.session().sessionFile ?? "";
	await first.terminal.press("ctrl+d");
	await first.exit;
	rmSync(join(agentDir, "hooks", "tail.ts"));
	const app = await startApp({ agentDir, cwd, columns, rows: 30, session: { kind: "open", target } });
	await app.terminal.waitFor("The hooks of");
	return app;
}

test.each([80, 40])("on resume the user is asked, at %i columns", async (columns) => {
	const app = await reopened(columns);
	const screen = await app.terminal.screen();
	// The footer below names a directory that differs in each run.
	const above = screen.slice(0, screen.findLastIndex((line) => line.includes("esc cancel")) + 1);
	await expect(`${above.join("\n")}\n`).toMatchFileSnapshot(`../../../screens/missing-hooks-${columns}.txt`);
});

test("freezing keeps the context that the model saw", async () => {
	const app = await reopened();
	app.provider.reply("Here it is.");
	await app.terminal.press("down", "enter");
	await app.terminal.waitFor("frozen");
	await app.submit("go on");
	await app.terminal.waitFor("Here it is.");
	expect(app.provider.requests[0]?.messages.slice(1).map(({ text }) => text)).toEqual([
		"[Earlier work: the price code was read.]",
		"now the tax code",
		"The tax code is next.",
		"go on",
	]);
	await expect(await app.terminal.text()).toContain("[Earlier work: the price code was read.]");
});

test("quitting writes nothing", async () => {
	const app = await reopened();
	const entries = app.session().entries.length;
	await app.terminal.press("up", "enter");
	expect(await app.exit).toBe(0);
	expect(app.session().entries).toHaveLength(entries);
});

test("escape continues without the hook", async () => {
	const app = await reopened();
	app.provider.reply("All of it.");
	await app.terminal.press("escape");
	await app.submit("go on");
	await app.terminal.waitFor("All of it.");
	expect(app.provider.requests[0]?.messages).toHaveLength(6);
	expect(app.session().entries.some(({ type }) => type === "context_freeze")).toBe(false);
});

/** An app on a session with a pop of stacking, which is off now. */
async function withoutStacking(columns = 80): Promise<App> {
	const agentDir = tempAgentDir();
	const cwd = tempDir("pi-shop-");
	const first = await startApp({ agentDir, cwd });
	first.provider.reply("It rounds down.", "It was popped.");
	await first.terminal.waitFor("0%");
	await first.submit("why does checkout round down?");
	await first.terminal.waitFor("It rounds down.");
	first.provider.reply("Rounding was read.");
	await first.submit("/pop 1");
	await first.terminal.waitFor("popped to turn 1");
	await first.submit("now the tax code");
	await first.terminal.waitFor("It was popped.");
	const target = first.session().sessionFile ?? "";
	await first.terminal.press("ctrl+d");
	await first.exit;
	const agentSettings = { hooks: ["-pi:stacking"] };
	const app = await startApp({ agentDir, cwd, columns, rows: 40, session: { kind: "open", target }, agentSettings });
	await app.terminal.waitFor("The hook stacking is off");
	return app;
}

test.each([80, 40])("a bundled hook that is off is named and can be turned on, at %i columns", async (columns) => {
	const app = await withoutStacking(columns);
	const screen = (await app.terminal.text()).replace(/\s+/g, " ");
	expect(screen).toContain(
		"The hook stacking is off, so pi ignores these entries of the session: stack_pop (1); see /hooks",
	);
	expect(screen).toContain("stacking is off, and this session has entries: stack_pop (1)");
	expect(screen).toContain("→ Turn stacking on");
	await app.terminal.press("down", "down");
	await app.terminal.waitFor(/→ +Freeze the context/);
	expect((await app.terminal.text()).replace(/\s+/g, " ")).toMatch(/keeps what the model saw: \d+ messages?, \d+ tok/);
	await app.terminal.press("up", "up");
	const popped = app.session().context.messages.length;
	await app.terminal.press("enter");
	await app.terminal.waitFor("Turned stacking on");
	expect(app.session().context.messages.length).toBeLessThan(popped);
	expect(app.settings.current.hooks).toEqual([]);
});
