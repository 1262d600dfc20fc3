import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { paths } from "../../../src/config/paths.js";
import { packageOfAll } from "../../fixtures/packages.js";
import { toolCall } from "../../helpers/loopback-provider.js";
import { writePackage } from "../../helpers/package-files.js";
import { skipTime } from "../../helpers/skip-time.js";
import { tempAgentDir, tempDir, writeFiles } from "../../helpers/temp.js";
import { type App, startApp } from "./app.js";

/** The accent of the theme in the package. */
const ACCENT = "38;2;122;162;247";

/** An app whose settings name a package with one resource of each kind, while it asks about it. */
async function startWithPackage(columns: number, settings = {}): Promise<App> {
	const root = join(tempDir("pi-kit-"), "kit");
	writePackage(root, packageOfAll().files);
	const agentDir = tempAgentDir();
	const cwd = tempDir("pi-project-");
	writeFiles(agentDir, { "settings.json": { packages: [root], hooks: ["pi:agents"], ...settings } });
	const { themes: user, project } = paths({ PI_CODING_AGENT_DIR: agentDir }, cwd, "/nowhere");
	const theme = { level: 3 as const, dirs: { user, project: project.themes } };
	const app = await startApp({ agentDir, cwd, columns, rows: 40, theme: null, mode: { theme } });
	await app.terminal.waitFor("Run it?");
	return app;
}

async function trust(app: App): Promise<void> {
	// At 40 columns the list is longer than a page.
	await app.terminal.press("pageDown");
	skipTime(1);
	await app.terminal.type("y");
	await app.terminal.waitFor("0%");
}

/** The rows that match, without padding, scroll bars and temporary paths. */
async function rows({ terminal }: App, pattern: RegExp): Promise<string[]> {
	await terminal.settle();
	return (await terminal.screen()).map((row) => row.trimEnd()).filter((row) => pattern.test(row));
}

describe("a theme of a package", () => {
	test.each([40, 120])("is chosen in /settings at %i columns, saved and used", async (columns) => {
		const app = await startWithPackage(columns);
		await trust(app);
		await app.submit("/settings");
		await app.terminal.waitFor("Settings");
		await app.terminal.type("theme");
		await app.terminal.press("enter");
		await app.terminal.type("demo-theme");
		await app.terminal.press("enter");
		await app.terminal.settle(20);
		expect(JSON.parse(readFileSync(join(app.agentDir, "settings.json"), "utf8"))).toMatchObject({
			theme: "demo-theme",
		});
		expect(await rows(app, /→ .*theme {2}/)).toEqual([expect.stringMatching(/→ • theme +demo-theme/)]);
		expect(app.terminal.output).toContain(ACCENT);
	});

	test.each([40, 120])("is in the list of /theme at %i columns", async (columns) => {
		const app = await startWithPackage(columns);
		await trust(app);
		await app.submit("/theme");
		await app.terminal.waitFor("demo-theme");
		expect(await rows(app, /demo-theme/)).toEqual([expect.stringMatching(/demo-theme +Demo · /)]);
	});

	test("of settings.json is used once its package is trusted, and not for the question about it", async () => {
		const app = await startWithPackage(80, { theme: "demo-theme" });
		expect(app.terminal.output).not.toContain(ACCENT);
		await trust(app);
		await app.submit("/theme");
		await app.terminal.waitFor("demo-theme");
		expect(app.terminal.output).toContain(ACCENT);
	});

	test("of settings.json is reported as missing if its package is refused", async () => {
		const app = await startWithPackage(80, { theme: "demo-theme" });
		skipTime(1);
		await app.terminal.type("n");
		await app.terminal.waitFor("it is not trusted");
		await app.terminal.waitFor("demo-theme");
		expect(app.terminal.output).not.toContain(ACCENT);
	});
});

test.each([40, 120])("what a package brings appears where it belongs, at %i columns", async (columns) => {
	const app = await startWithPackage(columns);
	await trust(app);
	await app.terminal.type("/demo");
	const palette = await rows(app, /demo-(?:hook|prompt|extension|skill)/);
	expect(palette.map((row) => /\/(\S+)/.exec(row)?.[1])).toEqual([
		"demo-hook",
		"demo-prompt",
		"demo-extension",
		"skill:demo-skill",
	]);
	await app.terminal.press("ctrl+c");
	await app.submit("/agents");
	await app.terminal.waitFor("· demo-agent");
	app.provider.reply([toolCall("demo_tool", { text: "ab" })]).reply("Fine.");
	await app.submit("/demo-prompt a.ts");
	await app.terminal.waitFor("Fine.");
	const [first, second] = app.provider.requests;
	expect(first?.messages.map(({ role }) => role)).toEqual(["system", "user"]);
	expect(first?.messages[0]?.text).toContain("demo-skill");
	expect(first?.messages[1]?.text).toContain("Review a.ts carefully.");
	expect(JSON.stringify(first?.body)).toContain('"name":"demo_tool"');
	expect(second?.messages.at(-1)).toMatchObject({ role: "tool", text: "abab" });
	await app.submit("/context");
	await app.terminal.waitFor("# Skills");
	expect(await rows(app, / skills: # Skills/)).toHaveLength(1);
	expect((await rows(app, / tools +\d+ (?:of \d+ )?tools: /)).join()).not.toBe("");
	await app.terminal.press("escape");
	await app.submit("/hooks");
	await app.terminal.waitFor("demo-hook");
	for (let press = 0; press < 4; press++) await app.terminal.press("down");
	await app.terminal.press("enter");
	await app.terminal.settle(20);
	expect((await app.terminal.screen()).join("").replace(/\s+/g, "")).toContain("kit/hooks/demo-hook.ts");
});
