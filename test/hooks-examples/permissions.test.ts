import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";
import { type GuardedOptions, startGuarded } from "./guarded.js";

let agentDir: string;
let cwd: string;

beforeEach(() => {
	agentDir = tempAgentDir();
	cwd = tempDir();
	writeFiles(cwd, { "src/a.ts": "a", "b.ts": "b", ".env": "KEY=1" });
});

/** A session whose user gives these answers; null: nobody is there. */
function start(answers: GuardedOptions["answers"] = [], options: Omit<GuardedOptions, "answers"> = {}) {
	return startGuarded({ agentDir, cwd, answers, ...options });
}

interface Lists {
	allow?: string[];
	ask?: string[];
	deny?: string[];
}

/** Writes rules for all projects, or for this one. */
function rules(everywhere: Lists, here?: Lists) {
	const permissions = { ...everywhere, ...(here ? { projects: { [cwd]: here } } : {}) };
	writeFiles(agentDir, { "settings.json": { permissions } });
}

function saved(): { projects?: Record<string, Lists> } & Lists {
	return JSON.parse(readFileSync(join(agentDir, "settings.json"), "utf8")).permissions;
}

const DENIED = "A rule of the user denies this call";

test("read-only tools run inside the project without a question", async () => {
	const { call, asked } = await start();
	await call("read", { path: "src/a.ts" });
	await call("ls", {});
	await call("grep", { pattern: "a", path: "src" });
	expect(asked).toEqual([]);
});

test.each<[string, string, Record<string, unknown>]>([
	["an absolute path outside", "read", { path: "/etc/hostname" }],
	["a path with ..", "read", { path: "../x" }],
	["the home directory", "ls", { path: "~" }],
	["a mark and a path outside", "read", { path: "@/etc/hostname" }],
	["a link to the outside", "read", { path: "out/hostname" }],
	["a write", "write", { path: "made", content: "x" }],
	["a command", "bash", { command: "touch made" }],
])("%s causes a question, and no answer blocks the call", async (_, tool, args) => {
	symlinkSync("/etc", join(cwd, "out"));
	const { call, asked } = await start();
	expect(await call(tool, args)).toContain("The user refused this call");
	expect(asked).toHaveLength(1);
	expect(existsSync(join(cwd, "made"))).toBe(false);
});

describe("the choices", () => {
	test("for a command are the session and the program with its subcommand", async () => {
		const { bash, asked } = await start();
		await bash("git push origin main");
		await bash("echo hi > made");
		await bash("echo a\necho b");
		expect(asked).toEqual([
			{
				question: "Run this command?",
				text: "bash: git push origin main",
				choices: ["Yes, for this session", "Yes, always: bash(git push *)"],
			},
			{
				question: "Run this command?",
				text: "bash: echo hi > made",
				choices: [
					"Yes, for this session",
					"Yes, always exactly this command, because it has shell syntax: bash(echo hi > made)",
				],
			},
			{ question: "Run this command?", text: "bash: echo a\necho b", choices: ["Yes, for this session"] },
		]);
	});

	test("for an edit are all edits and the directory; outside of the project only this file", async () => {
		const { call, asked } = await start();
		await call("write", { path: "src/new.ts", content: "x" });
		await call("edit", { path: "b.ts", oldText: "b", newText: "c" });
		await call("write", { path: ".env", content: "x" });
		await call("write", { path: "/elsewhere/x", content: "x" });
		expect(asked.map(({ question, choices }) => [question, ...choices])).toEqual([
			["Write this file?", "Yes, all edits of this session", "Yes, always: write(src/*)"],
			["Change this file?", "Yes, all edits of this session", "Yes, always: edit(b.ts)"],
			["Write this file?", "Yes, for this session", "Yes, always: write(.env)"],
			["Write this file?", "Yes, for this session", "Yes, always: write(/elsewhere/*)"],
		]);
	});

	test("for a call that a rule asks about are none, and neither for an empty command", async () => {
		rules({ ask: ["read(b.ts)"] });
		const { call, asked } = await start();
		await call("read", { path: "b.ts" });
		await call("bash", { command: "  " });
		expect(asked.map(({ choices }) => choices)).toEqual([[], []]);
	});
});

test("once allows one call, the session exactly this command until another session begins", async () => {
	const { bash, asked, session } = await start(["once", "Yes, for this session"]);
	expect(await bash("echo one")).toContain("one");
	expect(await bash("echo one")).toContain("one");
	expect(await bash("echo one")).toContain("one");
	expect(await bash("echo one two")).toContain("refused");
	expect(asked).toHaveLength(3);
	expect(existsSync(join(agentDir, "settings.json"))).toBe(false);
	await session.newSession();
	expect(await bash("echo one")).toContain("refused");
});

