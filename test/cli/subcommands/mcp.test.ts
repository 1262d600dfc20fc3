import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseArgs } from "../../../src/cli/args.js";
import { tempAgentDir, tempDir, writeFiles } from "../../helpers/temp.js";
import { hostile } from "../../mcp/servers.js";
import { type RunPlace, run } from "./run.js";

function pi(argv: readonly string[], place: RunPlace) {
	const line = parseArgs(["mcp", ...argv]);
	if (line.kind !== "subcommand") throw new Error("no subcommand");
	return run(line.command, { ...place, json: line.options.json, trust: line.options.trust });
}

const place = () => ({ agentDir: tempAgentDir(), cwd: tempDir("pi-project-") });
const read = (...path: string[]) => JSON.parse(readFileSync(join(...path), "utf8"));

test("a server is added to the file of the user, whose other contents stay and which only the user can read", async () => {
	const at = place();
	writeFiles(at.agentDir, { "mcp.json": { other: 1, mcpServers: { old: { command: "a", timeoutMs: 5 } } } });
	const added = await pi(["add", "files", "--env", "KEY=sk-0123456789", "--", "npx", "--token", "abc"], at);
	expect(added).toMatchObject({ code: 0, stderr: "" });
	expect(added.stdout).toMatch(/^Added the MCP server files in \S+mcp\.json: npx --token ‹hidden›\n$/);
	expect(read(at.agentDir, "mcp.json")).toEqual({
		other: 1,
		mcpServers: {
			old: { command: "a", timeoutMs: 5 },
			files: { command: "npx", args: ["--token", "abc"], env: { KEY: "sk-0123456789" } },
		},
	});
	expect(statSync(join(at.agentDir, "mcp.json")).mode & 0o777).toBe(0o600);
});

test("an existing server is replaced only with --replace, also under a name that pi does not tell apart", async () => {
	const at = place();
	writeFiles(at.agentDir, { "mcp.json": { mcpServers: { "a.b": { command: "old" } } } });
	await expect(pi(["add", "a_b", "--", "new"], at)).rejects.toMatchObject({
		code: "bad_arguments",
		message: `${join(at.agentDir, "mcp.json")} has an MCP server a_b already`,
	});
	expect(read(at.agentDir, "mcp.json").mcpServers).toEqual({ "a.b": { command: "old" } });
	const { stdout } = await pi(["add", "a_b", "--replace", "--", "new"], at);
	expect(stdout).toMatch(/^Replaced the MCP server a_b in /);
	expect(read(at.agentDir, "mcp.json").mcpServers).toEqual({ a_b: { command: "new" } });
});

test.each(["{ // comment", '{"mcpServers": []}', "[]"])("the malformed mcp.json %s is kept", async (text) => {
	const at = place();
	writeFiles(at.agentDir, { "mcp.json": text });
	for (const argv of [
		["add", "a", "--", "x"],
		["remove", "a"],
	])
		await expect(pi(argv, at)).rejects.toMatchObject({
			code: "config_invalid",
			message: expect.stringMatching(/mcp\.json:1:\d+: /),
		});
	expect(readFileSync(join(at.agentDir, "mcp.json"), "utf8")).toBe(text);
	expect(await pi(["list"], at)).toMatchObject({ code: 1, stderr: expect.stringMatching(/mcp\.json:1:\d+: /) });
});

test("a server of the user may not run a file by a relative path; one of the project may", async () => {
	const at = place();
	await expect(pi(["add", "a", "--", "node", "server.js"], at)).rejects.toThrow("by a relative path");
	const { stderr } = await pi(["add", "a", "--project", "--env", "KEY=sk-0123456789", "--", "node", "server.js"], at);
	expect(read(at.cwd, ".pi", "mcp.json").mcpServers.a.args).toEqual(["server.js"]);
	expect(stderr).toContain("has values that may be secret, and may become public");
	expect(stderr).toContain("pi asks about the new code of this project at its next start");
	expect(stderr).not.toContain("sk-0123456789");
	const header = ["--header", "Authorization: Bearer $" + "{T:-x}"];
	const quiet = await pi(["add", "b", "--project", "https://a.example/b", ...header], at);
	expect(quiet.stderr).not.toContain("secret");
});

test("nothing is written through a link of the project that leads out of it", async () => {
	const [at, other] = [place(), tempDir()];
	symlinkSync(other, join(at.cwd, ".pi"));
	await expect(pi(["add", "a", "--project", "--", "x"], at)).rejects.toThrow("leads out of the project");
	expect(existsSync(join(other, "mcp.json"))).toBe(false);
});

