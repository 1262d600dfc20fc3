import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { paths } from "../../../src/config/paths.js";
import type { ThemeOptions } from "../../../src/modes/interactive/theme-controller.js";
import { text, toolCall } from "../../helpers/loopback-provider.js";
import { tempAgentDir, tempDir, writeFiles } from "../../helpers/temp.js";
import type { VirtualTerminal } from "../../helpers/virtual-terminal.js";
import { type App, startApp } from "./app.js";

const DUSK = { name: "Dusk", colors: { accent: "#112233", gutterIn: "#445566" } };

/** An app with a user theme, `dusk`, and a project theme, `brand`. */
async function startThemed(
	{ chosen = null, ...theme }: Partial<ThemeOptions> & { chosen?: string | null } = {},
	rows = 24,
	projectSettings = {},
): Promise<App & { saved(): unknown }> {
	const agentDir = tempAgentDir();
	const cwd = tempDir();
	writeFiles(agentDir, { "themes/dusk.json": DUSK, "settings.json": { apiKeys: {} } });
	writeFiles(cwd, {
		".pi/themes/brand.json": { base: "light", colors: { accent: "#778899" } },
		".pi/settings.json": projectSettings,
	});
	const mode = { theme: { level: 3 as const, dirs: themeDirs(agentDir, cwd), ...theme } };
	const app = await startApp({ agentDir, cwd, rows, theme: chosen, mode });
	await app.terminal.waitFor("context");
	return { ...app, saved: () => JSON.parse(readFileSync(join(agentDir, "settings.json"), "utf8")) };
}

function themeDirs(agentDir: string, cwd: string) {
	const { themes: user, project } = paths({ PI_CODING_AGENT_DIR: agentDir }, cwd, "/nowhere");
	return { user, project: project.themes };
}

/** Terminal output during an action. */
async function writtenBy(terminal: VirtualTerminal, happens: () => Promise<void> | void): Promise<string> {
	await terminal.settle();
	const before = terminal.output.length;
	await happens();
	await terminal.settle();
	return terminal.output.slice(before);
}

