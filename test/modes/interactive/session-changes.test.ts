import { expect, test } from "vitest";
import { startApp } from "./app.js";

const GUARD = `export default (pi) => pi.on("session", (event, ctx) => {
	if (!event.reason.startsWith("before_")) return;
	ctx.ui.notify("guard asked on " + event.reason);
	throw new Error("guard broke on " + event.reason);
});`;

test("errors and notices of handlers that were asked about a change are on the screen after it", async () => {
	const app = await startApp({ rows: 40, columns: 100, hooks: { "guard.ts": GUARD } });
	app.provider.reply("an answer");
	await app.terminal.waitFor("1 hook");
	await app.submit("hello");
	await app.terminal.waitFor("an answer");
	await app.submit("/new");
	await app.terminal.waitFor("New session");
	const screen = await app.terminal.text();
	expect(screen).not.toContain("an answer");
	expect(screen.split("\n").filter((line) => line.includes("guard"))).toEqual([
		expect.stringContaining("guard asked on before_clear"),
		expect.stringContaining("Hook guard.ts:4:8 failed on session: guard broke on before_clear"),
	]);
	await app.submit("/new");
	await app.terminal.waitFor(/guard broke[\s\S]*New session/);
	expect((await app.terminal.text()).match(/guard broke/g)).toHaveLength(1);
});
