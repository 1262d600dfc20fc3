import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { findSetup, withoutComments } from "../../../src/imports/setup/find-setup.js";
import { withoutSecrets } from "../../../src/imports/setup/server-items.js";
import type { SetupItem, SetupProgram } from "../../../src/imports/setup/setup-item.js";
import { tempDir, writeFiles } from "../../helpers/temp.js";

/** Of pi. */
const commands = new Set(["model", "help"]);

/** Finds what a program has. @param user its files in the home directory, @param project those of the project */
async function find(program: SetupProgram, user: Record<string, unknown>, project: Record<string, unknown> = {}) {
	const [home, cwd] = [tempDir(), tempDir()];
	writeFiles(home, user);
	writeFiles(cwd, project);
	const items = await findSetup(program, {
		cwd,
		home,
		env: {},
		agentDir: "/agent",
		projectDir: "/project/.pi",
		commands,
	});
	return { items, home, cwd };
}

/** One item for each line: kind, scope, name, files or servers, note. */
function lines(items: readonly SetupItem[]): string[] {
	return items.map(({ kind, scope, name, changes, note }) => {
		const to = changes.map((change) => (change.type === "hook" ? `pi:${change.name}` : change.path));
		return [kind, scope, name, `[${to.join(" ")}]`, note ?? ""].join(" ").trim();
	});
}

function textOf(items: readonly SetupItem[], name: string): string {
	const change = items.find((item) => item.name === name)?.changes[0];
	return change?.type === "file" ? change.bytes.toString() : expect.fail(`no file of ${name}`);
}

function serverOf(items: readonly SetupItem[], name: string): unknown {
	const change = items.find((item) => item.name === name)?.changes[0];
	return change?.type === "server" ? change.server : expect.fail(`no server ${name}`);
}

test("everything of Claude Code is found, for the user and the project", async () => {
	const agent = "---\nname: scout\ndescription: finds files\ntools: Read, Grep\n---\nYou search.";
	const hook = { hooks: [{ type: "command", command: "true" }] };
	const { items } = await find(
		"claude",
		{
			".claude/commands/review.md": "Review $1.",
			".claude/commands/git/commit.md": "Commit.",
			".claude/commands/git/review.md": "Review the diff.",
			".claude/agents/scout.md": agent,
			".claude/skills/pdf/SKILL.md": "---\nname: pdf\n---\n",
			".claude/skills/pdf/scripts/run.sh": "echo",
			".claude/CLAUDE.md": "Be brief.\n@~/more.md\n",
			".claude/settings.json": {
				hooks: { Stop: [hook] },
				permissions: { allow: ["Bash(ls:*)"], deny: ["Read(.env)", "Bash(curl:*)"] },
				statusLine: {},
				model: "opus",
			},
			".claude.json": { mcpServers: { a: { command: "a" } } },
		},
		{
			".claude/commands/deploy.md": "Deploy.",
			".claude/settings.json": { hooks: { PreToolUse: [hook] } },
			".claude/settings.local.json": { hooks: {} },
			"CLAUDE.local.md": "Mine.",
			".mcp.json": { mcpServers: { shared: { command: "b" } } },
		},
	);
	expect(lines(items)).toEqual([
		"command user /review [/agent/prompts/review.md]",
		"command user /commit [/agent/prompts/commit.md]",
		"command user /git-review [/agent/prompts/git-review.md]",
		"agent user scout [/agent/agents/scout.md pi:agents]",
		"skill user pdf [/agent/skills/pdf/SKILL.md /agent/skills/pdf/scripts/run.sh]",
		"memory user CLAUDE.md [/agent/AGENTS.md] pi does not read the files that it names with @",
		"hooks user settings.json [/agent/claude-hooks/settings.json pi:claude-hooks] Stop: see docs/claude-hooks.md",
		"permissions user 2 deny, 1 allow [] pi:permissions compares its rules in another way; add yours with /permissions",
		"other user model [] no counterpart: see docs/coming-from.md",
		"other user statusLine [] no counterpart: see docs/coming-from.md",
		"MCP server user a [/agent/mcp.json]",
		"command project /deploy [/project/.pi/prompts/deploy.md]",
		"memory project CLAUDE.local.md [] pi reads AGENTS.md, or else CLAUDE.md, in the directories of the project: move it there",
		"hooks project settings.json [/project/.pi/claude-hooks/settings.json pi:claude-hooks] PreToolUse: see docs/claude-hooks.md",
	]);
	expect(textOf(items, "scout")).toBe(
		'---\nname: scout\ndescription: "finds files"\ntools: read, grep\n---\nYou search.\n',
	);
	expect(JSON.parse(textOf(items, "settings.json"))).toEqual({ hooks: { Stop: [hook] } });
});

