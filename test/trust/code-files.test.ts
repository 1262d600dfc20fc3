import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { collectProjectCode, findCommandFiles, findServerFiles } from "../../src/trust/code-files.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

function project(files: Record<string, string>): string {
	const cwd = join(tempDir(), "project");
	mkdirSync(cwd);
	writeFiles(cwd, files);
	return cwd;
}

const namesOf = async (cwd: string) => (await collectProjectCode(cwd)).files.map(({ rel }) => rel);

describe("the files of a project's MCP servers", () => {
	const SERVERS = JSON.stringify({
		mcpServers: {
			one: { command: "node", args: ["server.mjs", "--config=./conf.json", "", 5, ".", "../outside.js"] },
			two: { command: "./run", cwd: "tools" },
			three: { command: "node", args: "unused.js", cwd: 1 },
			four: "./unused.js",
		},
	});
	const FILES = {
		".mcp.json": SERVERS,
		".pi/mcp.json": `\ufeff${JSON.stringify({ mcpServers: { five: { command: "./five.sh", args: ["package.json"] } } })}`,
		"server.mjs": 'import "./part.mjs"',
		"part.mjs": "",
		"conf.json": JSON.stringify({ mcpServers: { six: { command: "./unused.js" } } }),
		"tools/run": "",
		"five.sh": "",
		"package.json": '{"main": "unused.js"}',
		"unused.js": "",
		".pi/hooks/hook.ts": "",
	};

	test("are the configurations, the files that commands and arguments name, and the imports of those", async () => {
		const { ".pi/mcp.json": _, ...files } = FILES;
		const cwd = project(files);
		writeFiles(join(cwd, ".."), { "outside.js": "" });
		const expected = [".mcp.json", "conf.json", "part.mjs", "server.mjs", "tools/run"];
		expect(await findServerFiles(cwd)).toEqual(expected.map((name) => join(cwd, name)));
		expect(await namesOf(cwd)).toEqual([".mcp.json", ".pi/hooks/hook.ts", ...expected.slice(1)]);
	});

	test("include a package.json only if a command names it, and files that both configurations name once", async () => {
		const cwd = project(FILES);
		expect((await findServerFiles(cwd)).map((path) => path.slice(cwd.length + 1))).toEqual([
			".mcp.json",
			".pi/mcp.json",
			"conf.json",
			"five.sh",
			"package.json",
			"part.mjs",
			"server.mjs",
			"tools/run",
			"unused.js",
		]);
	});

	/** The server files of a project with one server, except its configuration. */
	async function serverFiles(server: object, files: Record<string, string>): Promise<string[]> {
		const cwd = project({ ...files, ".mcp.json": JSON.stringify({ mcpServers: { one: server } }) });
		return (await findServerFiles(cwd)).map((path) => path.slice(cwd.length + 1)).filter((rel) => rel !== ".mcp.json");
	}

	const PYTHON = {
		"srv/__init__.py": "",
		"srv/__main__.py":
			"import os, helpers as h; import srv.deep.tool\nfrom .part import run\nfrom . import (\n\tmore, # more\n\tnone)",
		"srv/part.py": "from ..beside import x",
		"srv/more.py": "",
		"srv/deep/tool.py": "importlib.import_module('late')",
		"srv/unused.py": "",
		"beside.py": "",
		"helpers.py": "",
		"late.py": "",
		"unused.py": "",
	};
	const IMPORTED = ["beside.py", "helpers.py", "late.py", "srv/__init__.py", "srv/__main__.py"];
	const ALL = [...IMPORTED, "srv/deep/tool.py", "srv/more.py", "srv/part.py", "srv/unused.py", "unused.py"];

	test.each([
		["-m", { command: "python3", args: ["-u", "-m", "srv"] }],
		["-m in one argument", { command: "python3", args: ["-msrv"] }],
		["a directory", { command: "python3", args: ["srv"] }],
	])("include the modules that Python runs with %s, and those that they import", async (_, server) => {
		expect(await serverFiles(server, PYTHON)).toEqual(ALL);
	});

	test("include what a Python script could import from its directory, from PYTHONPATH and in a command line", async () => {
		const files = { "a/run.py": "import near, far", "a/near.py": "", "lib/far.py": "", "a/unused.py": "" };
		const all = ["a/near.py", "a/run.py", "a/unused.py", "lib/far.py"];
		const env = { PYTHONPATH: "gone:lib" };
		expect(await serverFiles({ command: "a/run.py", env }, files)).toEqual(all);
		expect(await serverFiles({ command: "uv", args: ["--directory=a", "run", "run.py"], env }, files)).toEqual(all);
		const args = ["-c", "from run import main; main()"];
		expect(await serverFiles({ command: "python", args, cwd: "a", env: { PYTHONPATH: "../lib" } }, files)).toEqual(all);
	});

	const PACKAGE = ["pkg/__init__.py", "pkg/inner/__main__.py", "pkg/inner/run.py"];
	test.each([
		["-m", ["-m", "single"], ["pkg/__init__.py", "single.py"]],
		["-m with a dotted name", ["-m", "pkg.inner.run"], [...PACKAGE, "pkg/unused.py", "single.py"]],
		["-m in one argument", ["-mpkg.inner"], [...PACKAGE, "pkg/unused.py", "single.py"]],
		["-m as the last argument", ["-m"], []],
	])("include the module of %s, and those next to it", async (_, args, expected) => {
		const files = {
			"single.py": "",
			"pkg/__init__.py": "",
			"pkg/inner/run.py": "",
			"pkg/inner/__main__.py": "",
			"pkg/unused.py": "",
		};
		expect(await serverFiles({ command: "python3", args }, files)).toEqual(expected);
	});

	test("include neither what servers write nor files with secrets, which are listed as not read", async () => {
		const files = { "run.js": "", "mcp.log": "", "data.sqlite": "", "notes.md": "", ".env": "KEY=1", ".env.local": "" };
		const args = ["run.js", "--log=mcp.log", "data.sqlite", "notes.md", "--env-file=.env", ".env.local"];
		expect(await serverFiles({ command: "node", args }, files)).toEqual(["run.js"]);
		const cwd = project({ ...files, ".mcp.json": JSON.stringify({ mcpServers: { one: { command: "node", args } } }) });
		expect((await collectProjectCode(cwd)).unresolved).toEqual(
			[
				...["mcp.log", "data.sqlite", "notes.md"].map((specifier) => ({ specifier, reason: "data, not checked" })),
				...[".env", ".env.local"].map((specifier) => ({ specifier, reason: "not read: it may hold secrets" })),
			].map((one) => ({ from: "", ...one })),
		);
	});

	test("do not include what Python files of hooks import", async () => {
		expect(await namesOf(project({ ".pi/hooks/x.py": "import y", ".pi/hooks/a.ts": "", "y.py": "" }))).toEqual([
			".pi/hooks/a.ts",
			".pi/hooks/x.py",
		]);
	});

	test("with too many directories make the project incomplete", async () => {
		const names = Array.from({ length: 51 }, (_, index) => `d${index}`);
		const servers = Object.fromEntries(names.map((name) => [name, { command: "x", args: [name] }]));
		const dirs = Object.fromEntries(names.map((name) => [`${name}/a.py`, ""]));
		const cwd = project({ ...dirs, ".mcp.json": JSON.stringify({ mcpServers: servers }) });
		expect((await collectProjectCode(cwd)).incomplete).toBe("MCP servers that name more than 50 directories");
	});

	const TOO_MANY = "MCP servers whose files name more than 200000 paths";
	test.each([
		["imports", Array.from({ length: 100_001 }, (_, index) => `import m${index}`).join("\n"), TOO_MANY],
		[
			"names from a package",
			`from a import ${Array.from({ length: 150_000 }, (_, n) => `m${n}`).join(", ")}`,
			TOO_MANY,
		],
		["parts of a name", `import ${"a.".repeat(200_000)}b`, undefined],
	])(
		"with many %s are looked up within a limit",
		async (_, source, incomplete) => {
			const servers = Object.fromEntries(["a", "b", "c"].map((dir) => [dir, { command: "./s.py", args: [dir] }]));
			const files = { "s.py": source, [`${"a/".repeat(30)}x.py`]: "", "b/x.py": "" };
			const cwd = project({ ...files, ".mcp.json": JSON.stringify({ mcpServers: servers }) });
			expect((await collectProjectCode(cwd)).incomplete).toBe(incomplete);
		},
		60_000,
	);

	test.each(["{", "null", "[]", '{"mcpServers": ["./unused.js"]}', '{"mcpServers": 1}', '{"servers": {}}'])(
		"are the configuration alone if it defines no servers: %s",
		async (text) => {
			const cwd = project({ ".mcp.json": text, "unused.js": "" });
			expect(await findServerFiles(cwd)).toEqual([join(cwd, ".mcp.json")]);
		},
	);
});

