import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { updateJsonFile } from "../../src/config/json-file.js";
import { SETTING_ROWS } from "../../src/config/settings-schema.js";
import { SettingsStore } from "../../src/config/settings-store.js";
import { defaultSettings } from "../helpers/settings.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { loadSettings } from "./load-settings.js";

test("without settings files, the documented defaults apply", () => {
	expect(loadSettings().store.current).toEqual({
		theme: undefined,
		defaultProvider: undefined,
		defaultModel: undefined,
		defaultThinkingLevel: "medium",
		rememberModel: true,
		models: { update: "never", catalog: "https://models.dev/api.json" },
		queueMode: "one-at-a-time",
		shellPath: undefined,
		on: undefined,
		onTimeout: 20_000,
		hideThinkingBlock: false,
		collapseChangelog: false,
		quietStartup: false,
		lastChangelogVersion: undefined,
		compaction: { enabled: true, reserveTokens: 16384, keepRecentTokens: 20000 },
		budget: { perSession: 0, perDay: 0 },
		cacheRetention: undefined,
		retry: { enabled: true, maxRetries: 10, baseDelayMs: 2000 },
		terminal: { showImages: true, title: true, progress: true, mouse: false, notify: "auto" },
		editor: { vim: false },
		skills: { enabled: true },
		hooks: [],
		shadowHooks: [],
		commands: { replace: [] },
		permissions: { allow: [], ask: [], deny: [], projects: {} },
		hookTimeout: 30000,
		hookGrants: {},
		customTools: [],
		packages: [],
		streamIdleTimeoutMs: 180000,
		titleModel: undefined,
		undo: { enabled: true },
		features: { tasks: false },
		webSearch: {},
		telemetry: { otel: false },
		apiKeys: {},
		gutter: true,
		plain: false,
	});
});

/** Every key with a value other than its default. */
const ALL = {
	theme: "light",
	defaultProvider: "openai",
	defaultModel: "gpt-5.5",
	defaultThinkingLevel: "xhigh",
	rememberModel: false,
	models: { update: "weekly", catalog: "http://127.0.0.1:8080/api.json" },
	queueMode: "all",
	shellPath: "/bin/zsh",
	on: "ssh://build-01/src",
	onTimeout: 30_000,
	hideThinkingBlock: true,
	collapseChangelog: true,
	quietStartup: true,
	lastChangelogVersion: "0.1.0",
	budget: { perSession: 2.5, perDay: 10 },
	cacheRetention: "long",
	compaction: { enabled: false, reserveTokens: 1, keepRecentTokens: 2, model: "openai/gpt-5.5" },
	retry: { enabled: false, maxRetries: 0, baseDelayMs: 1 },
	terminal: { showImages: false, title: false, progress: false, mouse: true, notify: "bell" },
	editor: { vim: true },
	skills: { enabled: false },
	hooks: ["~/a.ts"],
	shadowHooks: ["pi:clear"],
	commands: { replace: ["tools"] },
	permissions: {
		...{ allow: ["read"], ask: ["bash(git push *)"], deny: ["write(*.lock)"] },
		projects: { "/src": { allow: ["bash"], ask: [], deny: [] } },
	},
	hookTimeout: 1000,
	hookGrants: { "a.ts": ["systemItems"] },
	customTools: ["b.ts"],
	packages: ["npm:a", { source: "npm:b", hooks: ["!x.ts"] }],
	streamIdleTimeoutMs: 0,
	titleModel: "openai/gpt-5.5-mini",
	undo: { enabled: false },
	features: { tasks: true },
	webSearch: { engine: "searxng", url: "http://127.0.0.1:8888" },
	telemetry: { otel: true },
	apiKeys: { openai: "k" },
	gutter: false,
	plain: true,
};

test("every key can be set by the user, and $schema is accepted", () => {
	const { store } = loadSettings({ $schema: "./settings.schema.json", ...ALL });
	expect(store.current).toEqual(ALL);
	expect(store.problems).toEqual([]);
	expect(store.list().map(({ source }) => source)).toEqual(SETTING_ROWS.map(() => "user"));
});

test("a project's values override the user's, each member of a group separately", () => {
	const { store } = loadSettings(
		{ theme: "dark", compaction: { enabled: false, reserveTokens: 5 } },
		{ theme: "light", compaction: { reserveTokens: 7 }, terminal: { showImages: false }, gutter: false },
	);
	expect(store.current).toEqual({
		...defaultSettings(),
		theme: "light",
		compaction: { enabled: false, reserveTokens: 7, keepRecentTokens: 20000 },
		terminal: { ...defaultSettings().terminal, showImages: false },
		gutter: false,
	});
	expect(store.problems).toEqual([]);
	expect(store.state("compaction.enabled")).toEqual({ value: false, source: "user" });
	expect(store.state("compaction.reserveTokens")).toEqual({ value: 7, source: "project" });
});