test("front matter that is no YAML, as Claude Code accepts it, is valid in pi", async () => {
	const { items } = await find("claude", {
		".claude/commands/a.md":
			"---\ndescription: Fix: the issue\nargument-hint: [issue] [--fast]\nmodel: opus\n---\nRun !`git status` for $ARGUMENTS.",
		".claude/agents/b.md":
			'---\nname: b\ndescription: Use it. Examples: user: "hi"\\nassistant: yes\nmodel: sonnet\n---\nText.',
	});
	expect(textOf(items, "/a")).toContain(
		'description: "Fix: the issue"\nargument-hint: "[issue] [--fast]"\nmodel: opus\n',
	);
	expect(textOf(items, "b")).toContain('description: "Use it. Examples: user: \\"hi\\" assistant: yes"');
	expect(items.map(({ note }) => note)).toEqual([
		"pi ignores model; its !`commands` do not run, their text is sent",
		"its model is that of the session",
	]);
});

test.each([
	["a tool that is limited to some calls", "tools: Bash(git:*)", "pi has none of its tools"],
	["tools that are forbidden", "disallowedTools: Bash", "pi cannot forbid single tools; write its tools instead"],
	["only tools that pi does not have", "tools: WebSearch", "pi has none of its tools"],
	["no description", "description: ''", "it has no description, which tells the model when to use it"],
	["a name that is a path", "name: ../evil", "its name must be up to 64 letters, digits, _ and -"],
])("an agent with %s is not taken over", async (_, field, reason) => {
	const text = `---\ndescription: does things\n${field}\n---\nText.`.replace(
		/description: does things\n(description)/,
		"$1",
	);
	const { items } = await find("claude", { ".claude/agents/a.md": text });
	expect(items).toMatchObject([{ changes: [], note: reason }]);
});

test("an agent of opencode gets the tools that were not off, and never more", async () => {
	const agent = (fields: string) => `---\ndescription: d\nmode: subagent\n${fields}\n---\nText.`;
	const { items } = await find("opencode", {
		".config/opencode/agent/off.md": agent("tools:\n  write: false\n  bash: false"),
		".config/opencode/agent/ask.md": agent("permission:\n  edit: deny\n  bash:\n    git *: allow"),
		".config/opencode/agent/none.md": agent("permission: deny"),
		".config/opencode/agent/main.md": agent("").replace("subagent", "primary"),
		".config/opencode/command/hi.md": "---\nagent: build\n---\nHi $1",
	});
	expect(textOf(items, "off")).toContain("tools: read, edit, grep, find, ls, jobs\n");
	expect(textOf(items, "ask")).toContain("tools: read, grep, find, ls, jobs\n");
	expect(items.filter(({ changes }) => changes.length === 0).map(({ name }) => name)).toEqual(["main", "none"]);
	expect(items.find(({ name }) => name === "/hi")?.note).toBe("pi ignores agent");
});

