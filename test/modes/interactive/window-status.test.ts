import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { WindowStatus } from "../../../src/modes/interactive/window-status.js";
import { SessionActivity } from "../../../src/session/activity.js";
import { defaultSettings } from "../../helpers/settings.js";
import { startApp } from "./app.js";

/** The status of a window with every feature, with a clock that the test sets. */
function startStatus(settings: Partial<ReturnType<typeof defaultSettings>["terminal"]> = {}) {
	const clock = { now: 0 };
	const written: string[] = [];
	const status = new WindowStatus(
		{ ...defaultSettings().terminal, ...settings },
		{ progress: true, notification: "osc9" },
		(data) => written.push(data),
		() => clock.now,
	);
	status.start();
	written.length = 0;
	const activity = new SessionActivity();
	activity.subscribe((current) => status.handle({ type: "activity_changed", activity: current }));
	return { status, clock, written, activity };
}

const ON = "\x1b]9;4;3\x07";
const OFF = "\x1b]9;4;0\x07";
const AWAY = "\x1b[O";

test("progress is shown from the start of the first operation to the end of the last", () => {
	const { written, activity } = startStatus();
	const run = activity.begin("run");
	const compacting = activity.begin("compacting");
	run.end();
	expect(written).toEqual([ON]);
	compacting.end();
	expect(written).toEqual([ON, OFF]);
});

test("the end of a long run notifies a user without focus on the window; the end of a short run does not", () => {
	const { status, clock, written, activity } = startStatus({ progress: false });
	status.handleInput(AWAY);
	const short = activity.begin("run");
	clock.now = 9_999;
	short.end();
	expect(written).toEqual([]);
	const long = activity.begin("run");
	clock.now += 75_000;
	long.end();
	expect(written).toEqual(["\x1b]9;pi · done after 1 min 15 s\x07"]);
});

test("the user's notification setting overrides the detected terminal feature", () => {
	const ends = (notify: "bell" | "off") => {
		const { status, clock, written, activity } = startStatus({ progress: false, notify });
		status.handleInput(AWAY);
		const run = activity.begin("run");
		clock.now = 60_000;
		run.end();
		return written;
	};
	expect(ends("bell")).toEqual(["\x07"]);
	expect(ends("off")).toEqual([]);
});

test("the window title shows session and directory, follows changes, and is restored at the end", async () => {
	const app = await startApp();
	await app.terminal.waitFor("Scripted");
	expect(app.terminal.output).toContain("\x1b]2;pi · shop\x07");
	await app.submit("/name half cents");
	await app.terminal.waitFor("half cents");
	expect(app.terminal.output).toContain("\x1b]2;pi · half cents · shop\x07");
	await app.terminal.press("ctrl+d");
	await app.exit;
	expect(app.terminal.output.lastIndexOf("\x1b[23;2t")).toBeGreaterThan(app.terminal.output.lastIndexOf("\x1b]2;"));
	expect(app.terminal.output).toContain("\x1b[?1004l");
});

test("a focus report is not handled as a key, and a hook's question notifies a user without focus on the window", async () => {
	const app = await startApp({
		hooks: {
			"ask.ts":
				'export default (pi) => pi.command("ask", { handler: async (ctx) => void (await ctx.ui.confirm("Sure?", "")) });',
		},
	});
	await app.terminal.waitFor("Scripted");
	await app.terminal.type("/ask");
	app.terminal.send(AWAY);
	const before = app.terminal.output.split("\x07").length;
	await app.terminal.press("enter");
	await app.terminal.waitFor("Sure?");
	expect(app.terminal.output.split("\x07").length).toBe(before + 1);
});

test("the footer follows a branch that another program checks out", async () => {
	const app = await startApp({ files: { ".git/HEAD": "ref: refs/heads/main\n" } });
	await app.terminal.waitFor("(main)");
	writeFileSync(join(app.cwd, ".git", "HEAD"), "ref: refs/heads/tax\n");
	await app.terminal.waitFor("(tax)");
});

test("a changed window setting applies immediately, even during a run", () => {
	const { status, clock, written, activity } = startStatus();
	const run = activity.begin("run");
	written.length = 0;
	const { terminal } = defaultSettings();
	status.use({ ...terminal, progress: false });
	expect(written.join("")).toContain(OFF);
	expect(written.join("")).not.toContain(ON);
	status.use(terminal);
	expect(written.at(-1)).toBe(ON);
	written.length = 0;
	status.use({ ...terminal });
	expect(written).toEqual([]);
	status.use({ ...terminal, notify: "bell" });
	status.handleInput(AWAY);
	clock.now = 60_000;
	written.length = 0;
	run.end();
	expect(written).toEqual([OFF, "\x07"]);
	status.use({ ...terminal, title: false });
	written.length = 0;
	status.name("shop", "/home/ada");
	expect(written).toEqual([]);
});
