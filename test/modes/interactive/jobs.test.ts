import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toolCall } from "../../helpers/loopback-provider.js";
import { type App, startApp } from "./app.js";

const SERVER = "echo listening on 3000; sleep 1000";

async function openWith(columns: number, command = SERVER): Promise<App> {
	const app = await startApp({ columns, rows: 30 });
	app.provider.reply([toolCall("bash", { command, background: true })], "Started.");
	await app.terminal.waitFor("0%");
	await app.submit("start the server");
	await app.terminal.waitFor("▎ Started.");
	return app;
}

/** The rows that match, without padding; times are replaced by `T`. */
async function rows({ terminal }: App, pattern: RegExp): Promise<string[]> {
	const screen = await terminal.screen();
	return screen.filter((row) => pattern.test(row)).map((row) => row.trimEnd().replace(/\d+(\.\d)? s\b/g, "T"));
}

test.each([
	[40, ["▎ bash  echo listening o…  started job-1"], /1 job · <?\d+%$/],
	[80, ["▎ bash  echo listening on 3000; sleep 1000                         started job-1"], /^context .* · 1 job$/],
	[
		120,
		[
			"▎ bash  echo listening on 3000; sleep 1000                                                                 started job-1",
		],
		/^context .* · 1 job$/,
	],
])("at %d columns the call names the background command, and the footer counts it", async (columns, call, count) => {
	const app = await openWith(columns);
	expect(await rows(app, /^▎ bash/)).toEqual(call);
	expect(await rows(app, count)).toHaveLength(1);
	await app.submit("/jobs stop");
	await app.terminal.waitFor("stopped by the user");
	expect(await rows(app, /1 job/)).toEqual([]);
});

test.each([
	[40, / → job-1 · echo list… {2}running for \d/],
	[80, / → job-1 · echo listening on 3000; sleep… {2}running for T · listening/],
	[120, / → job-1 · echo listening on 3000; sleep 1000 {2}running for T · listening on 3000$/],
])("/jobs lists, shows and stops background commands at %d columns", async (columns, row) => {
	const app = await openWith(columns);
	const { terminal } = app;
	await expect.poll(() => app.session().jobs.list()[0]?.lastLine).toBe("listening on 3000");
	await app.submit("/jobs");
	await terminal.waitFor("Background commands");
	expect(await rows(app, /→ job-1/)).toEqual([expect.stringMatching(row)]);
	await terminal.press("enter");
	await terminal.waitFor("Stop it");
	await terminal.press("enter");
	await terminal.waitFor("listening on 3000");
	await app.submit("/jobs");
	await terminal.waitFor("Background commands");
	await terminal.press("enter");
	await terminal.waitFor("Stop it");
	await terminal.press("down", "enter");
	await terminal.waitFor("job-1 · stopped by the user");
	expect(app.session().jobs.running).toBe(0);
});

test("the end of a command is shown while nothing runs, and /new says what it ended", async () => {
	const app = await openWith(80, "sleep 0.3; exit 4");
	await app.terminal.waitFor("job-1: exit code 4 after");
	app.provider.reply([toolCall("bash", { command: SERVER, background: true })], "Again.");
	await app.submit("again");
	await app.terminal.waitFor("▎ Again.");
	await app.submit("/new");
	await app.terminal.waitFor("Ended 1 background command with the session: job-2");
	expect(await rows(app, /1 job$/)).toEqual([]);
});

test.each([
	[40, / → job-1 · until [^ ]*… {2}exit code 3 a/],
	[80, / → job-1 · until test -e go; do sleep 0\.… {2}exit code 3 after .* · over$/],
	[120, / → job-1 · until test -e go; do sleep 0\.1; done; echo over; … {2}exit code 3 after .* · over$/],
])("at %d columns the open list of /jobs shows how long a command runs, and its end", async (columns, row) => {
	const app = await openWith(columns, "until test -e go; do sleep 0.1; done; echo over; exit 3");
	const { terminal } = app;
	await app.submit("/jobs");
	const listed = async () => (await terminal.screen()).find((line) => line.includes("→ job-1")) ?? "";
	await terminal.waitFor(/→ job-1 .*running for/);
	const first = await listed();
	await expect.poll(listed, { timeout: 10_000 }).not.toBe(first);
	writeFileSync(join(app.cwd, "go"), "");
	await terminal.waitFor(/→ job-1 .*exit code 3/);
	expect((await listed()).trimEnd()).toMatch(row);
	await terminal.press("enter");
	await terminal.waitFor("Output:");
});

test("a list of /jobs shows commands that start while it is open, and keeps the selected one", async () => {
	const app = await openWith(80);
	let start = () => {};
	const started = new Promise<void>((resolve) => {
		start = resolve;
	});
	app.provider.reply(async () => {
		await started;
		return [toolCall("bash", { command: "sleep 1000 # second", background: true })];
	}, "Both run.");
	await app.submit("another one");
	await app.submit("/jobs");
	await app.terminal.waitFor("Background commands");
	start();
	await app.terminal.waitFor(/job-2 · sleep 1000/);
	expect(await rows(app, /→/)).toEqual([expect.stringContaining("→ job-1")]);
});