describe("the imports of a project's code", () => {
	test("include the entry point of a directory's package.json, if it is in the project", async () => {
		const cwd = project({
			".pi/hooks/a.ts":
				'import "../../lib"; import "../../far"; import "../../none"; import "../../bad"; import "./b.json"',
			".pi/hooks/b.json": '{"main": "../../lib/unused.js"}',
			"lib/package.json": '{"main": "src/entry"}',
			"lib/src/entry.js": "",
			"lib/unused.js": "",
			"far/package.json": '{"main": "../../outside.js"}',
			"none/package.json": '{"main": 1}',
			"bad/package.json": "{",
		});
		writeFiles(join(cwd, ".."), { "outside.js": "" });
		const names = [".pi/hooks/a.ts", ".pi/hooks/b.json", "bad/package.json", "far/package.json", "lib/package.json"];
		expect(await namesOf(cwd)).toEqual([...names, "lib/src/entry.js", "none/package.json"]);
	});

	test("include TypeScript files that are imported by the names of their output", async () => {
		const cwd = project({
			".pi/hooks/a.ts":
				'import "../../one.js"; import "../../two.mjs"; import "../../view.jsx"; import "../../data.json"',
			"one.ts": "",
			"two.mts": "",
			"view.tsx": "",
			"data.json": "",
			"data.tsx": "",
		});
		expect(await namesOf(cwd)).toEqual([".pi/hooks/a.ts", "data.json", "one.ts", "two.mts", "view.tsx"]);
	});

	test("are reported as missing only if they are imports, and only from sources", async () => {
		const cwd = project({
			".pi/hooks/a.ts": 'import "./gone.js"; export const path = "./absent.md";',
			".pi/hooks/notes.md": 'import "./example.js"',
		});
		expect((await collectProjectCode(cwd)).unresolved).toEqual([
			{ from: ".pi/hooks/a.ts", specifier: "./gone.js", reason: "not found" },
		]);
	});
});

