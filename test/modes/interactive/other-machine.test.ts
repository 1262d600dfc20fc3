import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toolCall } from "../../helpers/loopback-provider.js";
import { tempDir, writeFiles } from "../../helpers/temp.js";
import { type AppOptions, startApp } from "./app.js";

/** A "machine" whose home directory is that of the spec. It counts its calls in the file `calls` there. */
const BUILD_HOOK = `
	import { spawn } from "node:child_process";
	import { appendFileSync } from "node:fs";
	export default (pi) => pi.toolHost("build", ({ rest: home }, ctx) =>
		ctx.shellHost(
			{
				name: "ssh build-01",
				spawn([program, ...args]) {
					appendFileSync(home + "/calls", ".");
					return spawn(program, args, { cwd: home, env: { ...process.env, HOME: home }, detached: true, stdio: "pipe" });
				},
			},
			{ cwd: home + "/src", signal: ctx.signal },
		));
`;

async function startOnBuild(options: AppOptions = {}) {
	const home = tempDir();
	const src = join(home, "src");
	mkdirSync(src);
	const git = (...args: string[]) => execFileSync("git", args, { cwd: src });
	git("init", "-q", "-b", "main");
	writeFileSync(join(src, "price.ts"), "export const price = 1;\n");
	const app = await startApp({ hooks: { "build.ts": BUILD_HOOK }, on: `build:${home}`, ...options });
	await app.terminal.waitFor("(main)");
	return { app, src, git };
}

const CALLS = [
	toolCall("read", { path: "price.ts" }),
	toolCall("bash", { command: "echo done" }),
	toolCall("jobs", { action: "list" }),
];

test.each([
	[
		40,
		{
			header: "pi 0.1 · ssh build-01:~/src · 1 hook",
			footer: /^ssh build-01:~\/src +Scripted · <?\d+%$/,
			rows: [/^▎ read {2}build-01: price\.ts {2,}1 line$/, /^▎ bash {2}build-01: echo …/, /jobs {2}build-01: /],
			shell: /^▎ ! build-01: pwd/,
		},
	],
	[
		80,
		{
			header: "pi 0.1 · ssh build-01:~/src · 1 hook        / commands  @ files  ! shell  ? help",
			footer: /^ssh build-01:~\/src \(main\) +Scripted$/,
			rows: [
				/^▎ read {2}ssh build-01: price\.ts {2,}1 line$/,
				/^▎ bash {2}ssh build-01: echo done/,
				/jobs {2}ssh build-01: /,
			],
			shell: /^▎ ! ssh build-01: pwd/,
		},
	],
	[
		120,
		{
			header: `pi 0.1 · ssh build-01:~/src · 1 hook${" ".repeat(48)}/ commands  @ files  ! shell  ? help`,
			footer: /^ssh build-01:~\/src \(main\) +Scripted$/,
			rows: [
				/^▎ read {2}ssh build-01: price\.ts {2,}1 line$/,
				/^▎ bash {2}ssh build-01: echo done/,
				/jobs {2}ssh build-01: /,
			],
			shell: /^▎ ! ssh build-01: pwd/,
		},
	],
])("header, footer, tools and shell commands name the other machine at %i columns", async (columns, expected) => {
	const { app } = await startOnBuild({ columns, rows: 40 });
	expect((await app.terminal.screen())[0]).toBe(expected.header);
	app.provider.reply(CALLS, "Done.");
	await app.submit("go");
	await app.terminal.waitFor("Done.");
	await app.submit("!pwd");
	await app.terminal.waitFor(/! .*pwd/);
	const screen = await app.terminal.screen();
	for (const row of [expected.footer, ...expected.rows, expected.shell]) {
		expect(screen).toContainEqual(expect.stringMatching(row));
	}
});