/** Every parameter of every written style; `38;5;67` counts as one. */
function styleParameters(output: string): string[] {
	const found = [...output.matchAll(/\x1b\[([\d;]*)m/g)].flatMap(
		([, parameters = ""]) => parameters.match(/[34]8;(?:5;\d+|2;\d+;\d+;\d+)|\d+/g) ?? [],
	);
	return [...new Set(found)].sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
}

/** A run with a diff, code, an error and a dialog. */
async function everything(app: App): Promise<void> {
	app.provider
		.reply([
			text("# Plan\n\n- `a.ts` [link](http://example.org)\n\n```ts\nconst a = 1; // one\n```\n> quote"),
			toolCall("write", { path: "a.ts", content: "let a = 1;\n" }),
		])
		.reply([toolCall("edit", { path: "a.ts", oldText: "let a = 1;", newText: "let a = 2;" })])
		.reply([toolCall("bash", { command: "exit 3" })])
		.reply("Done.");
	await app.submit("go");
	await app.terminal.waitFor("Done.");
	await app.submit("/theme nosuch");
	await app.terminal.waitFor("not found");
	// The rejected line is back in the editor.
	await app.terminal.press("ctrl+c");
	await app.submit("/tools");
	await app.terminal.waitFor("type to filter");
}

test("a terminal with 16 colors receives only those", async () => {
	const app = await startThemed({ level: 1, chosen: "dusk" }, 60);
	await everything(app);
	const colors = styleParameters(app.terminal.output).filter(
		(parameter) => Number(parameter) >= 30 || /;/.test(parameter),
	);
	expect(colors.filter((parameter) => !/^(?:3[0-79]|4[0-79]|9[0-7]|10[0-7])$/.test(parameter))).toEqual([]);
	expect(colors).toContain("32");
});

test("without colors only the cursor is styled", async () => {
	const app = await startThemed({ level: 0, chosen: "dusk", queryBackground: true }, 60);
	await everything(app);
	expect(styleParameters(app.terminal.output)).toEqual(["7"]);
	expect(app.terminal.output).not.toContain("\x1b]11;");
});

test("/theme previews each selected theme; escape restores the old one", async () => {
	const app = await startThemed({ chosen: "dark" }, 30);
	app.provider.reply("Hello.");
	await app.submit("hi");
	await app.terminal.waitFor("▎ Hello.");
	await app.submit("/theme");
	await app.terminal.waitFor("Which theme?");
	const picker = (await app.terminal.text()).replace(/pi-test-\w+/, "pi-test-xxxxxx");
	await expect(picker).toMatchFileSnapshot("../../screens/theme-picker.txt");
	const light = await writtenBy(app.terminal, () => app.terminal.press("down"));
	expect(light).toContain("\x1b[38;2;0;96;127m");
	expect(light).not.toContain("\x1b[36m");
	const brand = await writtenBy(app.terminal, () => app.terminal.type("brand"));
	expect(brand).toContain("\x1b[38;2;119;136;153m");
	const back = await writtenBy(app.terminal, () => app.terminal.press("escape"));
	expect(back).toContain("\x1b[36m────");
	expect(back).not.toContain("38;2;");
	expect(app.saved()).toEqual({ apiKeys: {} });
	expect(await app.terminal.screen()).toContain("▎ Hello.");
});

test("enter saves the theme in the user settings and keeps unknown keys; auto removes it", async () => {
	const app = await startThemed();
	await app.submit("/theme");
	await app.terminal.waitFor("Which theme?");
	await app.terminal.type("dusk");
	await app.terminal.press("enter");
	await app.terminal.waitFor("Theme: dusk");
	expect(app.saved()).toEqual({ apiKeys: {}, theme: "dusk" });
	await app.submit("/theme auto");
	await app.terminal.waitFor("Theme: auto");
	expect(app.saved()).toEqual({ apiKeys: {} });
});

test("the picker names the problem of the selected theme, which is reported once when it is applied", async () => {
	const app = await startThemed({}, 40);
	writeFileSync(join(app.agentDir, "themes", "own.json"), '{ "colors": { "acent": "#112233" } }');
	const reports = async () => (await app.terminal.text()).match(/! .*own\.json/g)?.length ?? 0;
	await app.submit("/theme");
	await app.terminal.waitFor("Which theme?");
	await app.terminal.type("own");
	await app.terminal.waitFor("acent");
	await app.terminal.press("ctrl+u");
	expect(await app.terminal.text()).not.toContain("acent");
	await app.terminal.press("escape");
	expect(await reports()).toBe(0);
	await app.submit("/theme");
	await app.terminal.waitFor("Which theme?");
	await app.terminal.type("own");
	await app.terminal.press("enter");
	await app.terminal.waitFor("Theme: own");
	expect(await reports()).toBe(1);
});

test("theme names complete, an unknown name suggests the nearest, and a different project setting is mentioned", async () => {
	const app = await startThemed({}, 24, { theme: "brand" });
	await app.terminal.type("/theme li");
	await app.terminal.waitFor("for a light background");
	await app.terminal.press("tab", "enter");
	await app.terminal.waitFor("Theme: light · the project settings select brand at the next start");
	await app.submit("/theme dsuk");
	await app.terminal.waitFor('Theme "dsuk" not found · did you mean dusk?');
	await app.terminal.press("ctrl+c");
	await app.submit("/theme lite");
	await app.terminal.waitFor('Theme "lite" not found · did you mean light?');
});

test("a saved theme file redraws the screen once; a broken file keeps the colors and is reported with its location", async () => {
	const app = await startThemed({ chosen: "dusk" });
	app.provider.reply("Hello.");
	await app.submit("hi");
	await app.terminal.waitFor("▎ Hello.");
	const file = join(app.agentDir, "themes", "dusk.json");
	/** A cell of the gutter in the color of the saved file. */
	const bar = "\x1b[48;2;171;205;239m ";
	const saved = await writtenBy(app.terminal, async () => {
		writeFileSync(file, JSON.stringify({ colors: { gutterIn: "#abcdef" } }));
		await expect.poll(() => app.terminal.output.includes(bar)).toBe(true);
	});
	// `hi`, a gap and the answer.
	expect(saved.split(bar)).toHaveLength(1 + 3);
	const broken = await writtenBy(app.terminal, async () => {
		writeFileSync(file, '{ "colors": { "gutterIn": red } }');
		await app.terminal.waitFor(
			/dusk\.json:1:27: expected a value, found "red" ·\s+fix the file; the colors read before are kept/,
		);
	});
	expect(broken).not.toContain(bar);
	expect(await app.terminal.scrollback()).toContain("▎ Hello.");
});

test.each([40, 120])("a theme whose file is broken is refused and not saved, at %d columns", async (columns) => {
	const app = await startThemed({ chosen: "dusk" });
	app.terminal.resize(columns, 24);
	writeFileSync(join(app.agentDir, "themes", "own.json"), '{ "colors": red }');
	await app.submit("/theme own");
	await app.terminal.waitFor((screen) =>
		screen
			.join(" ")
			.replace(/\s+/g, " ")
			.includes(`1:13: expected a value, found "red" · fix the file; until then it is not used`),
	);
	expect(await app.terminal.text()).toContain('✗ Theme "own" cannot be used:');
	expect(await app.terminal.text()).not.toContain("Theme: own");
	expect(app.saved()).toEqual({ apiKeys: {} });
});

test("the terminal's reply makes the screen light, later changes are followed, and keys are not affected", async () => {
	const app = await startThemed({ queryBackground: true });
	expect(app.terminal.output).toContain("\x1b]11;?\x07\x1b[?2031h");
	await app.terminal.type("dr");
	const answer = await writtenBy(app.terminal, () => app.terminal.send("\x1b]11;rgb:ffff/ffff/f0f0\x1b\\"));
	await app.terminal.type("aft");
	expect(answer).toContain("38;5;243m");
	expect(await app.terminal.text()).toContain(" draft");
	const same = await writtenBy(app.terminal, () => app.terminal.send("\x1b[?997;2n"));
	expect(same).toBe("");
	const dark = await writtenBy(app.terminal, () => app.terminal.send("\x1b[?997;1n"));
	expect(dark).toContain("\x1b[2m");
	await app.terminal.press("ctrl+c", "ctrl+c");
	await app.exit;
	expect(app.terminal.output.lastIndexOf("\x1b[?2031l")).toBeGreaterThan(
		app.terminal.output.lastIndexOf("\x1b[?2031h"),
	);
});

test("a theme selected in /settings is shown immediately", async () => {
	const app = await startThemed();
	await app.submit("/settings theme dusk");
	await app.terminal.waitFor("theme: dusk · saved, applies now");
	expect(app.terminal.output).not.toContain("38;5;243m");
	await app.submit("/settings theme light");
	await app.terminal.waitFor("theme: light · saved, applies now");
	expect(app.terminal.output).toContain("38;5;243m");
	await app.submit("/settings theme dsuk");
	await app.terminal.waitFor("not found");
});

test("a missing theme in the settings is reported, and auto is used instead", async () => {
	const app = await startThemed({ chosen: "dsuk", background: "light" });
	const screen = await app.terminal.text();
	expect(screen).toContain('! theme: Theme "dsuk" not found · did you mean dusk?');
	expect(app.terminal.output).toContain("38;5;243m");
});

test("a theme that ignores the background does not query the terminal", async () => {
	const app = await startThemed({ queryBackground: true, chosen: "brand" });
	expect(app.terminal.output).not.toContain("\x1b]11;");
	await app.submit("/theme high-contrast");
	await app.terminal.waitFor("Theme: high-contrast");
	expect(app.terminal.output).toContain("\x1b]11;");
});

test("a project's theme does not style the question about the project's code", async () => {
	const agentDir = tempAgentDir();
	const cwd = tempDir();
	const own = { color: "#fe0102" };
	const hidden = { color: "#000001", background: "#000001" };
	writeFiles(cwd, {
		".pi/hooks/evil.ts": "export default () => {};",
		".pi/themes/evil.json": { colors: { accent: own, dim: own, warning: hidden, added: hidden } },
	});
	const dirs = themeDirs(agentDir, cwd);
	const app = await startApp({ agentDir, cwd, theme: "evil", mode: { theme: { level: 3, dirs } } });
	const screen = await app.terminal.waitFor("This project has code that pi would run.");
	// The frame may end with the footer, which has the project's colors.
	const [question = ""] = app.terminal.output
		.slice(app.terminal.output.lastIndexOf("This project has code"))
		.split("Show code");
	expect(screen.join("\n")).toContain(".pi/hooks/evil.ts");
	expect(question).toMatch(/\x1b\[36m → .*n.*Trust these contents/s);
	expect(question).not.toContain("38;2;254;1;2");
	expect(app.terminal.output).toContain("38;2;254;1;2");
	// Text in the color of the background has that of the built-in theme.
	expect(app.terminal.output).not.toContain("38;2;0;0;1");
});