test("always saves the edited rule for this project in the user's settings", async () => {
	const first = await start([{ choose: "Yes, always", rule: " bash(echo one *) " }]);
	expect(await first.bash("echo one")).toContain("one");
	expect(await first.bash("echo one two")).toContain("one two");
	expect(first.asked).toHaveLength(1);
	const second = await start();
	expect(await second.bash("echo one three")).toContain("one three");
	expect(await second.bash("echo two")).toContain("refused");
	expect(saved()).toEqual({ projects: { [cwd]: { allow: ["bash(echo one *)"] } } });
	expect(statSync(join(agentDir, "settings.json")).mode & 0o777).toBe(0o600);
	expect(readdirSync(cwd).sort()).toEqual([".env", "b.ts", "src"]);
});

test("all edits accepts those of the session in the project, but not protected files", async () => {
	const { call, asked, session } = await start(["Yes, all edits"]);
	expect(await call("write", { path: "made", content: "x" })).toContain("Created");
	expect(await call("edit", { path: "b.ts", oldText: "b", newText: "c" })).not.toContain("refused");
	expect(await call("write", { path: ".env", content: "x" })).toContain("refused");
	expect(await call("write", { path: "../made", content: "x" })).toContain("refused");
	expect(await call("bash", { command: "touch other" })).toContain("refused");
	expect(asked).toHaveLength(4);
	expect(session.entries.filter(({ type }) => type === "permission_mode")).toMatchObject([{ mode: "accept-edits" }]);
});

test("a session that is opened again does not accept edits, and can be told to again", async () => {
	const first = await start([], { session: { kind: "new" } });
	await first.session.prompt("/mode accept-edits");
	expect(await first.call("write", { path: "one", content: "x" })).toContain("Created");
	const path = first.session.sessionFile ?? expect.fail();
	await first.session.dispose();
	const second = await start([], { session: { kind: "open", target: path } });
	expect(second.session.entries.findLast(({ type }) => type === "permission_mode")).toMatchObject({
		mode: "accept-edits",
	});
	expect(await second.call("write", { path: "two", content: "x" })).toContain("refused");
	await second.session.prompt("/mode accept-edits");
	expect(await second.call("write", { path: "two", content: "x" })).toContain("Created");
});

test("one answer allows the calls of the same message that it covers", async () => {
	const { calls, asked } = await start(["Yes, all edits"]);
	mkdirSync(join(cwd, "x"));
	const results = await calls(
		...["a", "b", "c"].map((name): [string, Record<string, unknown>] => [
			"write",
			{ path: `x/${name}`, content: name },
		]),
	);
	expect(results.map((text) => text.startsWith("Created"))).toEqual([true, true, true]);
	expect(asked).toHaveLength(1);
});

test("what the user says with a refusal is the result of the call", async () => {
	const { bash } = await start([{ say: "use make instead" }]);
	expect(await bash("touch made")).toContain("The user refused this call and says: use make instead");
	expect(existsSync(join(cwd, "made"))).toBe(false);
});

test("patterns cover commands and paths; deny wins over ask, and ask over allow", async () => {
	rules(
		{ allow: ["write(src/*)"], deny: ["read(b.ts)"] },
		{ allow: ["bash(echo *)"], ask: ["write(src/c*)"], deny: ["write(src/secret*)"] },
	);
	const { call, bash, asked } = await start();
	expect(await call("write", { path: "src/new/d.ts", content: "x" })).toContain("Created");
	expect(await call("write", { path: "src/../b.ts", content: "x" })).toContain("refused");
	expect(await call("write", { path: "src/c.ts", content: "x" })).toContain("refused");
	expect(await call("write", { path: "src/secret.ts", content: "x" })).toContain(DENIED);
	expect(await call("read", { path: "b.ts" })).toContain(DENIED);
	expect(await bash("echo fine")).toContain("fine");
	expect(asked).toHaveLength(2);
});

test("a project can ask and deny, but not allow", async () => {
	const permissions = { allow: ["bash"], ask: ["read(src/*)"], deny: ["read(b.ts)"] };
	writeFiles(cwd, { ".pi/settings.json": { permissions } });
	const { call, bash, asked } = await start();
	expect(await call("read", { path: "b.ts" })).toContain(DENIED);
	await call("read", { path: "src/a.ts" });
	await bash("echo");
	expect(asked).toHaveLength(2);
});

test.each(["echo a; touch made", "echo $(touch made)", "echo a\ntouch made", "echo a > made", "echo a | tee made"])(
	"an allow rule with a star does not cover %j",
	async (command) => {
		rules({ allow: ["bash(echo *)"] });
		const { bash, asked } = await start();
		expect(await bash(command)).toContain("refused");
		expect(asked).toHaveLength(1);
		expect(existsSync(join(cwd, "made"))).toBe(false);
	},
);

test("without a person a call that would ask is blocked, and rules still apply", async () => {
	rules({ allow: ["bash(echo *)"] });
	const { bash } = await start(null);
	expect(await bash("echo fine")).toContain("fine");
	expect(await bash("touch made")).toContain("nobody can answer");
	expect(existsSync(join(cwd, "made"))).toBe(false);
});