describe("the code of a project", () => {
	const MEGABYTE = 1024 * 1024;
	const sized = (count: number) =>
		Object.fromEntries(Array.from({ length: count }, (_, at) => [`.pi/hooks/${at}.txt`, `${at}`.padEnd(2 * MEGABYTE)]));

	test("is complete with 32 MB, and incomplete with more", async () => {
		const cwd = project(sized(16));
		expect(await collectProjectCode(cwd)).toMatchObject({ files: { length: 16 }, incomplete: undefined });
		writeFiles(cwd, { ".pi/tools/a.ts": "1" });
		expect((await collectProjectCode(cwd)).incomplete).toBe("more than 32 MB");
	});

	test("excludes a file of more than 2 MB, which is reported", async () => {
		const cwd = project({ ".pi/hooks/a.ts": " ".repeat(2 * MEGABYTE + 1) });
		const { files, unresolved } = await collectProjectCode(cwd);
		expect(files).toEqual([]);
		expect(unresolved).toMatchObject([{ from: ".pi/hooks/a.ts", specifier: ".pi/hooks/a.ts" }]);
	});

	test("reports a file with the name of a directory of code", async () => {
		const cwd = project({ ".pi/hooks": "", ".pi/tools/a.ts": "" });
		const { files, unresolved } = await collectProjectCode(cwd);
		expect(files.map(({ rel }) => rel)).toEqual([".pi/tools/a.ts"]);
		expect(unresolved).toMatchObject([{ from: ".pi/hooks", reason: expect.stringContaining("not a directory") }]);
	});
});

test("files of hooks of Claude Code count with the scripts and modules that their commands name", async () => {
	const commands = [
		'"$CLAUDE_PROJECT_DIR"/.claude/hooks/a.sh --fast',
		'"$CLAUDE_PROJECT_DIR/.claude/hooks/b.sh"',
		// biome-ignore lint/suspicious/noTemplateCurlyInString: a shell fills it
		"python3 ${CLAUDE_PROJECT_DIR}/.claude/hooks/c.py",
		'cd "$CLAUDE_PROJECT_DIR" && node tools/d.mjs | tee out.log',
		"echo done",
	];
	const scripts = [".claude/hooks/a.sh", ".claude/hooks/b.sh", ".claude/hooks/c.py", ".claude/hooks/json.py"];
	const settings = JSON.stringify({
		hooks: { Stop: [{ hooks: commands.map((command) => ({ type: "command", command })) }] },
	});
	const cwd = project({
		".pi/claude-hooks/settings.json": settings,
		...Object.fromEntries([...scripts, "unused.sh"].map((name) => [name, ""])),
		"tools/d.mjs": 'import "./e.mjs"',
		"tools/e.mjs": "",
		".mcp.json": '{"mcpServers": {"one": {"command": "node", "args": ["server.mjs"]}}}',
		"server.mjs": "",
	});
	const named = [...scripts, ".pi/claude-hooks/settings.json", "tools/d.mjs", "tools/e.mjs"];
	const find = async (config: unknown) =>
		(await findCommandFiles(cwd, JSON.stringify(config), { env: {}, home: "/" })).map((path) =>
			path.slice(cwd.length + 1),
		);
	expect(await find(JSON.parse(settings))).toEqual(named.filter((name) => name !== ".pi/claude-hooks/settings.json"));
	expect(await find([{ command: commands[0] }])).toEqual([".claude/hooks/a.sh"]);
	expect(await namesOf(cwd)).toEqual([...named, ".mcp.json", "server.mjs"].sort());
});
