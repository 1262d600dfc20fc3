import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test, vi } from "vitest";
import type { SessionUI } from "../../src/hooks/session-ui.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";
import { startApp } from "../modes/interactive/app.js";
import { example } from "./example.js";

const HOOK = example("permissions.ts");
let agentDir: string;
let cwd: string;

beforeEach(() => {
	agentDir = tempAgentDir();
	cwd = tempDir();
	writeFiles(cwd, { "src/a.ts": "a", "b.ts": "b" });
	vi.stubEnv("PI_CODING_AGENT_DIR", agentDir);
	return () => vi.unstubAllEnvs();
});

/** A session whose user answers each question with the next of `answers`, the start of an option. null: nobody is there. */
async function start(answers: string[] | null) {
	const asked: string[] = [];
	const select = async (title: string, options: readonly string[]) => {
		asked.push(title);
		const answer = answers?.shift();
		return options.find((option) => option.startsWith(answer ?? "nothing")) ?? null;
	};
	const ui: Partial<SessionUI> = { select: select as SessionUI["select"] };
	const run = await startSession({ hookFiles: [HOOK], agentDir, cwd, ...(answers ? { ui } : {}) });
	/** Lets the model call one tool. @returns its result */
	const call = async (tool: string, args: Record<string, unknown>): Promise<string> => {
		run.provider.reply([toolCall(tool, args)], "ok");
		await run.session.prompt("go");
		return run.provider.requests.at(-1)?.messages.at(-1)?.text ?? "";
	};
	return { ...run, asked, call, bash: (command: string) => call("bash", { command }) };
}

function rules(lists: { allow?: string[]; ask?: string[]; deny?: string[] }) {
	writeFiles(agentDir, { "permissions.json": { [cwd]: { deny: [], ask: [], allow: [], ...lists } } });
}

test("rules come from the directory that pi uses, also if its variable begins with ~", async () => {
	vi.stubEnv("HOME", agentDir);
	vi.stubEnv("PI_CODING_AGENT_DIR", "~/own");
	writeFiles(agentDir, { "own/permissions.json": { [cwd]: { deny: ["read"], ask: [], allow: [] } } });
	const { call } = await start([]);
	expect(await call("read", { path: "b.ts" })).toContain("A rule of the user denies this call");
});

test("read-only tools run inside the project without a question", async () => {
	const { call, asked } = await start([]);
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
	const { call, asked } = await start([]);
	expect(await call(tool, args)).toContain("The user refused this call. Ask what to do instead.");
	expect(asked).toHaveLength(1);
	expect(existsSync(join(cwd, "made"))).toBe(false);
});

test("once allows one call, always is remembered for this project in the agent directory", async () => {
	const first = await start(["Yes, once", "Yes, always"]);
	expect(await first.bash("echo one")).toContain("one");
	expect(await first.bash("echo one")).toContain("one");
	expect(await first.bash("echo one")).toContain("one");
	expect(first.asked).toEqual(["Allow bash? echo one", "Allow bash? echo one"]);
	const second = await start([]);
	expect(await second.bash("echo one")).toContain("one");
	expect(await second.bash("echo one two")).toContain("refused");
	const path = join(agentDir, "permissions.json");
	expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
		[cwd]: { deny: [], ask: [], allow: ["bash(echo one)"] },
	});
	expect(statSync(path).mode & 0o777).toBe(0o600);
	expect(readdirSync(cwd).sort()).toEqual(["b.ts", "src"]);
});

test("never is remembered, and the model receives that a rule denies the call", async () => {
	const { call, asked } = await start(["No, never"]);
	expect(await call("write", { path: "b.ts", content: "x" })).toContain("refused");
	expect(await call("write", { path: "./src/../b.ts", content: "x" })).toContain("A rule of the user denies this call");
	expect(asked).toHaveLength(1);
	expect(readFileSync(join(cwd, "b.ts"), "utf8")).toBe("b");
});

test("a star in a remembered command stands for itself", async () => {
	const { bash, asked } = await start(["Yes, always"]);
	await bash("echo *");
	expect(await bash("echo everything")).toContain("refused");
	expect(asked).toHaveLength(2);
});

test("an empty command cannot become a rule for all commands", async () => {
	const { bash } = await start(["Yes, always", "Yes, always"]);
	expect(await bash("  ")).toContain("refused");
	expect(existsSync(join(agentDir, "permissions.json"))).toBe(false);
});

test("patterns cover commands and paths; deny wins over ask, and ask over allow", async () => {
	rules({
		allow: ["write(src/*)", "bash(echo *)"],
		ask: ["write(src/c*)"],
		deny: ["write(src/secret*)", "read(b.ts)"],
	});
	const { call, bash, asked } = await start([]);
	expect(await call("write", { path: "src/new/d.ts", content: "x" })).toContain("Created");
	expect(await call("write", { path: "src/../b.ts", content: "x" })).toContain("refused");
	expect(await call("write", { path: "src/c.ts", content: "x" })).toContain("refused");
	expect(await call("write", { path: "src/secret.ts", content: "x" })).toContain("denies");
	expect(await call("read", { path: "b.ts" })).toContain("denies");
	expect(await bash("echo fine")).toContain("fine");
	expect(asked).toEqual(["Allow write? b.ts\ncontent: x", "Allow write? src/c.ts\ncontent: x"]);
});

test.each(["echo a; touch made", "echo $(touch made)", "echo a\ntouch made", "echo a > made", "echo a | tee made"])(
	"an allow rule with a star does not cover %j",
	async (command) => {
		rules({ allow: ["bash(echo *)"] });
		const { bash, asked } = await start([]);
		expect(await bash(command)).toContain("refused");
		expect(asked).toHaveLength(1);
		expect(existsSync(join(cwd, "made"))).toBe(false);
	},
);