test("MCP servers of all three programs are in the format of pi", async () => {
	const claude = await find("claude", {
		".claude.json": {
			mcpServers: {
				local: { type: "stdio", command: "npx", args: ["-y", "x"], env: { KEY: "k" } },
				remote: { type: "http", url: "https://a.example", headers: { Authorization: "Bearer t" } },
				old: { type: "sse", url: "https://a.example" },
				both: { command: "a", url: "https://a.example" },
				broken: { command: "a", args: [1] },
				text: "x",
			},
		},
	});
	expect(serverOf(claude.items, "local")).toEqual({ command: "npx", args: ["-y", "x"], env: { KEY: "k" } });
	expect(serverOf(claude.items, "remote")).toEqual({
		url: "https://a.example",
		headers: { Authorization: "Bearer t" },
	});
	expect(claude.items.filter(({ changes }) => changes.length === 0)).toHaveLength(4);

	const codex = await find("codex", {
		".codex/config.toml": `
approval_policy = "never"
[mcp_servers.docs]
command = "docs"
env_vars = ["TOKEN"]
enabled = false
enabled_tools = ["search"]
tool_timeout_sec = 1.5
[mcp_servers.web]
url = "https://b.example"
bearer_token_env_var = "WEB_TOKEN"
env_http_headers = { X-Key = "WEB_KEY" }
[mcp_servers.less]
command = "less"
disabled_tools = ["write"]
`,
		".codex/prompts/tidy.md": "Tidy.",
		".codex/AGENTS.md": "Be brief.",
		".codex/skills/.system/a/SKILL.md": "not of the user",
	});
	expect(serverOf(codex.items, "docs")).toEqual({
		...{ command: "docs", env: { TOKEN: "$" + "{TOKEN}" }, disabled: true, tools: ["search"], timeoutMs: 1500 },
	});
	expect(serverOf(codex.items, "web")).toEqual({
		...{ url: "https://b.example", headers: { Authorization: "Bearer $" + "{WEB_TOKEN}", "X-Key": "$" + "{WEB_KEY}" } },
	});
	expect(lines(codex.items)).toEqual([
		"command user /tidy [/agent/prompts/tidy.md]",
		"memory user AGENTS.md [/agent/AGENTS.md]",
		"MCP server user docs [/agent/mcp.json]",
		"MCP server user web [/agent/mcp.json]",
		"MCP server user less [] pi cannot forbid single tools of a server; name those to offer in tools",
		"other user approval_policy [] no counterpart: see docs/coming-from.md",
	]);

	const opencode = await find(
		"opencode",
		{
			".config/opencode/opencode.jsonc":
				'{ // mine\n "mcp": { "a": { "type": "local", "command": ["bun", "x"], "environment": {"K": "{env:KEY}"}, }, }, }',
		},
		{
			"opencode.json": {
				mcp: {
					b: { type: "remote", url: "https://c.example", enabled: false },
					c: { type: "remote", url: "{file:u}" },
				},
			},
		},
	);
	expect(serverOf(opencode.items, "a")).toEqual({ command: "bun", args: ["x"], env: { K: "$" + "{KEY}" } });
	expect(serverOf(opencode.items, "b")).toEqual({ url: "https://c.example", disabled: true });
	expect(lines(opencode.items).slice(1)).toEqual([
		"MCP server project b [/project/.pi/mcp.json]",
		"MCP server project c [] pi reads no texts from files; use a variable",
	]);
});

test("a server of one project goes into the files of that project, without secrets", async () => {
	const [home, cwd] = [tempDir(), tempDir()];
	const servers = {
		db: { command: "./db.sh", args: ["--fast"], env: { TOKEN: "$" + "{TOKEN}" } },
		key: { command: "a", env: { TOKEN: "s3cret" } },
		web: { url: "https://a.example", headers: { Authorization: "Bearer s3cret" } },
	};
	writeFiles(home, {
		".claude.json": { projects: { [cwd]: { mcpServers: servers }, "/other": { mcpServers: { x: {} } } } },
	});
	const items = await findSetup("claude", {
		cwd,
		home,
		env: {},
		agentDir: "/agent",
		projectDir: "/project/.pi",
		commands,
	});
	expect(serverOf(items, "db")).toEqual(servers.db);
	expect(lines(items)).toEqual([
		"MCP server project db [/project/.pi/mcp.json]",
		"MCP server project key [] has secrets for this project alone: add it yourself",
		"MCP server project web [] has secrets for this project alone: add it yourself",
	]);
});

const RELATIVE: readonly (readonly [string, ...string[]])[] = [
	["./db.sh"],
	["bin/db"],
	["$" + "{PWD}/db.sh"],
	["$" + "{DB:-./db.sh}"],
	["node", "server.js"],
	["node", "build/index"],
	["python3", "-u", "../srv.py"],
	["bash", "-c", "cd x && ./run"],
	["npx", "tsx", "--import=./hook.mjs", "x"],
	["npx", "-y", "x", "--config=./x.json"],
];

