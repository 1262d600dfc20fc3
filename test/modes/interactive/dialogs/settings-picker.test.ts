import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { SettingsStore } from "../../../../src/config/settings-store.js";
import { tempAgentDir, tempDir, writeFiles } from "../../../helpers/temp.js";
import { type App, startApp } from "../app.js";

async function open(columns = 80): Promise<App> {
	const agentDir = tempAgentDir({ settings: { retry: { maxRetries: 5 }, mine: true, queueMode: "all" } });
	const cwd = tempDir();
	writeFiles(cwd, { ".pi/settings.json": { quietStartup: false } });
	const app = await startApp({ columns, rows: 40, agentDir, cwd });
	await app.terminal.waitFor("0%");
	await app.submit("/settings");
	await app.terminal.waitFor(/^ Settings/m);
	return app;
}

async function overlay(app: App): Promise<string> {
	const screen = await app.terminal.screen();
	const from = screen.findIndex((line) => line.startsWith("──"));
	return `${screen
		.slice(
			from,
			screen.findIndex((line, at) => at > from && line.startsWith("/")),
		)
		.join("\n")}\n`;
}

/** Moves down to a setting. */
async function select(app: App, path: string): Promise<void> {
	const isSelected = async () =>
		(await overlay(app)).split("\n").some((line) => line.startsWith(" → ") && line.slice(5).startsWith(path));
	for (let moves = 0; moves < 50 && !(await isSelected()); moves++) await app.terminal.press("down");
	expect(await isSelected()).toBe(true);
}

const saved = (app: App): unknown => JSON.parse(readFileSync(join(app.agentDir, "settings.json"), "utf8"));

test.each([40, 80, 120])(
	"the settings are listed in groups with their values and sources, at %d columns",
	async (columns) => {
		const app = await open(columns);
		await expect(await overlay(app)).toMatchFileSnapshot(`../../../screens/settings-groups-${columns}.txt`);
		await app.terminal.type("retry");
		await expect(await overlay(app)).toMatchFileSnapshot(`../../../screens/settings-${columns}.txt`);
	},
);

const paths = async (app: App) =>
	(await overlay(app)).split("\n").flatMap((line) => /^ (?:→| ) [• ] (\w[\w.]*)/.exec(line)?.[1] ?? []);

test.each<[string, string[]]>([
	["Ctrl+T", ["hideThinkingBlock"]],
	["no such setting", []],
	["reserve free", ["compaction.reserveTokens"]],
	["models.dev", ["models.catalog"]],
	["5 maximum retries", ["retry.maxRetries"]],
	["bell", ["terminal.notify"]],
	["cost and privacy", ["budget.perSession", "budget.perDay", "telemetry.otel"]],
	["mxrt", ["retry.maxRetries"]],
])(
	"the search for %j finds words in names, groups, values and descriptions, or else letters of names",
	async (filter, found) => {
		const app = await open(120);
		await app.terminal.type(filter);
		await app.terminal.waitFor((screen) =>
			screen.some((line) => line.startsWith(" Settings") && line.includes(filter)),
		);
		expect(await paths(app)).toEqual(found);
	},
);

test("settings with the words in their names come before others", async () => {
	const app = await open(120);
	await app.terminal.type("model");
	await app.terminal.waitFor(/^ Settings.*model/m);
	const found = await paths(app);
	const isNamed = found.map((path) => path.toLowerCase().includes("model"));
	expect(isNamed).toContain(false);
	expect(isNamed).toEqual(isNamed.toSorted((a, b) => Number(b) - Number(a)));
});

test("set settings are marked, and the selected one's description is complete on 40 columns", async () => {
	const app = await open(40);
	await app.terminal.type("queueMode");
	await app.terminal.waitFor(/^ → • queueMode/m);
	await app.terminal.press("ctrl+u");
	await app.terminal.type("hookGrants");
	await app.terminal.waitFor(/^ → {3}hookGrants/m);
	const words = (await overlay(app)).replace(/\s+/g, " ");
	expect(words).toContain(
		"hook path or file name (of a project or package: its path), and the host handles the hook may use",
	);
	expect(words).toContain('such as ["systemItems"] · applies from the next start');
});