test.each([
	[40, /system +environ/],
	[80, "environment: All tools work on ssh build-01 ("],
	[120, "environment: All tools work on ssh build-01 (linux)"],
])("/context begins the environment with the machine at %i columns", async (columns, row) => {
	const { app } = await startOnBuild({ columns, rows: 40 });
	await app.submit("/context");
	await app.terminal.waitFor(row);
});

test("a narrow screen cuts the path, not the machine", async () => {
	const { app } = await startOnBuild({ columns: 40 });
	const last = (await app.terminal.screen()).at(-1) ?? "";
	expect(last).toMatch(/^ssh build-01:~\/src \(main\) +Scripted · 0%$/);
});

test("another branch on the machine is shown after the run, and frames do not ask for it", async () => {
	const { app, git } = await startOnBuild();
	git("checkout", "-q", "-b", "feature/tax");
	app.provider.reply("Done.");
	await app.submit("go");
	await app.terminal.waitFor("ssh build-01:~/src (feature/tax)");
	const { readFileSync } = await import("node:fs");
	const calls = () => readFileSync(join(app.session().host.home, "calls"), "utf8").length;
	const before = calls();
	await app.terminal.type("some text that draws frames");
	await app.terminal.press("ctrl+u", "escape");
	expect(calls()).toBe(before);
	expect(before, "the probe, the branch at the start and after the run").toBe(3);
});

test("on this machine nothing names one", async () => {
	const app = await startApp();
	await app.terminal.waitFor("Scripted");
	app.provider.reply([toolCall("bash", { command: "echo done" })], "Done.");
	await app.submit("go");
	await app.terminal.waitFor("Done.");
	expect(await app.terminal.text()).toMatch(/▎ bash {2}echo done/);
});

