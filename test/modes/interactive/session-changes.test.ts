import { expect, test } from "vitest";
import { toolCall } from "../../helpers/loopback-provider.js";
import { skipTime } from "../../helpers/skip-time.js";
import { type App, startApp } from "./app.js";

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

const SLEEP = toolCall("bash", { command: "sleep 1000" });

/** A session with one answered prompt, and a run that waits for a command. */
async function whileRunning(): Promise<App> {
	const app = await startApp({ rows: 30 });
	await app.terminal.waitFor("0%");
	app.provider.reply("an answer");
	await app.submit("first");
	await app.terminal.waitFor("an answer");
	app.provider.reply([toolCall("bash", { command: "sleep 2000", background: true })], [SLEEP]);
	await app.submit("second");
	await app.terminal.waitFor(/bash +sleep 1000/);
	return app;
}

test.each([
	["/new", "Start a new session?", "New session"],
	["/branch 1", "Start a new session from that message?", "New session, branched before entry 1"],
])("%s asks before it ends a run", async (command, question, done) => {
	const { terminal, submit, session } = await whileRunning();
	const { sessionId } = session();
	await submit(command);
	await terminal.waitFor(question);
	expect(await terminal.text()).toContain("This ends the run and 1 background command.");
	await terminal.press("escape");
	await terminal.waitFor("esc stops");
	expect([session().sessionId, session().isRunning]).toEqual([sessionId, true]);
	await submit(command);
	await terminal.waitFor(question);
	skipTime(1);
	await terminal.type("y");
	await terminal.waitFor(done);
	expect(session().sessionId).not.toBe(sessionId);
	expect(session().isRunning).toBe(false);
});

test("/resume asks before it ends a run", async () => {
	const { terminal, submit, session } = await whileRunning();
	const first = session().sessionId;
	await submit("/new");
	await terminal.waitFor("Start a new session?");
	skipTime(1);
	await terminal.type("y");
	await terminal.waitFor("Ended 1 background command");
	const second = session().sessionId;
	await submit("!sleep 3000");
	await terminal.waitFor(/sleep 3000/);
	await submit(`/resume ${first}`);
	await terminal.waitFor("Open another session?");
	expect(await terminal.text()).toContain("This ends the shell command.");
	await terminal.press("escape");
	await terminal.waitFor("esc stops");
	expect(session().sessionId).toBe(second);
	await submit(`/resume ${first}`);
	await terminal.waitFor("Open another session?");
	skipTime(1);
	await terminal.type("y");
	await terminal.waitFor("an answer");
	expect(session().sessionId).toBe(first);
});

test("/quit asks before it ends a run", async () => {
	const { terminal, submit, session, exit } = await whileRunning();
	await submit("/quit");
	await terminal.waitFor("Quit pi?");
	await terminal.press("escape");
	await terminal.waitFor("esc stops");
	expect(session().isRunning).toBe(true);
	await submit("exit");
	await terminal.waitFor("Quit pi?");
	skipTime(1);
	await terminal.type("y");
	expect(await exit).toBe(0);
});
