import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseArgs } from "../../../src/cli/args.js";
import { readNumbers } from "../../../src/cli/subcommands/import-setup.js";
import { tempAgentDir, tempDir, writeFiles } from "../../helpers/temp.js";
import { run } from "./run.js";

const importing = (yes = false) => ({ name: "import", program: "claude", yes }) as const;
const HOOKS = { hooks: { Stop: [{ hooks: [{ type: "command", command: "true" }] }] } };

/** Files of Claude Code, and a new agent directory. */
function place(user: Record<string, unknown>, project: Record<string, unknown> = {}) {
	const [source, cwd, agentDir] = [tempDir(), tempDir("pi-project-"), tempAgentDir()];
	writeFiles(source, user);
	writeFiles(cwd, project);
	return { agentDir, cwd, env: { CLAUDE_CONFIG_DIR: source }, source };
}

const read = (...path: string[]) => readFileSync(join(...path), "utf8");

test("without a terminal and --yes, everything is listed and nothing is written", async () => {
	const at = place({
		"commands/review.md": "Review.",
		"settings.json": { ...HOOKS, permissions: { deny: ["Read(.env)"] } },
	});
	const before = readdirSync(at.agentDir);
	const { stdout, stderr, code } = await run(importing(), at);
	expect(code).toBe(0);
	expect(stdout).toMatch(/^1 +command +user +\/review +→ .*prompts\/review\.md\n2 +hooks +user +settings\.json +→ /);
	expect(stdout).toMatch(/permissions +user +1 deny +pi:permissions compares/);
	expect(stderr).toBe("Nothing was written: pi import claude --yes takes over 2 items\n");
	expect(readdirSync(at.agentDir)).toEqual(before);
});

test("--yes takes over everything once, turns its bundled hooks on, and never changes the sources", async () => {
	const agent = "---\nname: scout\ndescription: finds files\n---\nYou search.\n";
	const at = place({
		"commands/review.md": "Review.",
		"agents/scout.md": agent,
		"settings.json": HOOKS,
		"CLAUDE.md": "Be brief.",
	});
	const { stdout } = await run(importing(true), at);
	expect(stdout).toContain("+ 1 Review.");
	expect(stdout).toContain("settings.json: turns pi:claude-hooks on");
	expect(stdout).toMatch(/Took over 4 items in 4 files\n$/);
	expect(read(at.agentDir, "prompts", "review.md")).toBe("Review.");
	expect(read(at.agentDir, "AGENTS.md")).toBe("Be brief.");
	expect(JSON.parse(read(at.agentDir, "claude-hooks", "settings.json"))).toEqual(HOOKS);
	expect(JSON.parse(read(at.agentDir, "settings.json")).hooks).toEqual(["pi:agents", "pi:claude-hooks"]);
	expect(statSync(join(at.agentDir, "claude-hooks", "settings.json")).mode & 0o777).toBe(0o600);
	expect(JSON.parse(read(at.source, "settings.json"))).toEqual(HOOKS);

	writeFiles(at.agentDir, { "settings.json": { hooks: [] } });
	const again = await run(importing(true), at);
	expect(again.stdout.match(/taken over before/g)).toHaveLength(4);
	expect(again.stdout).not.toContain("Took over");
	expect(JSON.parse(read(at.agentDir, "settings.json")).hooks).toEqual([]);
});

test("nothing of pi is replaced: what has the same name and other content is kept", async () => {
	const at = place({
		"commands/review.md": "Review.",
		"CLAUDE.md": "Be brief.",
		".claude.json": { mcpServers: { a: { command: "theirs" }, b: { command: "b" } } },
	});
	const mcp = { mcpServers: { a: { command: "mine" } }, other: 1 };
	writeFiles(at.agentDir, { "prompts/review.md": "Mine.", "CLAUDE.md": "Mine.", "mcp.json": mcp });
	const { stdout } = await run(importing(true), at);
	expect(stdout.match(/kept: /g)).toHaveLength(3);
	expect(read(at.agentDir, "prompts", "review.md")).toBe("Mine.");
	expect(existsSync(join(at.agentDir, "AGENTS.md"))).toBe(false);
	expect(JSON.parse(read(at.agentDir, "mcp.json"))).toEqual({
		...mcp,
		mcpServers: { ...mcp.mcpServers, b: { command: "b" } },
	});
});