test("space chooses the next value; screen and session change at once, and the file keeps other settings", async () => {
	const app = await open();
	app.provider.reply("An answer.");
	await app.terminal.press("escape");
	await app.submit("a question");
	await app.terminal.waitFor("▎ An answer.");
	await app.submit("/settings");
	await app.terminal.waitFor(/^ Settings/m);
	await select(app, "queueMode");
	await app.terminal.type(" ");
	await app.terminal.waitFor(/→ • queueMode +one-at-a-time +user/);
	await select(app, "gutter");
	await app.terminal.type(" ");
	await app.terminal.waitFor(/→ • gutter +false +user/);
	await app.terminal.press("escape");
	await app.terminal.waitFor(/^An answer\./m);
	expect(app.session().controls.queueMode).toBe("one-at-a-time");
	expect(saved(app)).toEqual({ retry: { maxRetries: 5 }, mine: true, queueMode: "one-at-a-time", gutter: false });
});

test("a setting is shown with its values and when a change applies", async () => {
	const { terminal } = await open();
	await terminal.type("notify");
	await terminal.waitFor("auto, bell, off · applies now");
	await terminal.press("ctrl+u");
	await terminal.type("showImages");
	await terminal.waitFor("· applies from the next start");
	await terminal.press("enter");
	await terminal.waitFor("saved, applies at the next start");
});

test("edits of the file apply to screen and session, and an invalid file is reported once", async () => {
	const app = await startApp({ rows: 40, theme: null });
	await app.terminal.waitFor("0%");
	app.provider.reply("An answer.");
	await app.submit("a question");
	await app.terminal.waitFor("▎ An answer.");
	onTestFinished(app.settings.watch());
	const write = (text: string) => writeFileSync(join(app.agentDir, "settings.json"), text);
	write(
		'{"gutter": false, "theme": "light", "queueMode": "all", "retry": {"enabled": false}, "defaultThinkingLevel": "high"}',
	);
	await app.terminal.waitFor(/^An answer\./m);
	const { controls, thinkingLevel } = app.session();
	expect([controls.queueMode, controls.autoRetry, thinkingLevel]).toEqual(["all", false, "high"]);
	write('{"gutter": true,,}');
	await app.terminal.waitFor("settings.json:1:17");
	write('{"gutter": true}');
	await app.terminal.waitFor("▎ An answer.");
	const shown = (await app.terminal.screen()).filter((line) => line.includes("settings.json:1:17"));
	expect(shown).toHaveLength(1);
});

test("a number is typed, and an invalid one is refused with the reason", async () => {
	const app = await open();
	const { terminal } = app;
	await terminal.type("maxretries");
	await terminal.press("enter");
	await terminal.waitFor("retry.maxRetries: a whole number from 0 to 100");
	await terminal.type("00");
	await terminal.press("enter");
	await terminal.waitFor('"500" is not a whole number from 0 to 100');
	await terminal.press("enter", "backspace");
	await terminal.type("9");
	await terminal.press("enter");
	await terminal.waitFor(/→ • retry\.maxRetries +9 +user/);
	expect(new SettingsStore({ agentDir: app.agentDir, cwd: "/" }).current.retry.maxRetries).toBe(9);
});

test("delete removes the user's value; lists are edited in the file, and keys are not shown", async () => {
	const app = await open();
	const { terminal } = app;
	await terminal.type("maxretries");
	await terminal.press("delete");
	await terminal.waitFor(/→ {3}retry\.maxRetries +10 +default/);
	expect(saved(app)).toEqual({ retry: {}, mine: true, queueMode: "all" });
	await terminal.press("ctrl+u");
	await terminal.type("customtools");
	await terminal.press("enter");
	await terminal.waitFor("edit settings.json to change it");
	await terminal.press("ctrl+u");
	await terminal.type("apikeys");
	await terminal.waitFor("nothing matches");
});

test("a setting that the project overrides is saved for the user, with a note that it applies elsewhere", async () => {
	const { terminal } = await open();
	await terminal.type("quiet");
	await terminal.press("enter");
	await terminal.waitFor(".pi/settings.json of this project overrides it");
	await terminal.waitFor(/→ • quietStartup +false +project/);
});