test("a missing variable is named when a server is added", async () => {
	const at = place();
	const { code, stderr } = await pi(["add", "a", "--env", "PI_TEST_MISSING", "--", "x"], at);
	expect(code).toBe(0);
	expect(stderr).toMatch(/mcpServers\.a needs the environment variable PI_TEST_MISSING, which is not set/);
});

test("the list says where servers are defined and whether they are used, and shows no secrets", async () => {
	const at = place();
	mkdirSync(join(at.cwd, ".pi"));
	writeFiles(at.agentDir, {
		"mcp.json": {
			mcpServers: {
				a: { command: "npx", args: ["-y", "x"], env: { KEY: "sk-0123456789" } },
				b: { url: "https://me:pw@b.example/mcp?key=1", headers: { "X-Key": "sk-0123456789" } },
				c: { command: "c", disabled: true },
				d: { args: [] },
			},
		},
	});
	writeFiles(at.cwd, { ".mcp.json": { mcpServers: { a: { command: "theirs" } } } });
	const { code, stdout, stderr } = await pi(["list"], at);
	const user = join(at.agentDir, "mcp.json");
	const rows = stdout.split("\n").map((row) => row.replace(/ {2,}/g, " | "));
	expect(rows).toEqual([
		`a | ${user} | used | npx -y x`,
		`b | ${user} | used | https://‹hidden›@b.example/mcp?‹hidden›`,
		`c | ${user} | off | c`,
		`d | ${user} | not used`,
		"a | .mcp.json | not trusted | theirs",
		"",
	]);
	expect(code).toBe(1);
	expect(stderr).toMatch(/mcpServers\.d needs a command or a url[\s\S]*pi hooks trust trusts them/);

	const trusted = await pi(["list", "--trust", "--json"], at);
	expect(trusted.stdout).not.toContain("sk-0123456789");
	const [a, b, , , theirs] = JSON.parse(trusted.stdout);
	expect(a).toEqual({
		...{ name: "a", path: user, scope: "user", use: "replaced", command: "npx", args: ["-y", "x"] },
		...{ env: ["KEY"], headers: [] },
	});
	expect(b).toMatchObject({ url: "https://‹hidden›@b.example/mcp?‹hidden›", headers: ["X-Key"] });
	expect(theirs).toMatchObject({ path: join(at.cwd, ".mcp.json"), scope: "shared", use: "used" });
});

test("a server is removed from its file alone, and an error says which file has it", async () => {
	const at = place();
	await pi(["add", "a", "--project", "--", "x"], at);
	await pi(["add", "b", "--", "x"], at);
	const path = join(at.agentDir, "mcp.json");
	await expect(pi(["remove", "a"], at)).rejects.toMatchObject({
		message: `${path} defines no MCP server "a"`,
		hint: `${join(at.cwd, ".pi", "mcp.json")} defines it: add --project`,
	});
	await expect(pi(["remove", "bb"], at)).rejects.toMatchObject({ hint: "did you mean b?" });
	const { stdout } = await pi(["remove", "a", "--project", "--json"], at);
	expect(JSON.parse(stdout)).toEqual({ name: "a", path: join(at.cwd, ".pi", "mcp.json"), scope: "project" });
	expect(read(at.cwd, ".pi", "mcp.json")).toEqual({ mcpServers: {} });
	expect(read(path).mcpServers).toEqual({ b: { command: "x" } });
	const empty = place();
	await expect(pi(["remove", "a", "--project"], empty)).rejects.toThrow("defines no MCP server");
	expect(existsSync(join(empty.cwd, ".pi"))).toBe(false);
});

test("only --check starts the server; it lists its tools or says why it did not start, and the server stays", async () => {
	const at = place();
	const starts = join(at.cwd, "starts.log");
	const { command, args } = hostile();
	const env = ["--env", `STARTS_FILE=${starts}`];
	expect((await pi(["add", "a", ...env, "--", command, ...args], at)).code).toBe(0);
	expect(existsSync(starts)).toBe(false);
	const checked = await pi(["add", "b", "--check", ...env, "--", command, ...args], at);
	expect(checked).toMatchObject({ code: 0, stderr: "" });
	expect(checked.stdout).toMatch(/It started\. Its tools:\n[\s\S]* b_env /);
	expect(existsSync(starts)).toBe(true);
	const failed = await pi(["add", "c", "--check", "--", "/no/such/program"], at);
	expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining("The MCP server c did not start: ") });
	expect(Object.keys(read(at.agentDir, "mcp.json").mcpServers)).toEqual(["a", "b", "c"]);
	const json = await pi(["add", "b", "--check", "--replace", "--json", "--", command, ...args], at);
	expect(JSON.parse(json.stdout)).toMatchObject({ name: "b", replaced: true, check: { error: null } });
});