test("a project cannot set anything that runs code, redirects traffic or holds keys", () => {
	const dangerous = {
		hooks: ["x.ts"],
		customTools: ["x.ts"],
		shellPath: "./evil",
		on: "local:",
		apiKeys: { anthropic: "k" },
		defaultProvider: "evil",
		defaultModel: "evil",
		hookTimeout: 1,
		hookGrants: { x: ["y"] },
		skills: { enabled: false },
		streamIdleTimeoutMs: 1,
		features: { tasks: true },
		telemetry: { otel: true },
		terminal: { shell: "x" },
		__proto__: 1,
	};
	const { store, projectFile } = loadSettings(undefined, dangerous);
	expect(store.current).toEqual(defaultSettings());
	const names = [
		...[
			"hooks",
			"customTools",
			"shellPath",
			"on",
			"apiKeys",
			"defaultProvider",
			"defaultModel",
			"hookTimeout",
			"hookGrants",
		],
		...["skills.enabled", "streamIdleTimeoutMs", "features.tasks", "telemetry.otel", "terminal.shell"],
	];
	expect(store.problems.map((problem) => problem.replace(/:\d+:\d+:/, ":"))).toEqual([
		`${projectFile}: a project cannot set ${names.map((name) => `"${name}"`).join(", ")}; ignored · set it in the user's settings.json`,
	]);
});

test("a project can set exactly the settings that the schema marks", () => {
	const { store } = loadSettings(undefined, ALL);
	for (const { path, schema, source } of store.list()) {
		expect([path, source]).toEqual([path, schema["x-project"] ? "project" : "default"]);
	}
	expect(SETTING_ROWS.flatMap(({ path, schema }) => (schema["x-project"] ? [path] : []))).toEqual([
		"defaultThinkingLevel",
		...["compaction.enabled", "compaction.reserveTokens", "compaction.keepRecentTokens"],
		"queueMode",
		...["theme", "hideThinkingBlock", "gutter", "quietStartup", "collapseChangelog"],
		...["terminal.showImages", "terminal.title", "terminal.progress", "terminal.notify"],
		...["permissions.ask", "permissions.deny"],
		"packages",
		...["retry.enabled", "retry.maxRetries", "retry.baseDelayMs"],
	]);
});

test("packages of the project are used in addition to those of the user, which it cannot remove", () => {
	const { store } = loadSettings({ packages: ["npm:a"] }, { packages: ["npm:b"] });
	expect(store.current.packages).toEqual(["npm:a", "npm:b"]);
	expect([store.layer("packages", "user"), store.layer("packages", "project")]).toEqual([["npm:a"], ["npm:b"]]);
	expect(loadSettings({ packages: ["npm:a"] }, { packages: [] }).store.current.packages).toEqual(["npm:a"]);
	expect(store.layer("packages", "run")).toBeUndefined();
});

test("an entry of packages needs a source, and knows the kinds of resources", () => {
	const { store } = loadSettings({ packages: [{ hooks: [] }, 3, { source: "npm:a", hook: ["x"] }] });
	expect(store.current.packages).toEqual([{ source: "npm:a" }]);
	expect(store.problems.map((line) => line.replace(/^.*settings\.json:/, ""))).toEqual([
		"3:3: packages[0] needs a valid source; ignored",
		"6:3: packages[1] must be a source, or an object with a source; ignored",
		expect.stringContaining('unknown "packages.2.hook"'),
	]);
});