test.each([40, 80, 120])(
	"a session whose machine is gone asks before it continues here, at %i columns",
	async (columns) => {
		const { app, src } = await startOnBuild();
		app.provider.reply("Done.");
		await app.submit("go");
		await app.terminal.waitFor("Done.");
		const { agentDir, cwd } = app;
		await app.session().dispose();
		rmSync(src, { recursive: true });
		const again = await startApp({ agentDir, cwd, columns, session: { kind: "continue" } });
		const screen = (await again.terminal.waitFor("Continue on this machine")).join(" ").replace(/[\s▎│]+/g, " ");
		expect(screen).toContain("This session ran on build:");
		expect(screen).toContain("Try again");
		await again.terminal.press("down", "enter");
		await again.terminal.waitFor("%");
		expect(again.session().host.name).toBe("");
		expect((await again.terminal.screen()).at(columns > 40 ? -2 : -1)).toMatch(/\/src\/shop|^\//);
	},
);

const BEFORE_AND_AFTER = {
	40: [/^▎ read {2}build-01: price\.ts /, /^▎ ! build-01: echo there/, /^▎ read {2}here\.ts /, /^▎ ! echo here/],
	80: [
		/^▎ read {2}ssh build-01: price\.ts /,
		/^▎ ! ssh build-01: echo there/,
		/^▎ read {2}here\.ts /,
		/^▎ ! echo here/,
	],
	120: [
		/^▎ read {2}ssh build-01: price\.ts /,
		/^▎ ! ssh build-01: echo there/,
		/^▎ read {2}here\.ts /,
		/^▎ ! echo here/,
	],
} as const;

test.each([40, 120] as const)("each call is shown with the machine of its time, at %i columns", async (columns) => {
	const { app, src } = await startOnBuild({ columns, rows: 50, session: { kind: "new" } });
	app.provider.reply([toolCall("read", { path: "price.ts" })], "Done there.");
	await app.submit("go");
	await app.terminal.waitFor("Done there.");
	await app.submit("!echo there");
	await app.terminal.waitFor(/! .*echo there +exit 0/);
	const { agentDir, cwd } = app;
	await app.session().dispose();
	writeFileSync(join(cwd, "here.ts"), "1\n");
	const local = await startApp({
		...{ agentDir, cwd, columns, rows: 50, on: "local" },
		session: { kind: "continue" },
	});
	await local.terminal.waitFor("Done there.");
	local.provider.reply([toolCall("read", { path: "here.ts" })], "Done here.");
	await local.submit("go on");
	await local.terminal.waitFor("Done here.");
	await local.submit("!echo here");
	await local.terminal.waitFor(/! echo here +exit 0/);
	const rows = BEFORE_AND_AFTER[columns].map((row) => expect.stringMatching(row));
	expect(await local.terminal.screen()).toEqual(expect.arrayContaining(rows));
	await local.session().dispose();
	// Continued there: those of this machine are not named.
	const spec = `build:${join(src, "..")}`;
	const again = await startApp({ agentDir, cwd, columns, rows: 50, on: spec, session: { kind: "continue" } });
	await again.terminal.waitFor("Done here.");
	expect(await again.terminal.screen()).toEqual(expect.arrayContaining(rows));
	await again.terminal.press("ctrl+o");
	await again.terminal.waitFor("Transcript");
	const paged = BEFORE_AND_AFTER[columns].map(({ source }) => expect.stringMatching(source.replace("^▎ ", "▎▸ ")));
	expect(await again.terminal.screen()).toEqual(expect.arrayContaining(paged));
});

test.each([40, 120])(
	"a file dropped from this machine is not mentioned for another, at %i columns",
	async (columns) => {
		const { app } = await startOnBuild({ columns });
		writeFileSync(join(app.cwd, "notes.txt"), "here\n");
		await app.terminal.paste(join(app.cwd, "notes.txt"));
		const screen = (await app.terminal.waitFor("notes.txt is not on ssh build-01")).join("\n");
		expect(screen).toContain("notes.txt");
		expect(screen).not.toMatch(/@\S/);
	},
);

test("a session file that names this machine asks before it turns off that of the settings", async () => {
	const { app, src } = await startOnBuild({ session: { kind: "new" } });
	app.provider.reply("Done.");
	await app.submit("go");
	await app.terminal.waitFor("Done.");
	const { agentDir, cwd } = app;
	const path = app.session().sessionFile ?? "";
	await app.session().dispose();
	const spec = `build:${join(src, "..")}`;
	writeFileSync(path, readFileSync(path, "utf8").replace(/"on":"build:[^"]*"/, '"on":"local"'));
	writeFiles(agentDir, { "settings.json": { on: spec } });
	for (const [keys, name] of [
		[["enter"], "ssh build-01"],
		[["down", "enter"], ""],
	] as const) {
		const again = await startApp({ agentDir, cwd, session: { kind: "open", target: path } });
		const screen = (await again.terminal.waitFor("Continue on this machine")).join(" ").replace(/[\s▎│]+/g, " ");
		expect(screen).toContain("This session file names this machine, but your setting");
		expect(screen).toContain(`Use ${spec.slice(0, 20)}`);
		await again.terminal.press(...keys);
		await again.terminal.waitFor("%");
		expect(again.session().host.name).toBe(name);
		await again.session().dispose();
	}
});

test("the shell says what it waits for while a machine does not answer, once", async () => {
	const { app, src } = await startOnBuild();
	const gate = join(src, "open");
	const slow = BUILD_HOOK.replace(
		"return spawn(program, args,",
		`return spawn("sh", ["-c", 'while [ ! -e "$0" ]; do sleep 0.1; done; exec "$@"', ${JSON.stringify(gate)}, program, ...args],`,
	);
	await app.session().dispose();
	const again = await startApp({ hooks: { "build.ts": slow }, on: `build:${join(src, "..")}` });
	await again.terminal.waitFor("Waiting for build:");
	writeFileSync(gate, "");
	await again.terminal.waitFor("(main)");
	const text = (await again.terminal.text()).replace(/[\s▎│]+/g, " ");
	expect(text.match(/Waiting for build:\S+ to start a shell there, which reads its start files first/g)).toHaveLength(
		1,
	);
});