test.each(RELATIVE)(
	"a server of the user with the command %s %s %s %s is not one for all directories",
	async (command, ...args) => {
		const servers = { a: { command, args } };
		const { items } = await find("claude", { ".claude.json": { mcpServers: servers } });
		expect(items).toMatchObject([{ changes: [], note: expect.stringContaining("it runs a file by a relative path") }]);
		const codex = (cwd: string) =>
			find("codex", { ".codex/config.toml": `[mcp_servers.a]\ncwd = "${cwd}"\ncommand = ${JSON.stringify(command)}` });
		expect((await codex("/srv")).items[0]?.changes).toHaveLength(1);
		expect((await codex("srv")).items[0]?.changes).toEqual([]);
	},
);

test("a variable of a server of the user that names a file by a relative path counts, too", async () => {
	const servers = { a: { command: "node", args: ["/opt/a.js"], env: { NODE_OPTIONS: "--require ./x.js" } } };
	expect((await find("claude", { ".claude.json": { mcpServers: servers } })).items[0]?.changes).toEqual([]);
});

test.each([
	["npx", "-y", "@scope/server@1.2.3", "."],
	["/opt/db.sh", "--port=3"],
	["node", "/opt/server.js"],
	["node", "$" + "{HOME}/server.js"],
	["docker", "run", "-i", "ghcr.io/github/github-mcp-server"],
	["docker", "run", "mcp/fetch:1"],
	["uvx", "--from", "git+https://a.example/x/y.py", "srv"],
	["npx", "mcp-remote", "https://a.example/mcp/index.js"],
])("a server of the user with the command %s %s %s %s means the same everywhere", async (command, ...args) => {
	const { items } = await find("claude", { ".claude.json": { mcpServers: { a: { command, args } } } });
	expect(serverOf(items, "a")).toEqual({ command, args });
});

test("files that cannot be read are named, and the others are found", async () => {
	const [home, cwd, outside] = [tempDir(), tempDir(), tempDir()];
	writeFiles(outside, { "secret.md": "secret" });
	writeFiles(home, {
		".claude/commands/ok.md": "Fine.",
		".claude/commands/huge.md": "x".repeat(1024 * 1024 + 1),
		".claude/commands/empty.md": " ",
		".claude/commands/zwölf.md": "Text.",
		".claude/commands/nul.md": "a\0b",
		".claude/commands/model.md": "Text.",
		".claude/skills/none/readme.md": "no skill",
		".claude/settings.json": "{ token: secret",
		".claude.json": "[]",
	});
	writeFileSync(join(home, ".claude/commands/latin.md"), Buffer.from("caf\xe9", "latin1"));
	mkdirSync(join(cwd, ".claude/commands"), { recursive: true });
	symlinkSync(join(home, "gone.md"), join(home, ".claude/commands/broken.md"));
	symlinkSync("..", join(home, ".claude/commands/loop"));
	symlinkSync(join(outside, "secret.md"), join(cwd, ".claude/commands/leak.md"));
	symlinkSync(outside, join(cwd, ".claude/agents"));
	const items = await findSetup("claude", {
		cwd,
		home,
		env: {},
		agentDir: "/agent",
		projectDir: "/project/.pi",
		commands,
	});
	expect(items.filter(({ changes }) => changes.length > 0).map(({ name }) => name)).toEqual(["/ok"]);
	expect(lines(items)).toEqual(
		expect.arrayContaining([
			"command user broken.md [] a broken link",
			"command user /empty [] it has no text",
			"command user nul.md [] it is not text in UTF-8",
			"command user latin.md [] it is not text in UTF-8",
			"command user /model [] kept: /model is a command of pi",
			"skill user none [] no counterpart: it has no SKILL.md",
			"command user /zwölf [] its name cannot be a command of pi",
			"other user settings.json [] it is malformed in line 1, column 3",
			"other user .claude.json [] it contains no object",
			"command project leak.md [] a link that leads out of the project",
			"agent project agents [] a link that leads out of the project",
			expect.stringMatching(/^command user huge\.md \[\] .*1048577 bytes is more than the limit/),
		]),
	);
	expect(JSON.stringify(lines(items))).not.toContain("secret");
});

