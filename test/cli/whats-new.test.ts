import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { whatsNew } from "../../src/cli/whats-new.js";
import { SettingsStore } from "../../src/config/settings-store.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";

const CHANGELOG = `# Changelog\n\n## 0.3.0\n\n- three\n\n## 0.2.0\n\n- two\n\n## 0.1.0\n\n- one\n`;

function start(settings: Record<string, unknown>, version: string, agentDir = tempAgentDir({ settings })) {
	const packageDir = tempDir();
	writeFiles(packageDir, { "CHANGELOG.md": CHANGELOG });
	return { agentDir, news: whatsNew({ settings: new SettingsStore({ agentDir, cwd: "/" }), version, packageDir }) };
}

const settingsOf = (agentDir: string): unknown => JSON.parse(readFileSync(join(agentDir, "settings.json"), "utf8"));

test("after an update, the changes are shown once and the version is saved with the other settings", async () => {
	const { agentDir, news } = start({ lastChangelogVersion: "0.1.0", mine: 1 }, "0.3.0");
	expect(await news).toEqual({ version: "0.3.0", lines: ["- three", "- two"] });
	expect(settingsOf(agentDir)).toEqual({ lastChangelogVersion: "0.3.0", mine: 1 });
	expect(await start({}, "0.3.0", agentDir).news).toBeNull();
});

test("only the first of many changes are shown, each on one line", async () => {
	const packageDir = tempDir();
	const items = Array.from({ length: 9 }, (_, n) => `- item ${n}\n  that goes on ${"and on ".repeat(20)}`);
	writeFiles(packageDir, { "CHANGELOG.md": `## 0.3.0\n\n### Added\n\n${items.join("\n")}\n` });
	const agentDir = tempAgentDir({ settings: { lastChangelogVersion: "0.1.0" } });
	const settings = new SettingsStore({ agentDir, cwd: "/" });
	const news = await whatsNew({ settings, version: "0.3.0", packageDir });
	const { lines = [] } = typeof news === "object" ? { ...news } : {};
	expect(lines).toHaveLength(7);
	expect(lines[0]).toMatch(/^- item 0 that goes on (and on )+.{0,6}…$/);
	expect(lines.at(-1)).toBe("… and 3 more");
});

test("with collapseChangelog, the news are a single line", async () => {
	const { news } = start({ lastChangelogVersion: "0.1.0", collapseChangelog: true }, "0.3.0");
	expect(await news).toEqual({ version: "0.3.0", lines: [] });
});

test.each([
	["the very first start", {}, "first"],
	["the first start of a user who has settings", { theme: "light" }, null],
	["going back to an older version", { lastChangelogVersion: "0.9.0" }, null],
])("%s shows no news and saves the version", async (_, settings, expected) => {
	const { agentDir, news } = start(settings, "0.3.0");
	expect(await news).toBe(expected);
	expect(settingsOf(agentDir)).toEqual({ ...settings, lastChangelogVersion: "0.3.0" });
	expect(await start({}, "0.3.0", agentDir).news).toBeNull();
});

test.skipIf(process.getuid?.() === 0)(
	"what cannot be noted is not told, for it would be told at every start",
	async () => {
		const agentDir = tempAgentDir({ settings: { lastChangelogVersion: "0.1.0" } });
		chmodSync(agentDir, 0o500);
		onTestFinished(() => chmodSync(agentDir, 0o700));
		expect(await start({}, "0.3.0", agentDir).news).toBeNull();
	},
);

test("a settings file that cannot be parsed is left for the user to correct", async () => {
	const agentDir = tempAgentDir();
	const file = join(agentDir, "settings.json");
	writeFileSync(file, '{ "theme": oops }');
	const settings = new SettingsStore({ agentDir, cwd: "/" });
	expect(await whatsNew({ settings, version: "0.3.0", packageDir: "/" })).toBeNull();
	expect(readFileSync(file, "utf8")).toBe('{ "theme": oops }');
	expect(readdirSync(agentDir).filter((name) => name.startsWith("settings"))).toEqual(["settings.json"]);
});