test("a malformed mcp.json of pi is kept", async () => {
	const at = place({ ".claude.json": { mcpServers: { a: { command: "a" } } } });
	writeFiles(at.agentDir, { "mcp.json": "{" });
	const { stdout } = await run(importing(true), at);
	expect(stdout).toMatch(/kept: .*mcp\.json:1:2: unexpected end of file/);
	expect(read(at.agentDir, "mcp.json")).toBe("{");
	writeFiles(at.agentDir, { "mcp.json": '{ "mcpServers": 1 }' });
	expect((await run(importing(true), at)).stdout).toMatch(/kept: .*mcp\.json:1:17: mcpServers must be an object/);
});

test("with settings that cannot be read, nothing is written that turns a hook on", async () => {
	const at = place({ "commands/a.md": "A.", "settings.json": HOOKS });
	writeFiles(at.agentDir, { "settings.json": '{ "theme": "dark" ' });
	const before = readdirSync(at.agentDir);
	const message = /settings\.json:1:19: unexpected end of file/;
	await expect(run(importing(true), at)).rejects.toMatchObject({
		code: "config_invalid",
		message: expect.stringMatching(message),
	});
	expect(readdirSync(at.agentDir)).toEqual(before);
	expect(read(at.agentDir, "settings.json")).toBe('{ "theme": "dark" ');
});

test("a command with the name of one of pi, or its alias, is kept back", async () => {
	const at = place({ "commands/model.md": "A.", "commands/exit.md": "B.", "commands/mine.md": "C." });
	const { stdout } = await run(importing(true), at);
	expect(stdout).toContain("kept: /model is a command of pi");
	expect(stdout).toContain("Took over 1 item");
	expect(readdirSync(join(at.agentDir, "prompts"))).toEqual(["mine.md"]);
});

test("prompts and skills of a project are no code that pi asks about", async () => {
	const at = place({}, { ".claude/commands/deploy.md": "Deploy.", ".claude/skills/a/SKILL.md": "x" });
	const { stdout, stderr } = await run(importing(true), { ...at, trust: true });
	expect(stdout).toContain("Took over 2 items");
	expect(stderr).not.toContain("new code");
});

test("secrets of MCP servers are copied to a private file, and never printed", async () => {
	const server = { command: "a", args: ["--api-key", "s3cret"], env: { TOKEN: "s3cret", REF: "$" + "{REF}" } };
	const at = place({
		".claude.json": { mcpServers: { a: server, b: { url: "https://u:s3cret@a.example/?k=s3cret" } } },
	});
	const { stdout, stderr } = await run(importing(true), at);
	expect(stdout).toContain('"TOKEN": "‹hidden›"');
	expect(stdout + stderr).not.toContain("s3cret");
	expect(JSON.parse(read(at.agentDir, "mcp.json")).mcpServers.a).toEqual(server);
	expect(statSync(join(at.agentDir, "mcp.json")).mode & 0o777).toBe(0o600);
	expect((await run(importing(), { ...at, json: true })).stdout).not.toContain("s3cret");
});

test("files of a project are taken over only if it is trusted", async () => {
	const at = place({}, { ".claude/commands/deploy.md": "Deploy.", ".claude/settings.json": HOOKS });
	const untrusted = await run(importing(true), at);
	expect(untrusted.stdout.match(/not before you trust this project: start pi in it, or add --trust/g)).toHaveLength(2);
	expect(existsSync(join(at.cwd, ".pi"))).toBe(false);
	const trusted = await run(importing(true), { ...at, trust: true });
	expect(trusted.stderr).toContain("pi asks about the new code of this project at its next start");
	expect(read(at.cwd, ".pi", "prompts", "deploy.md")).toBe("Deploy.");
	expect(JSON.parse(read(at.cwd, ".pi", "claude-hooks", "settings.json"))).toEqual(HOOKS);
	expect(JSON.parse(read(at.agentDir, "settings.json")).hooks).toEqual(["pi:claude-hooks"]);
});

test("a server that the user has for one project becomes one of that project, once it is trusted", async () => {
	const at = place({});
	const server = { command: "./db.sh" };
	writeFiles(at.source, { ".claude.json": { projects: { [at.cwd]: { mcpServers: { db: server } } } } });
	expect((await run(importing(true), at)).stdout).toContain("not before you trust this project");
	expect(existsSync(join(at.cwd, ".pi"))).toBe(false);
	const { stderr } = await run(importing(true), { ...at, trust: true });
	expect(stderr).toContain("pi asks about the new code of this project at its next start");
	expect(JSON.parse(read(at.cwd, ".pi", "mcp.json"))).toEqual({ mcpServers: { db: server } });
	expect(existsSync(join(at.agentDir, "mcp.json"))).toBe(false);
});

