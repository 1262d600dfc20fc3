import { join } from "node:path";
import { expect, test } from "vitest";
import { loadMcpConfig, type McpSource } from "../../src/mcp/config.js";
import { toolName } from "../../src/mcp/names.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

/** A variable in a configuration. */
const variable = (text: string) => ["$", "{", text, "}"].join("");

const context = { env: { TOKEN: "secret", EMPTY: "" }, cwd: "/work", home: "/home/u" };

function load(content: unknown, scope: McpSource["scope"] = "user") {
	const dir = tempDir();
	writeFiles(dir, { "mcp.json": content });
	const path = join(dir, "mcp.json");
	const { servers, problems } = loadMcpConfig([{ path, scope }], context);
	return { servers, problems: problems.map((line) => line.replaceAll(path, "mcp.json")) };
}

test("a server is a program or an address, with defaults and variables filled in", () => {
	const { servers, problems } = load({
		mcpServers: {
			"my files": {
				command: "~/bin/files",
				args: [`--token=${variable("TOKEN")}`, variable("MISSING:-none")],
				env: { A: variable("TOKEN") },
			},
			web: {
				type: "http",
				url: "https://example.org/mcp",
				headers: { Authorization: `Bearer ${variable("TOKEN")}` },
				timeoutMs: 5,
			},
			off: { disabled: true },
			few: { command: "x", cwd: "sub", tools: ["a"] },
		},
	});
	expect(problems).toEqual([]);
	expect(servers.map(({ source, ...server }) => server)).toEqual([
		{
			name: "my_files",
			address: {
				kind: "stdio",
				command: "/home/u/bin/files",
				args: ["--token=secret", "none"],
				env: { A: "secret" },
				cwd: "/work",
			},
			shownAddress: `~/bin/files --token=${variable("TOKEN")} ${variable("MISSING:-none")}`,
			secrets: ["secret"],
			isDisabled: false,
			timeoutMs: 60_000,
			tools: null,
		},
		{
			name: "web",
			address: {
				kind: "http",
				url: "https://example.org/mcp",
				headers: { Authorization: "Bearer secret" },
				client: {},
			},
			shownAddress: "https://example.org/mcp",
			secrets: ["secret", "Bearer secret"],
			isDisabled: false,
			timeoutMs: 5,
			tools: null,
		},
		expect.objectContaining({ name: "off", isDisabled: true }),
		expect.objectContaining({ name: "few", tools: ["a"], address: expect.objectContaining({ cwd: "/work/sub" }) }),
	]);
});

test.each([
	['{"mcpServers": {"a": }}', 'mcp.json:1:22: expected a value, found "}" · '],
	["[]", "mcp.json:1:1: expected an object in braces"],
	[{ mcpServers: { a: { command: 5 } } }, "mcpServers.a.command must be a non-empty string; the server is ignored"],
	[{ mcpServers: { a: {} } }, "mcpServers.a needs a command or a url; the server is ignored"],
	[{ mcpServers: { a: { command: "x", url: "http://x" } } }, "mcpServers.a has both command and url"],
	[{ mcpServers: { a: { command: "x", type: "http" } } }, 'mcpServers.a has a command, and "type": "http"'],
	[{ mcpServers: { a: { url: "file:///etc" } } }, "mcpServers.a.url must be an http or https address"],
	[
		{ mcpServers: { a: { command: "x", oauth: {} } } },
		"mcpServers.a has a command, and oauth, which only a url can have",
	],
	[
		{ mcpServers: { a: { url: "https://x", oauth: { clientId: "me", clientSecret: "written-out" } } } },
		`mcpServers.a.oauth.clientSecret must be an environment variable such as ${variable("NAME")}; the server is ignored`,
	],
	[
		{ mcpServers: { a: { url: "https://x", oauth: { clientSecret: variable("TOKEN") } } } },
		"mcpServers.a has oauth.clientSecret without oauth.clientId",
	],
	[
		{ mcpServers: { a: { url: "https://x", oauth: { clientMetadataUrl: "http://x/pi.json" } } } },
		"mcpServers.a.oauth.clientMetadataUrl must be an https address with a path; the server is ignored",
	],
	[{ mcpServers: { a: { command: "x", args: "y" } } }, "mcpServers.a.args must be a list of strings; the server is"],
	[{ mcpServers: { a: { command: variable("NOPE") } } }, "needs the environment variable NOPE, which is not set"],
	[
		{ mcpServers: { a: { command: "x", comand: "y" } } },
		"mcpServers.a.comand is unknown; ignored · did you mean command?",
	],
	[
		{ mcpServers: { "a b": { command: "x" }, "a.b": { command: "y" } } },
		'"a.b" and "a b" are both called a_b · rename one',
	],
])("%j is reported with its place", (content, problem) => {
	const { problems } = load(content);
	expect(problems).toEqual([expect.stringContaining(problem)]);
	expect(problems[0]).toMatch(/^mcp\.json:\d+:\d+: /);
});

test("a problem with one server leaves the others, and settings of other programs are ignored in .mcp.json", () => {
	const content = { mcpServers: { a: { command: 5 }, b: { command: "x", alwaysAllow: ["y"] } }, inputs: [] };
	expect(load(content, "shared")).toMatchObject({
		servers: [{ name: "b" }],
		problems: [expect.stringContaining("a.command")],
	});
});

test("a later source replaces a server, which is named; a missing --mcp file is an error", () => {
	const dir = tempDir();
	writeFiles(dir, {
		"one.json": { mcpServers: { a: { command: "1" } } },
		"two.json": { mcpServers: { a: { command: "2" } } },
	});
	const path = (name: string) => join(dir, name);
	const { servers, problems } = loadMcpConfig(
		[
			{ path: path("one.json"), scope: "user" },
			{ path: path("two.json"), scope: "flag" },
			{ path: path("none.json"), scope: "flag" },
		],
		context,
	);
	expect(servers).toMatchObject([{ address: { command: "2" } }]);
	expect(problems).toEqual([
		`The MCP server a is defined in ${path("one.json")} and ${path("two.json")}; the latter is used`,
		`${path("none.json")} does not exist · correct --mcp`,
	]);
});

test.each([
	["files", "read", "files_read"],
	["files", "a.b/c d", "files_a_b_c_d"],
	["s", "x".repeat(62), `s_${"x".repeat(62)}`],
])("the tool of %s and %s is called %s", (server, tool, name) => {
	expect(toolName(server, tool)).toBe(name);
});

test("long names keep 64 characters and stay different", () => {
	const [one, two] = [toolName("server", `${"x".repeat(80)}1`), toolName("server", `${"x".repeat(80)}2`)];
	expect([one.length, two.length]).toEqual([64, 64]);
	expect(one).not.toBe(two);
});