test.each([
	["claude", ".claude/settings.json", '{\n  "token": "s3cret",\n}', "line 3, column 1"],
	["codex", ".codex/config.toml", "a = 1\ntoken = s3cret", "line 2, column 9"],
	["opencode", ".config/opencode/opencode.jsonc", '{ /* a\n */ "token": "s3cret" // b\n "b" }', "line 3, column 2"],
] as const)("a malformed file of %s is named with its place, without its contents", async (program, path, text, at) => {
	const { items } = await find(program, { [path]: text });
	expect(items).toMatchObject([{ changes: [], note: `it is malformed in ${at}` }]);
});

test("hooks of other types than commands are said not to run", async () => {
	const hooks = (...types: string[]) => ({ hooks: { Stop: [{ hooks: types.map((type) => ({ type })) }] } });
	const note = async (settings: object) => (await find("claude", { ".claude/settings.json": settings })).items[0];
	expect(await note(hooks("prompt"))).toMatchObject({ changes: [], note: "pi runs no hooks of the type prompt" });
	expect(await note(hooks("command", "prompt", "http"))).toMatchObject({
		note: "Stop: see docs/claude-hooks.md; those of the type prompt, http do not run",
	});
	expect(await note({ hooks: { Stop: {} } })).toMatchObject({ changes: [], note: "hooks.Stop must be a list" });
});

test("a program that was never used has nothing", async () => {
	for (const program of ["claude", "codex", "opencode"] as const) expect((await find(program, {})).items).toEqual([]);
});

test("no value of a variable, header, secret option, password or query of a server is shown", () => {
	const secret = fc.stringMatching(/^S3CR3T[a-z0-9]{20}$/);
	fc.assert(
		fc.property(secret, fc.stringMatching(/^[A-Z_]{1,9}$/), (value, name) => {
			const server = {
				command: "npx",
				args: [
					"-y",
					`--api-key=${value}`,
					"--token",
					value,
					value,
					`--url=https://a.example/${value}`,
					`https://u:${value}@a.example/?k=${value}`,
					`Authorization: ${value}`,
				],
				env: { [name]: value, REF: "$" + "{REF}" },
				url: `https://${value}@a.example/mcp/${value}/s?key=${value}`,
				headers: { [name]: value },
			};
			const shown = JSON.stringify(withoutSecrets(server));
			expect(shown).not.toContain(value);
			expect(shown).toContain("npx");
			expect(shown).toContain("$" + "{REF}");
		}),
	);
	expect(withoutSecrets({ args: ["-y", "@scope/server-filesystem@1.2.3", "/home/me/notes"] })).toEqual({
		args: ["-y", "@scope/server-filesystem@1.2.3", "/home/me/notes"],
	});
});

test("JSON without comments is the same JSON", () => {
	fc.assert(
		fc.property(fc.json(), (json) => {
			expect(JSON.parse(withoutComments(json))).toEqual(JSON.parse(json));
			expect(JSON.parse(withoutComments(`// a\n[${json}, /* "b" */\n]`))).toEqual([JSON.parse(json)]);
		}),
	);
});

test("a script of a skill stays executable", async () => {
	const home = tempDir();
	writeFiles(home, { ".claude/skills/a/SKILL.md": "x", ".claude/skills/a/run": "#!/bin/sh" });
	chmodSync(join(home, ".claude/skills/a/run"), 0o755);
	writeFileSync(join(home, ".claude/skills/a/data.bin"), Buffer.from([0, 255]));
	const [skill] = await findSetup("claude", {
		cwd: tempDir(),
		home,
		env: {},
		agentDir: "/agent",
		projectDir: "/p",
		commands,
	});
	expect(skill?.changes).toMatchObject([
		{ isExecutable: false },
		{ isExecutable: false, bytes: Buffer.from([0, 255]) },
		{ isExecutable: true },
	]);
});