test("the decision on the project's code counts, and must be made again after the import", async () => {
	const at = place({}, { ".claude/settings.json": HOOKS, ".pi/hooks/own.ts": "export default () => {};" });
	await run({ name: "hooks", action: "trust" }, at);
	expect((await run(importing(true), at)).stdout).toContain("Took over 1 item in 1 file");
	const listed = JSON.parse((await run({ name: "hooks", action: "trust" }, { ...at, json: true })).stdout);
	expect(listed.files).toMatchObject([
		{ rel: ".pi/claude-hooks/settings.json", state: "new" },
		{ rel: ".pi/hooks/own.ts", state: "trusted" },
	]);
});

test("nothing is written through a link of the project that leads out of it", async () => {
	const at = place({}, { ".claude/commands/deploy.md": "Deploy." });
	const outside = tempDir();
	mkdirSync(join(at.cwd, ".pi"));
	symlinkSync(outside, join(at.cwd, ".pi", "prompts"));
	expect((await run(importing(true), { ...at, trust: true })).stdout).toContain("kept: ");
	expect(readdirSync(outside)).toEqual([]);
});

test("of two commands with one name, the second is kept back", async () => {
	const at = place({});
	writeFiles(at.source, { "opencode/command/a.md": "One.", "opencode/commands/a.md": "Two." });
	const command = { name: "import", program: "opencode", yes: true } as const;
	const { stdout, stderr } = await run(command, { ...at, env: { XDG_CONFIG_HOME: at.source } });
	expect(stdout).toContain("Took over 1 item");
	expect(stderr).toContain("command /a was kept: pi has another one of that name");
	expect(read(at.agentDir, "prompts", "a.md")).toBe("One.");
});

test("control characters of foreign files are not printed", async () => {
	const at = place({
		"commands/a.md": "Red \x1b[31m \u202e text\x07.",
		"settings.json": { hooks: { "Stop\x1b]0;x\x07": [] } },
	});
	const { stdout } = await run(importing(true), at);
	expect(stdout).not.toMatch(/[\x00-\x08\x0b-\x1f\u202e]/);
});

test("a file of pi where a directory should be is kept", async () => {
	const at = place({ "commands/a.md": "A." });
	writeFiles(at.agentDir, { prompts: "a file" });
	expect((await run(importing(true), at)).stdout).toContain("kept: ");
	expect(read(at.agentDir, "prompts")).toBe("a file");
});

test("--json prints items with their state and the files that were written", async () => {
	const at = place({ "commands/a.md": "A.", "settings.json": { statusLine: {} } });
	const listed = JSON.parse((await run(importing(), { ...at, json: true })).stdout);
	const to = [join(at.agentDir, "prompts", "a.md")];
	expect(listed).toMatchObject({
		items: [
			{ kind: "command", scope: "user", name: "/a", state: "new", to, note: null },
			{ kind: "other", name: "statusLine", state: "none", to: [] },
		],
		written: [],
	});
	expect(JSON.parse((await run(importing(true), { ...at, json: true })).stdout).written).toEqual(to);
});

test("a program without files is named", async () => {
	const { stdout } = await run(importing(), place({}));
	expect(stdout).toBe("Claude Code has nothing here that pi could take over\n");
});

test.each([
	["", []],
	["1", [1]],
	["1 3-5, 2", [1, 2, 3, 4, 5]],
])("the answer %j chooses %j of 5", (text, numbers) => {
	expect(readNumbers(text, 5)).toEqual(new Set(numbers));
});

test.each([
	["0", "0 is not in the list, whose numbers are 1 to 5"],
	["6", "6 is not in the list, whose numbers are 1 to 5"],
	["1-99", "1-99 is not in the list, whose numbers are 1 to 5"],
	["4-2", "4-2 is no range: 4 is larger than 2"],
	["1 foo", "foo is no number of the list, and no range such as 3-5"],
	["1-999999999", "1-999999999 is no number of the list, and no range such as 3-5"],
])("the answer %j is refused with a reason", (text, reason) => {
	expect(readNumbers(text, 5)).toBe(reason);
});

test("the command line names the program", () => {
	expect(parseArgs(["import", "codex", "--yes"])).toMatchObject({
		command: { name: "import", program: "codex", yes: true },
	});
	expect(() => parseArgs(["import"])).toThrow("pi import <program>: missing program");
	expect(() => parseArgs(["import", "cursor"])).toThrow('pi import: unknown action "cursor"');
	expect(() => parseArgs(["import", "claude", "x"])).toThrow('pi import claude: unexpected argument "x"');
});
