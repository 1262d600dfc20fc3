import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defaultSettings, loadSettings, updateSettings } from "../../src/config/settings.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";

function load(user: unknown, project?: unknown) {
	const agentDir = tempAgentDir(user === undefined ? {} : { settings: user });
	const cwd = tempDir();
	if (project !== undefined) writeFiles(cwd, { ".pi/settings.json": project });
	return {
		...loadSettings({ agentDir, cwd }),
		userFile: join(agentDir, "settings.json"),
		projectFile: join(cwd, ".pi/settings.json"),
		agentDir,
		cwd,
	};
}

test("nothing set gives the documented defaults", () => {
	expect(load(undefined).settings).toEqual({
		theme: undefined,
		defaultProvider: undefined,
		defaultModel: undefined,
		defaultThinkingLevel: "medium",
		queueMode: "one-at-a-time",
		shellPath: undefined,
		hideThinkingBlock: false,
		collapseChangelog: false,
		quietStartup: false,
		lastChangelogVersion: undefined,
		compaction: { enabled: true, reserveTokens: 16384, keepRecentTokens: 20000 },
		retry: { enabled: true, maxRetries: 3, baseDelayMs: 2000 },
		terminal: { showImages: true, title: true, progress: true, notify: "auto" },
		skills: { enabled: true },
		hooks: [],
		hookTimeout: 30000,
		hookGrants: {},
		customTools: [],
		streamIdleTimeoutMs: 180000,
		features: { tasks: false },
		apiKeys: {},
		gutter: true,
	});
});

test("every key can be set by the user", () => {
	const all = {
		theme: "light",
		defaultProvider: "openai",
		defaultModel: "gpt-5.5",
		defaultThinkingLevel: "xhigh",
		queueMode: "all",
		shellPath: "/bin/zsh",
		hideThinkingBlock: true,
		collapseChangelog: true,
		quietStartup: true,
		lastChangelogVersion: "0.1.0",
		compaction: { enabled: false, reserveTokens: 1, keepRecentTokens: 2 },
		retry: { enabled: false, maxRetries: 0, baseDelayMs: 1 },
		terminal: { showImages: false, title: false, progress: false, notify: "bell" },
		skills: { enabled: false },
		hooks: ["~/a.ts"],
		hookTimeout: 1000,
		hookGrants: { "a.ts": ["systemItems"] },
		customTools: ["b.ts"],
		streamIdleTimeoutMs: 0,
		features: { tasks: true },
		apiKeys: { openai: "k" },
		gutter: false,
	};
	const { settings, warnings } = load(all);
	expect(settings).toEqual(all);
	expect(warnings).toEqual([]);
});

test("a project sets inert keys over the user's, group members one by one", () => {
	const { settings, warnings } = load(
		{ theme: "dark", compaction: { enabled: false, reserveTokens: 5 } },
		{ theme: "light", compaction: { reserveTokens: 7 }, terminal: { showImages: false }, gutter: false },
	);
	expect(settings).toEqual({
		...defaultSettings(),
		theme: "light",
		compaction: { enabled: false, reserveTokens: 7, keepRecentTokens: 20000 },
		terminal: { ...defaultSettings().terminal, showImages: false },
		gutter: false,
	});
	expect(warnings).toEqual([]);
});

test("a project cannot set what runs code, moves traffic or holds keys", () => {
	const dangerous = {
		hooks: ["x.ts"],
		customTools: ["x.ts"],
		shellPath: "./evil",
		apiKeys: { anthropic: "k" },
		defaultProvider: "evil",
		defaultModel: "evil",
		hookTimeout: 1,
		hookGrants: { x: ["y"] },
		skills: { enabled: false },
		streamIdleTimeoutMs: 1,
		features: { tasks: true },
		terminal: { shell: "x" },
		__proto__: 1,
	};
	const { settings, warnings, projectFile } = load(undefined, dangerous);
	expect(settings).toEqual(defaultSettings());
	const names = [
		...["hooks", "customTools", "shellPath", "apiKeys", "defaultProvider", "defaultModel", "hookTimeout", "hookGrants"],
		...["skills.enabled", "streamIdleTimeoutMs", "features.tasks", "terminal.shell"],
	];
	expect(warnings).toEqual([
		`${projectFile}: a project cannot set ${names.map((name) => `"${name}"`).join(", ")}; ignored · set it in the user's settings.json`,
	]);
});

test("a wrong value is named and the default stands", () => {
	const { settings, warnings, userFile } = load({
		hookTimeout: "long",
		queueMode: "some",
		compaction: 3,
		hooks: "a.ts",
		hookGrants: { a: "b" },
		retry: { maxRetries: -1 },
	});
	expect(settings).toEqual(defaultSettings());
	expect(warnings).toEqual([
		`${userFile}: queueMode must be one of one-at-a-time, all; it is ignored`,
		`${userFile}: compaction must be an object; it is ignored`,
		`${userFile}: retry.maxRetries must be a whole number from 0 to 100; it is ignored`,
		`${userFile}: hooks must be a list of texts; it is ignored`,
		`${userFile}: hookTimeout must be a whole number from 0 to 2147483647; it is ignored`,
		`${userFile}: hookGrants must be an object of lists of texts; it is ignored`,
	]);
});

test("a wrong value of a project leaves the user's", () => {
	const { settings, warnings, projectFile } = load({ theme: "dark" }, { theme: 1 });
	expect(settings.theme).toBe("dark");
	expect(warnings).toEqual([`${projectFile}: theme must be a text; it is ignored`]);
});

test("unknown keys are mentioned once, with what may have been meant", () => {
	const one = load({ them: "dark" });
	expect(one.warnings).toEqual([`${one.userFile}: unknown "them"; kept and not used · did you mean theme?`]);
	const several = load({ a: 1, compaction: { b: 2 } });
	expect(several.warnings).toEqual([`${several.userFile}: unknown "a", "compaction.b"; kept and not used`]);
});

test("a broken file is named and its last good values stay", () => {
	const first = load({ theme: "dark" });
	writeFileSync(first.userFile, '{"theme": "light"');
	const again = loadSettings({ agentDir: first.agentDir, cwd: first.cwd, previous: first.layers });
	expect(again.settings.theme).toBe("dark");
	expect(again.warnings).toEqual([
		`${first.userFile}:1:18: the file ends before the "{" of line 1 is closed · mend the file; until then it is not used`,
	]);
	expect(loadSettings({ agentDir: first.agentDir, cwd: first.cwd }).settings).toEqual(defaultSettings());
});

test("settings of the agent directory are the user's even when pi starts there", () => {
	const home = tempDir();
	writeFiles(home, { ".pi/settings.json": { hooks: ["a.ts"] } });
	const { settings, warnings } = loadSettings({ agentDir: join(home, ".pi"), cwd: home });
	expect([settings.hooks, warnings]).toEqual([["a.ts"], []]);
});

test("a change keeps unknown keys and other members of a group, and removes on demand", async () => {
	const { agentDir, userFile } = load({ mine: 1, theme: "dark", compaction: { enabled: false, x: 1 } });
	await updateSettings(agentDir, { compaction: { reserveTokens: 9 }, theme: undefined, defaultModel: "m" });
	expect(JSON.parse(readFileSync(userFile, "utf8"))).toEqual({
		mine: 1,
		compaction: { enabled: false, x: 1, reserveTokens: 9 },
		defaultModel: "m",
	});
});