test.each([
	['{"hookTimeout": "long"}', "1:17: hookTimeout must be a whole number from 0 to 2147483647; ignored"],
	['{\n  "retry": {\n    "maxRetries": -1}}', "3:19: retry.maxRetries must be a whole number from 0 to 100; ignored"],
	['{"retry": {"maxRetries": 101}}', "1:26: retry.maxRetries must be a whole number from 0 to 100; ignored"],
	['{"retry": {"maxRetries": 1.5}}', "1:26: retry.maxRetries must be a whole number from 0 to 100; ignored"],
	['{\n\t"queueMode": "some"}', "2:15: queueMode must be one of one-at-a-time, all; ignored"],
	['{"theme": ""}', "1:11: theme must be a non-empty string; ignored"],
	['{"theme": null}', "1:11: theme must be a non-empty string; ignored"],
	['{"gutter": 1}', "1:12: gutter must be true or false; ignored"],
	['{"compaction": 3}', "1:16: compaction must be an object; ignored"],
	['{"hooks": "a.ts"}', "1:11: hooks must be a list of strings; ignored"],
	['{"hooks": [\n"a.ts", {"x": "hooks"}]}', "2:9: hooks[1] must be a string; ignored"],
	['{"apiKeys": []}', "1:13: apiKeys must be an object of strings; ignored"],
	['{"hookGrants": 1}', "1:16: hookGrants must be an object of lists of strings; ignored"],
	['{"hookGrants": {"a": "b"}}', "1:22: hookGrants.a must be a list of strings; ignored"],
	['{"gutter": true, "gutter": "x"}', "1:28: gutter must be true or false; ignored"],
	['{"gut\\u0074er": "x"}', "1:17: gutter must be true or false; ignored"],
	['\ufeff{"gutter": "x"}', "1:12: gutter must be true or false; ignored"],
	['{"them": "dark"}', '1:2: unknown "them"; kept but ignored · did you mean theme?'],
	['{"retry": {"enabeld": 1}}', '1:12: unknown "retry.enabeld"; kept but ignored · did you mean retry.enabled?'],
	['{"q1": 1, "compaction": {"q2": 2}}', '1:2: unknown "q1", "compaction.q2"; kept but ignored'],
	["[]", "1:1: expected an object in braces · fix the file; until then it is not used"],
	['{"theme": "dark",,}', '1:18: expected a key in double quotes or "}" · fix the file; until then it is not used'],
])("%j is reported with line and column, and the default is used", (text, problem) => {
	const { store, userFile } = loadSettings(text);
	expect(store.problems).toEqual([`${userFile}:${problem}`]);
	expect({ ...store.current, hooks: [] }).toEqual(defaultSettings());
});

test("an invalid value in the project's file does not override the user's", () => {
	const { store, projectFile } = loadSettings({ theme: "dark" }, '{"theme": 1}');
	expect(store.current.theme).toBe("dark");
	expect(store.problems).toEqual([`${projectFile}:1:11: theme must be a non-empty string; ignored`]);
});

test("after a reload, the last valid values replace an invalid file or value", () => {
	const { store, userFile, agentDir, cwd } = loadSettings({ theme: "dark", gutter: false });
	writeFileSync(userFile, '{"theme": "light"');
	expect(store.reload()).toEqual([
		`${userFile}:1:18: unexpected end of file: the "{" in line 1 is not closed · fix the file; the settings read before are kept`,
	]);
	expect(store.current).toMatchObject({ theme: "dark", gutter: false });
	writeFileSync(userFile, '{"theme": "light", "gutter": "no"}');
	expect(store.reload()).toEqual([`${userFile}:1:30: gutter must be true or false; ignored`]);
	expect(store.current).toMatchObject({ theme: "light", gutter: false });
	expect(new SettingsStore({ agentDir, cwd }).current).toEqual({ ...defaultSettings(), theme: "light" });
});

test("settings in the agent directory are the user's even if pi starts there", () => {
	const home = tempDir();
	writeFiles(home, { ".pi/settings.json": { hooks: ["a.ts"] } });
	const store = new SettingsStore({ agentDir: join(home, ".pi"), cwd: home });
	expect([store.current.hooks, store.problems]).toEqual([["a.ts"], []]);
});

test("a change preserves unknown keys and other members of a group, and undefined removes a setting", async () => {
	const { store, saved } = loadSettings({ mine: 1, theme: "dark", compaction: { enabled: false, x: 1 } });
	await store.set("compaction.reserveTokens", 9);
	await store.set("theme", undefined);
	await store.set("defaultModel", "m");
	await store.setMember("hookGrants", "__proto__", ["entries"]);
	expect(JSON.stringify(saved())).toBe(
		'{"mine":1,"compaction":{"enabled":false,"x":1,"reserveTokens":9},"defaultModel":"m","hookGrants":{"__proto__":["entries"]}}',
	);
	expect(Object.keys(store.current.hookGrants)).toEqual(["__proto__"]);
});

test("a value that the schema does not allow is rejected, and nothing is written", async () => {
	const { store, userFile, changes } = loadSettings();
	await expect(store.set("retry.maxRetries", 101)).rejects.toMatchObject({
		code: "bad_arguments",
		message: "retry.maxRetries must be a whole number from 0 to 100",
	});
	expect([existsSync(userFile), changes]).toEqual([false, []]);
});

test("the settings object is frozen", () => {
	const { current } = loadSettings(ALL).store;
	for (const part of [current, current.retry, current.hooks, current.hookGrants, current.hookGrants["a.ts"]]) {
		expect(Object.isFrozen(part)).toBe(true);
	}
});