test.each(["{", '{ "permissions": { "deny": "bash" } }', '{ "permissions": { "deney": ["bash"] } }'])(
	"settings with %s block every call, in every mode",
	async (content) => {
		writeFiles(agentDir, { "settings.json": content });
		const { call, session } = await start([], { flags: { "bypass-permissions": true } });
		expect(await call("read", { path: "b.ts" })).toMatch(/^Blocked: hook permissions failed: .*settings\.json/);
		await session.prompt("/mode bypass");
		expect(await call("read", { path: "b.ts" })).toMatch(/^Blocked: hook permissions failed: .*settings\.json/);
	},
);

test("the rules of permissions.json hold, and move to the settings", async () => {
	writeFiles(agentDir, { "permissions.json": { [cwd]: { deny: ["read(b.ts)"], ask: [], allow: ["write"] } } });
	const { call, warnings } = await start();
	expect(await call("read", { path: "b.ts" })).toContain(DENIED);
	expect(saved()).toEqual({ projects: { [cwd]: { deny: ["read(b.ts)"], allow: ["write"] } } });
	expect(warnings).toEqual(["Moved the rules of permissions.json to settings.json"]);
});

test("/permissions adds, lists and removes rules, also those of the session", async () => {
	const { session, bash, asked } = await start(["Yes, for this session", "deny bash(rm *)", "allow bash(echo one)"]);
	expect(await session.prompt("/permissions")).toMatchObject({ status: expect.stringContaining("There are no rules") });
	expect(await session.prompt("/permissions maybe bash")).toMatchObject({ status: expect.stringContaining("Usage:") });
	expect(await session.prompt("/permissions deny bash(rm *)")).toMatchObject({
		status: "Saved deny bash(rm *) for this project",
	});
	expect(await session.prompt("/permissions allow ls --everywhere")).toMatchObject({
		status: "Saved allow ls for all projects",
	});
	await bash("echo one");
	expect(saved()).toEqual({ allow: ["ls"], projects: { [cwd]: { deny: ["bash(rm *)"] } } });
	const alone = await start(null);
	expect(await alone.session.prompt("/permissions")).toMatchObject({
		status: "deny bash(rm *) · this project, in your settings.json\nallow ls · all projects, in your settings.json",
	});
	expect(await session.prompt("/permissions")).toMatchObject({ status: "Removed deny bash(rm *)" });
	expect(asked.at(-1)?.choices[0]).toBe("allow bash(echo one) · until this session ends");
	expect(await session.prompt("/permissions")).toMatchObject({ status: "Removed allow bash(echo one)" });
	expect(await bash("echo one")).toContain("refused");
});

describe("modes", () => {
	const next = async ({ session }: { session: Awaited<ReturnType<typeof start>>["session"] }) => {
		const result = await session.prompt("/mode next");
		return "status" in result ? result.status?.split(" · ")[0] : undefined;
	};

	test("go around, with bypass only with its flag", async () => {
		const run = await start();
		expect([await next(run), await next(run), await next(run)]).toEqual([
			"Mode: Accept edits",
			"Mode: Plan",
			"Mode: Ask",
		]);
		expect(await run.session.prompt("/mode bypass")).toMatchObject({
			status: expect.stringContaining("no mode bypass"),
		});
		const free = await start([], { flags: { "bypass-permissions": true } });
		for (const mode of ["Accept edits", "Plan", "Bypass permissions", "Ask"])
			expect(await next(free)).toBe(`Mode: ${mode}`);
	});

	test("are named, chosen from a list, and completed", async () => {
		const { session, asked } = await start(["Plan"]);
		expect(await session.prompt("/mode Accept edits")).toMatchObject({
			status: expect.stringContaining("Accept edits"),
		});
		expect(await session.prompt("/mode")).toMatchObject({ status: expect.stringContaining("Mode: Plan") });
		expect(asked[0]?.choices).toEqual(["Ask", "Accept edits", "Plan"]);
		const alone = await start(null);
		expect(await alone.session.prompt("/mode")).toMatchObject({ status: "Mode: Ask · /mode ask, accept-edits, plan" });
	});

	test("bypass asks nothing, but denies what rules and protected-paths deny", async () => {
		rules({ ask: ["bash(echo *)"], deny: ["bash(touch *)"] });
		const options = { flags: { "bypass-permissions": true }, presets: ["permissions", "protected-paths"] };
		const { bash, call, asked, session } = await start([], options);
		await session.prompt("/mode bypass");
		expect(await bash("echo fine")).toContain("fine");
		expect(await bash("touch made")).toContain(DENIED);
		expect(await call("write", { path: ".env", content: "x" })).toContain("is protected");
		expect(await call("read", { path: "/etc/hostname" })).not.toContain("refused");
		expect(asked).toEqual([]);
	});

	test("without the flag, a session that was in bypass asks", async () => {
		const forced = await start([], { flags: { "bypass-permissions": true }, session: { kind: "new" } });
		await forced.session.prompt("/mode bypass");
		expect(await forced.bash("echo kept")).toContain("kept");
		const file = forced.session.sessionFile;
		if (!file) throw new Error("the session has no file");
		await forced.session.dispose();
		const resumed = await start([], { session: { kind: "open", target: file } });
		expect(await resumed.bash("echo no")).toContain("refused");
	});
});