test("without a person a call that would ask is blocked, and rules still apply", async () => {
	rules({ allow: ["bash(echo *)"] });
	const { bash } = await start(null);
	expect(await bash("echo fine")).toContain("fine");
	expect(await bash("touch made")).toContain("needs permission, but no user is present");
	expect(existsSync(join(cwd, "made"))).toBe(false);
});

test.each([
	["{"],
	["[]"],
	['{ "/x": { "deny": "bash" } }'],
	['{ "/x": { "deny": ["no rule("], "ask": [], "allow": [] } }'],
])("a file with %s blocks every call", async (content) => {
	writeFiles(agentDir, { "permissions.json": content });
	const { call } = await start([]);
	expect(await call("read", { path: "b.ts" })).toMatch(/^Blocked: hook permissions failed: .*permissions\.json/);
});

test("answers of parallel questions are all saved", async () => {
	const { provider, session } = await start(["Yes, always", "Yes, always", "Yes, always"]);
	mkdirSync(join(cwd, "x"));
	provider.reply(
		["a", "b", "c"].map((name) => toolCall("write", { path: `x/${name}`, content: name })),
		"ok",
	);
	await session.prompt("go");
	const saved = JSON.parse(readFileSync(join(agentDir, "permissions.json"), "utf8"));
	expect(saved[cwd].allow.sort()).toEqual(["write(x/a)", "write(x/b)", "write(x/c)"]);
});

test("rules that several sessions add at the same time are all saved", async () => {
	const sessions = await Promise.all([start(null), start(null), start(null)]);
	const names = sessions.map((_, at) => `tool_${at}`);
	await Promise.all(sessions.map(({ session }, at) => session.prompt(`/permissions allow ${names[at]}`)));
	const saved = JSON.parse(readFileSync(join(agentDir, "permissions.json"), "utf8"));
	expect(saved[cwd].allow.sort()).toEqual(names);
	expect(readdirSync(agentDir).filter((name) => name.startsWith("permissions"))).toEqual(["permissions.json"]);
});

test("/permissions adds, lists and removes rules", async () => {
	const { session } = await start(["deny bash(rm *)"]);
	expect(await session.prompt("/permissions")).toMatchObject({ status: expect.stringContaining("has no rules") });
	expect(await session.prompt("/permissions maybe bash")).toMatchObject({ status: expect.stringContaining("Usage:") });
	expect(await session.prompt("/permissions deny bash(rm *)")).toMatchObject({
		status: "Saved deny bash(rm *) for this project",
	});
	await session.prompt("/permissions allow write");
	const alone = await start(null);
	expect(await alone.session.prompt("/permissions")).toMatchObject({ status: "deny bash(rm *)\nallow write" });
	expect(await session.prompt("/permissions")).toMatchObject({ status: "Removed deny bash(rm *)" });
	expect(await alone.session.prompt("/permissions")).toMatchObject({ status: "allow write" });
});

test.each([40, 80, 120])("at %i columns the question has four answers", async (columns) => {
	const app = await startApp({ columns, agentDir, rows: 30, agentSettings: { hooks: ["pi:permissions"] } });
	app.provider.reply([toolCall("bash", { command: "echo made > made" })], "Written.");
	await app.terminal.waitFor("0%");
	await app.submit("go");
	await app.terminal.waitFor("No, never bash");
	expect((await app.terminal.text()).replace(/\s+/g, " ")).toContain("Allow bash? echo made > made");
	await app.terminal.press("enter");
	await app.terminal.waitFor("Written.");
	expect(existsSync(join(app.cwd, "made"))).toBe(true);
});

test("the question contains everything that the call gets", async () => {
	const { call, asked } = await start([]);
	await call("edit", { path: "src/a.ts", edits: [{ oldText: "a", newText: "b\nc" }] });
	await call("bash", { command: "sleep 1", background: true });
	await call("grep", { path: "/etc", pattern: "root" });
	expect(asked).toEqual([
		"Allow edit? src/a.ts\nedits[0].oldText: a\nedits[0].newText:\n  b\n  c",
		"Allow bash? sleep 1\nbackground: true",
		"Allow grep? /etc\npattern: root",
	]);
});

test("a long command is read to its end before Enter allows it, and Ctrl+O shows the call, on 40×15", async () => {
	const lines = Array.from({ length: 43 }, (_, at) => `echo line ${at} >> made`);
	const command = [...lines, "echo important >> made"].join("\n");
	const app = await startApp({ columns: 40, rows: 15, agentDir, agentSettings: { hooks: ["pi:permissions"] } });
	app.provider.reply([toolCall("bash", { command })], "Written.");
	await app.terminal.waitFor("0%");
	await app.submit("go");
	await app.terminal.waitFor("No, never bash");
	await app.terminal.press("ctrl+o");
	await app.terminal.waitFor("Transcript ·");
	await app.terminal.type("E");
	await app.terminal.press("end");
	await app.terminal.waitFor("echo important");
	await app.terminal.press("escape");
	await app.terminal.waitFor("No, never bash");
	const seen = new Set<string>();
	for (let page = 0; page < 20 && !existsSync(join(app.cwd, "made")); page++) {
		const screen = await app.terminal.text();
		for (const line of screen.split("\n")) seen.add(line.trim());
		await app.terminal.press("enter");
		if (screen.includes("echo important")) break;
	}
	await app.terminal.waitFor("Written.");
	expect([...seen]).toEqual(expect.arrayContaining(lines.slice(1)));
});
