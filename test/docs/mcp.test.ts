import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { loadMcpConfig, MCP_SCHEMA } from "../../src/mcp/config.js";
import { startSession } from "../helpers/session.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirWith, EVERYTHING } from "../mcp/servers.js";

const page = readFileSync(fileURLToPath(new URL("../../docs/mcp.md", import.meta.url)), "utf8");

function blocks(info: string): string[] {
	return [...page.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].flatMap(([, found, code = ""]) =>
		found === info ? [code.trim()] : [],
	);
}

test("mcp.json on the page defines two servers", () => {
	const dir = tempDir();
	writeFiles(dir, { "mcp.json": blocks("json mcp.json")[0] ?? "" });
	const context = { env: {}, cwd: "/work", home: "/home/me" };
	const { servers, problems } = loadMcpConfig([{ path: `${dir}/mcp.json`, scope: "user" }], context);
	expect(problems).toEqual([]);
	expect(servers).toMatchObject([
		{
			name: "files",
			address: { kind: "stdio", command: "npx" },
			tools: ["read_text_file", "write_file", "list_directory"],
		},
		{ name: "tracker", address: { kind: "http", headers: { Authorization: "Bearer none" } }, timeoutMs: 20_000 },
	]);
});

test("the table of the page has every field", () => {
	const documented = new Set(
		[...page.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, names = ""]) =>
			[...names.matchAll(/`(\w+)`/g)].map(([, name]) => name),
		),
	);
	const { type: _derived, ...fields } = MCP_SCHEMA.properties.mcpServers.additionalProperties.properties;
	for (const name of Object.keys(fields)) expect(documented).toContain(name);
});

test("every prompt of the page is sent with what the server provides", async () => {
	const { session, provider, sent } = await startSession({ agentDir: agentDirWith({ everything: EVERYTHING }) });
	const prompts = blocks("prompt");
	for (const [at, prompt] of prompts.entries()) {
		provider.reply("ok");
		await session.prompt(prompt);
		const text = sent(at + 1).at(-1);
		expect(text).toContain(["<file name=", "Austin, Texas", "Albany, New York"][at] ?? "");
	}
	expect(prompts).toHaveLength(3);
});

test("the commands of the page exist", async () => {
	const { session } = await startSession({ agentDir: agentDirWith({ everything: EVERYTHING }) });
	const named = [...page.matchAll(/^\| `\/mcp (\w+) <server>`/gm)].map(([, action = ""]) => action);
	expect(named).toEqual(["restart", "disable", "log", "login"]);
	const offered = (await session.completeArguments("mcp", "")).map(({ value }) => value);
	expect(offered).toEqual(["restart", "disable", "enable", "log", "login", "logout"]);
	for (const action of ["restart", "disable", "enable", "log"]) {
		expect(await session.prompt(`/mcp ${action} everything`)).toMatchObject({ kind: "command" });
	}
});

test("a program defines servers as the page shows", async () => {
	expect(blocks("ts sdk")[0]).toContain("mcpServers: { everything: {");
	const { session } = await startSession({ mcpServers: { everything: EVERYTHING } });
	expect(await session.prompt("/mcp")).toMatchObject({ status: expect.stringContaining("everything · ready") });
});
