import { chmodSync, existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createPermissionSettings, type PermissionRule } from "../../src/config/permission-rules.js";
import type { SettingsFile } from "../../src/config/settings-schema.js";
import { SettingsStore } from "../../src/config/settings-store.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";

const DENY: PermissionRule = { action: "deny", rule: "bash(rm *)", scope: "everywhere" };

function open(user: unknown = {}, project?: unknown, run: SettingsFile = {}) {
	const place = { agentDir: tempAgentDir(), cwd: realpathSync(tempDir()) };
	writeFiles(place.agentDir, { "settings.json": typeof user === "string" ? user : JSON.stringify(user) });
	if (project) writeFiles(place.cwd, { ".pi/settings.json": JSON.stringify(project) });
	const moved: string[] = [];
	const another = () => createPermissionSettings(new SettingsStore(place, run), place, (line) => void moved.push(line));
	const saved = () => JSON.parse(readFileSync(join(place.agentDir, "settings.json"), "utf8"));
	return { ...place, rules: another(), another, saved, moved };
}

test("rules are saved in settings.json, for all projects or for one, and removed again", async () => {
	const { rules, cwd, saved, another } = open({ theme: "light", later: 1 });
	const here: PermissionRule = { action: "allow", rule: "bash(npm test)", scope: "here" };
	await rules.add(DENY);
	await rules.add(here);
	await rules.add(here);
	const permissions = { deny: ["bash(rm *)"], projects: { [cwd]: { allow: ["bash(npm test)"] } } };
	expect(saved()).toEqual({ theme: "light", later: 1, permissions });
	expect(await another().list()).toEqual([here, DENY]);
	await rules.remove(here);
	await rules.remove(DENY);
	expect(saved()).toMatchObject({ theme: "light", later: 1 });
	expect(await another().list()).toEqual([]);
});

test("a rule that another process saves holds at once", async () => {
	const { rules, another } = open();
	expect(await rules.list()).toEqual([]);
	await another().add(DENY);
	expect(await rules.list()).toEqual([DENY]);
});

test("rules that are added at the same time are all saved", async () => {
	const { rules, another } = open();
	const all = ["a", "b", "c"].map((rule): PermissionRule => ({ action: "allow", rule, scope: "here" }));
	await Promise.all([rules, another(), another()].map((each, at) => each.add(all[at] ?? DENY)));
	expect((await rules.list()).map(({ rule }) => rule).sort()).toEqual(["a", "b", "c"]);
});

test("a project asks and denies, but allows nothing; a program's rules hold too", async () => {
	const lists = { allow: ["bash"], ask: ["read"], deny: ["write"] };
	const { rules } = open({}, { permissions: lists }, { permissions: { deny: ["edit"] } });
	const listed = await rules.list();
	expect(listed.map(({ action, rule, scope }) => `${scope} ${action} ${rule}`)).toEqual([
		"project deny write",
		"project ask read",
		"program deny edit",
	]);
	for (const rule of listed) await expect(rules.remove(rule)).rejects.toMatchObject({ code: "bad_arguments" });
});

test.each<[string, unknown, unknown?]>([
	["a file that is not JSON", "{"],
	["a list that is not one", { permissions: { deny: "bash" } }],
	["a malformed rule", { permissions: { deny: ["no rule("] } }],
	["a malformed rule of a project", { permissions: { projects: { "/x": { deny: [1] } } } }],
	["an unknown list", { permissions: { deney: ["bash"] } }],
	["a malformed rule in the project's file", {}, { permissions: { deny: ["no rule("] } }],
])("%s fails every use", async (_, user, project) => {
	const { rules } = open(user, project);
	await expect(rules.list()).rejects.toMatchObject({ code: "config_invalid", message: /settings\.json/ });
	await expect(rules.add(DENY)).rejects.toMatchObject({ code: "config_invalid" });
});

test("a file that became malformed fails every use", async () => {
	const { rules, agentDir } = open({ permissions: { allow: ["bash"] } });
	expect(await rules.list()).toHaveLength(1);
	writeFileSync(join(agentDir, "settings.json"), "{");
	await expect(rules.list()).rejects.toMatchObject({ code: "config_invalid" });
});

test("the rules of a file that other users can change fail every use", async () => {
	const { rules, agentDir } = open({ permissions: { deny: ["bash"] } });
	chmodSync(join(agentDir, "settings.json"), 0o666);
	await expect(rules.list()).rejects.toMatchObject({ code: "config_invalid" });
});

test("a malformed rule is not saved", async () => {
	const { rules } = open();
	const malformed = rules.add({ action: "allow", rule: "bash(", scope: "here" });
	await expect(malformed).rejects.toMatchObject({ code: "bad_arguments", hint: /bash\(git push \*\)/ });
	expect(await rules.list()).toEqual([]);
});

test("the rules of permissions.json move to the settings once, and the old file is kept", async () => {
	const { rules, agentDir, cwd, moved, saved } = open({ permissions: { deny: ["edit"] } });
	const old = {
		[cwd]: { deny: ["read(b.ts)"], ask: [], allow: ["write"] },
		"/other": { deny: [], ask: ["ls"], allow: [] },
	};
	writeFiles(agentDir, { "permissions.json": JSON.stringify(old) });
	const names = (await rules.list()).map(({ rule }) => rule);
	expect(names).toEqual(["read(b.ts)", "write", "edit"]);
	expect(saved().permissions.projects["/other"]).toEqual({ ask: ["ls"] });
	await rules.list();
	expect(moved).toEqual(["Moved the rules of permissions.json to settings.json"]);
	expect(existsSync(join(agentDir, "permissions.json"))).toBe(false);
	expect(JSON.parse(readFileSync(join(agentDir, "permissions.json.bak"), "utf8"))).toEqual(old);
});

test.each(["{", "[]", '{ "/x": { "deny": "bash" } }', '{ "/x": { "deny": ["no rule("] } }'])(
	"an old file with %s fails every use, and stays",
	async (content) => {
		const { rules, agentDir } = open();
		writeFiles(agentDir, { "permissions.json": content });
		await expect(rules.list()).rejects.toMatchObject({ code: "config_invalid", message: /permissions\.json/ });
		expect(existsSync(join(agentDir, "permissions.json"))).toBe(true);
	},
);
