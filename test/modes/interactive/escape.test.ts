import { expect, onTestFinished, test } from "vitest";
import { untilIdle } from "../../helpers/activity.js";
import { httpError } from "../../helpers/loopback-provider.js";
import { startApp } from "./app.js";

test("a prompt queued during a failing run returns to the editor, and Enter sends it", async () => {
	const app = await startApp();
	await app.terminal.waitFor("0%");
	let fail = () => {};
	const failing = new Promise<void>((resolve) => {
		fail = resolve;
	});
	app.provider.reply(() => failing.then(() => httpError(400, {}, "no such model")), "Here it is.");
	await app.submit("first question");
	await app.provider.request(1);
	await app.submit("second question");
	await app.terminal.waitFor("→ next: second question");
	fail();
	await app.terminal.waitFor("no such model");
	await untilIdle(app.session());
	await app.terminal.waitFor((screen) => !screen.some((line) => line.includes("→ next")));
	expect((await app.terminal.screen()).filter((line) => line.trim() === "second question")).toHaveLength(1);
	await app.terminal.press("enter");
	await app.terminal.waitFor("Here it is.");
});

test("Escape ends the wait for a context handler that hangs during startup", async () => {
	const app = await startApp({
		hooks: { "hangs.ts": "export default (pi) => pi.on('context', () => new Promise(() => {}));" },
	});
	await app.terminal.waitFor("hook hangs · context");
	expect(app.session().activity.state).toBe("switching");
	await app.terminal.press("escape");
	await app.terminal.waitFor("0%");
	await untilIdle(app.session());
});

const SETTLING = `export default (pi) => pi.on("agent_settled", async (_, ctx) => {
	const { killed } = await ctx.exec("sleep", ["43"]);
	ctx.ui.notify("killed: " + killed + ", aborted: " + ctx.signal.aborted);
});`;

test("Escape stops a hook that waits after a run, and a prompt typed meanwhile returns to the editor", async () => {
	const app = await startApp({ hooks: { "settles.ts": SETTLING } });
	await app.terminal.waitFor("0%");
	app.provider.reply("The first answer.", "The second answer.");
	await app.submit("first question");
	await app.terminal.waitFor("hook settles · agent_settled");
	await app.submit("second question");
	await app.terminal.waitFor("→ next: second question");
	await app.submit("third question");
	await app.terminal.waitFor("→ next: third question");
	const sent = app
		.session()
		.prompt("a prompt of a program")
		.catch((error: unknown) => error);
	// Commands do not wait.
	await app.submit("/session");
	await app.terminal.waitFor("tokens     15");
	await app.terminal.press("escape");
	await untilIdle(app.session());
	await app.terminal.waitFor((screen) => !screen.some((line) => line.includes("→ next")));
	const screen = (await app.terminal.screen()).map((line) => line.trim());
	expect(screen).toContain("second question");
	expect(screen).toContain("third question");
	expect(await sent).toMatchObject({ code: "prompt_refused" });
	expect(app.provider.requests).toHaveLength(1);
});

test("a prompt typed while a hook waits after a run is sent when that hook has finished", async () => {
	let finish = () => {};
	const finished = new Promise<void>((resolve) => {
		finish = resolve;
	});
	Object.assign(globalThis, { __settles: finished });
	onTestFinished(() => void Reflect.deleteProperty(globalThis, "__settles"));
	const hook = `export default (pi) => pi.on("agent_settled", () => globalThis.__settles);`;
	const app = await startApp({ hooks: { "settles.ts": hook } });
	await app.terminal.waitFor("0%");
	app.provider.reply("The first answer.", "The second answer.");
	await app.submit("first question");
	await app.terminal.waitFor("The first answer.");
	await app.terminal.waitFor("hook settles · agent_settled");
	await app.submit("second question");
	await app.terminal.waitFor("→ next: second question");
	finish();
	await app.terminal.waitFor("The second answer.");
	await untilIdle(app.session());
});