test("a write renames an invalid file and writes the last valid values to a new one", async () => {
	const { store, userFile, agentDir, changes, saved } = loadSettings({ mine: 1, theme: "dark" });
	writeFileSync(userFile, "{oops");
	await store.set("gutter", false);
	const kept = readdirSync(agentDir).filter((name) => name.includes(".bad-"));
	expect(kept).toEqual([`settings.json.bad-${new Date().toISOString().slice(0, 10)}`]);
	const path = join(agentDir, ...kept);
	expect(readFileSync(path, "utf8")).toBe("{oops");
	expect(saved()).toEqual({ mine: 1, theme: "dark", gutter: false });
	expect(changes).toEqual([{ paths: ["gutter"], problems: [`${userFile} was invalid and is kept as ${path}`] }]);
});

test("a value for this run overrides all others, is not saved, and ends when the setting is changed", async () => {
	const { store, changes, saved } = loadSettings({ queueMode: "all" }, { retry: { enabled: true } });
	store.override("queueMode", "one-at-a-time");
	store.override("retry.enabled", false);
	expect(store.current).toMatchObject({ queueMode: "one-at-a-time", retry: { enabled: false } });
	expect(store.state("retry.enabled")).toEqual({ value: false, source: "run" });
	expect(saved()).toEqual({ queueMode: "all" });
	await store.set("queueMode", "all");
	await store.set("retry.enabled", false);
	expect(store.state("queueMode")).toEqual({ value: "all", source: "user" });
	expect(store.state("retry.enabled")).toEqual({ value: true, source: "project" });
	const paths = [["queueMode"], ["retry.enabled"], ["queueMode"], ["retry.enabled"]];
	expect(changes).toEqual(paths.map((changed) => ({ paths: changed, problems: [] })));
});

/** Arbitrary values that a schema allows. */
function valuesOf(schema: (typeof SETTING_ROWS)[number]["schema"]): fc.Arbitrary<unknown> {
	if (schema.enum) return fc.constantFrom(...schema.enum);
	if (schema.type === "boolean") return fc.boolean();
	if (schema.type === "integer") return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 0 });
	if (schema.type === "number") return fc.double({ min: 0, noNaN: true, noDefaultInfinity: true });
	if (schema.format === "uri") return fc.webUrl();
	if (schema.items?.pattern) return fc.array(fc.constantFrom("read", "bash(git push *)"), { maxLength: 3 });
	if (schema.type === "object" && schema.properties) return fc.constant({ allow: ["read"], ask: [], deny: [] });
	if (schema.items) return fc.array(valuesOf(schema.items), { maxLength: 3 });
	if (!schema.additionalProperties) return fc.string({ minLength: 1 });
	return fc.dictionary(fc.string(), valuesOf(schema.additionalProperties), { maxKeys: 3 });
}

test("written settings are read back, and unknown keys and edits by other programs are preserved", async () => {
	const values = Object.fromEntries(SETTING_ROWS.map(({ path, schema }) => [path, valuesOf(schema)]));
	const chosen = fc.record(values, { requiredKeys: [] });
	const others = fc.dictionary(fc.nat().map(String), fc.jsonValue(), { maxKeys: 3 });
	await fc.assert(
		fc.asyncProperty(chosen, others, others, async (written, before, meanwhile) => {
			const { store, agentDir, cwd, userFile, saved } = loadSettings(before);
			const wanted = SETTING_ROWS.filter(({ path }) => Object.hasOwn(written, path));
			await Promise.all([
				...wanted.map(({ path }) => store.set(path, written[path])),
				updateJsonFile(userFile, (current) => ({ ...current, ...meanwhile })),
			]);
			store.reload();
			const again = new SettingsStore({ agentDir, cwd });
			expect(again.list()).toEqual(store.list());
			for (const { path } of wanted) {
				expect({ path, ...again.state(path) }).toEqual({ path, value: written[path], source: "user" });
			}
			for (const [key, value] of Object.entries({ ...before, ...meanwhile })) {
				expect(Object(saved())[key]).toEqual(JSON.parse(JSON.stringify(value)));
			}
		}),
		{ numRuns: 30 },
	);
}, 60_000);

test("two processes that write at the same time lose no change", async () => {
	const { store, agentDir, cwd, saved } = loadSettings();
	const other = new SettingsStore({ agentDir, cwd });
	const names = Array.from({ length: 20 }, (_, index) => `hook${index}.ts`);
	await Promise.all(names.map((name, index) => (index % 2 ? store : other).setMember("hookGrants", name, ["entries"])));
	expect(Object.keys(Object(saved()).hookGrants).sort()).toEqual(names.sort());
});

test("a change that cannot be saved applies to this run", async () => {
	const dir = tempDir();
	writeFiles(dir, { agent: "in the way" });
	const store = new SettingsStore({ agentDir: join(dir, "agent"), cwd: dir });
	await expect(store.set("theme", "light")).rejects.toMatchObject({
		code: "config_write_failed",
		hint: "the change applies to this run only",
	});
	expect(store.state("theme")).toEqual({ value: "light", source: "run" });
});