test.each([40, 120])("the theme is chosen from the themes that exist, at %d columns", async (columns) => {
	const app = await startApp({ columns, rows: 40, theme: null });
	await app.terminal.waitFor("0%");
	await app.submit("/settings");
	await app.terminal.waitFor(/^ Settings/m);
	await app.terminal.type("theme");
	await app.terminal.press("enter");
	await app.terminal.waitFor("theme: which value?");
	const rows = (await overlay(app)).split("\n").filter((line) => /^ (→| ) \w/.test(line));
	expect(rows.map((line) => line.slice(3, 20).split(" ")[0])).toEqual([
		"auto",
		"dark",
		"light",
		"high-contrast",
		"plain",
	]);
	await app.terminal.type("li");
	await app.terminal.press("enter");
	await app.terminal.waitFor(/→ • theme +light/);
	await app.terminal.waitFor("saved, applies now");
	expect(saved(app)).toEqual({ theme: "light" });
	await app.terminal.press("enter");
	await app.terminal.waitFor(/→ light/);
	await app.terminal.type("auto");
	await app.terminal.press("enter");
	await app.terminal.waitFor(/→ {3}theme +(unset|$)/m);
	expect(saved(app)).toEqual({});
});

test.each([
	["defaultThinkingLevel", "off", "xhigh"],
	["queueMode", "one-at-a-time", "all"],
	["terminal.notify", "auto", "bell"],
	["defaultProvider", "loopback", "loopback"],
	["defaultModel", "loopback/scripted", "loopback/scripted"],
])("the values of %s are chosen from a list", async (path, shown, chosen) => {
	const app = await startApp({ rows: 40 });
	await app.terminal.waitFor("0%");
	await app.submit("/settings");
	await app.terminal.waitFor(/^ Settings/m);
	await app.terminal.type(path);
	await app.terminal.press("enter");
	await app.terminal.waitFor(`${path}: which value?`);
	await app.terminal.waitFor(shown);
	await app.terminal.type(chosen);
	await app.terminal.press("enter");
	await app.terminal.waitFor((screen) => screen.some((line) => line.includes(`→ • ${path}`) && line.includes(chosen)));
	const [group = "", member] = path.split(".");
	expect(saved(app)).toEqual({ [group]: member === undefined ? chosen : { [member]: chosen } });
});

test.each([40, 120])("a shell that cannot run is refused, and the panel says why, at %d columns", async (columns) => {
	const app = await startApp({ columns, rows: 40, files: { "notes.txt": "" } });
	const file = join(app.cwd, "notes.txt");
	const { terminal } = app;
	await terminal.waitFor("0%");
	await app.submit("/settings");
	await terminal.waitFor(/^ Settings/m);
	await terminal.type("shellPath");
	for (const [typed, problem] of [
		["/no/such/shell", "does not exist"],
		["/usr", "is not a file"],
		[file, "is not executable"],
		["zsh", "is not an absolute path"],
	] as const) {
		await terminal.press("enter");
		await terminal.waitFor("shellPath: the absolute path");
		await terminal.type(typed);
		await terminal.press("enter");
		await terminal.waitFor(/→ . shellPath/);
		const words = (await overlay(app)).replace(/\s+/g, " ");
		expect(words).toContain(problem);
		expect(words).toContain("use the absolute path of a shell");
	}
	expect(existsSync(join(app.agentDir, "settings.json"))).toBe(false);
	await terminal.press("enter");
	await terminal.type("/bin/sh");
	await terminal.press("enter");
	await terminal.waitFor("saved, applies now");
	expect(saved(app)).toEqual({ shellPath: "/bin/sh" });
});

test("a theme that does not exist is refused on the command line, with the nearest name", async () => {
	const app = await startApp();
	await app.terminal.waitFor("0%");
	await app.submit("/settings theme lihgt");
	await app.terminal.waitFor('Theme "lihgt" not found · did you mean light?');
	await app.terminal.press("ctrl+u");
	await app.submit("/settings theme light");
	await app.terminal.waitFor("theme: light · saved");
});

test.each([
	["several lines", "/bin/sh\n-e", "shellPath has several lines or tabs: edit settings.json"],
	["a space at its end", "/bin/sh ", null],
])("a value with %s is not changed by opening and accepting it", async (_, prefix, problem) => {
	const app = await startApp({ rows: 40, agentSettings: { shellPath: prefix } });
	const { terminal } = app;
	await terminal.waitFor("0%");
	await app.submit("/settings");
	await terminal.waitFor(/^ Settings/m);
	await terminal.type("shellPath");
	await terminal.press("enter");
	if (problem) await terminal.waitFor(problem);
	else await terminal.press("enter");
	await terminal.press("escape");
	await terminal.waitFor(/^context/m);
	expect(saved(app)).toEqual({ shellPath: prefix });
});
