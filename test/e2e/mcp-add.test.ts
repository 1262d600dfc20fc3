import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir } from "../helpers/temp.js";
import { hostile } from "../mcp/servers.js";
import { agentDirFor, conversation } from "./support.js";

test("pi mcp add defines a server that pi then starts, without printing its values; remove ends that", async () => {
	const provider = await startProvider();
	const [agentDir, cwd] = [agentDirFor(provider), tempDir("pi-project-")];
	const pi = (...args: string[]) => runPi(args, { agentDir, cwd, env: { PASSED: "from the environment" } });
	const { command, args } = hostile();
	const starts = join(cwd, "starts.log");
	const variables = ["-e", `STARTS_FILE=${starts}`, "-e", "API_KEY=sk-0123456789abcdef", "--env", "PASSED"];

	const added = await pi("mcp", "add", "own", ...variables, "--", command, ...args);
	expect(added).toMatchObject({ code: 0, stderr: "" });
	expect(added.stdout).toMatch(/^Added the MCP server own in .*mcp\.json: /);
	const listed = await pi("mcp", "list", "--json");
	expect(JSON.parse(listed.stdout)).toEqual([
		expect.objectContaining({ name: "own", use: "used", env: ["STARTS_FILE", "API_KEY", "PASSED"] }),
	]);
	expect(added.stdout + listed.stdout).not.toContain("sk-0123456789abcdef");
	expect(existsSync(starts)).toBe(false);

	provider.reply([toolCall("mcp_search", { query: "env" })], [toolCall("own_env", {})], "Done.");
	expect(await pi("-p", "go")).toMatchObject({ code: 0, stdout: "Done.\n" });
	expect(conversation(provider, 2).join("\n")).toMatch(/tool: API_KEY .*PASSED .*STARTS_FILE/);
	expect(readFileSync(starts, "utf8").trim().split("\n")).toHaveLength(1);

	const twice = await pi("mcp", "add", "own", "--", "other");
	expect(twice).toMatchObject({
		code: 2,
		stderr: expect.stringContaining("has an MCP server own already · --replace"),
	});
	expect(await pi("mcp", "remove", "own")).toMatchObject({ code: 0, stderr: "" });
	expect((await pi("mcp")).stdout).toMatch(/^No MCP servers · /);
	provider.reply("Nothing.");
	await pi("-p", "go");
	expect(readFileSync(starts, "utf8").trim().split("\n")).toHaveLength(1);
});

test("pi mcp add --check starts the server once and lists its tools, or says why it failed with exit code 1", async () => {
	const [agentDir, cwd] = [agentDirFor(await startProvider()), tempDir("pi-project-")];
	const { command, args } = hostile();
	const starts = join(cwd, "starts.log");
	const pi = (...words: string[]) => runPi(["mcp", "add", ...words], { agentDir, cwd });
	const checked = await pi("own", "--check", "--env", `STARTS_FILE=${starts}`, "--", command, ...args);
	expect(checked).toMatchObject({ code: 0, stderr: "" });
	expect(checked.stdout).toMatch(/It started\. Its tools:\n(?: {2}.*\n)* {2}own_env /);
	expect(readFileSync(starts, "utf8").trim().split("\n")).toHaveLength(1);
	const failed = await pi("gone", "--check", "--", "/no/such/program");
	expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining("The MCP server gone did not start") });
});
