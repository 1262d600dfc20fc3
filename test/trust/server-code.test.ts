import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { collectProjectCode } from "../../src/trust/code-files.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

interface Server {
	command: string;
	args?: string[];
	env?: Record<string, string>;
	cwd?: string;
}

const NODE_HERE: Server = { command: "node", args: ["."] };

/** The files of a server, without the one that defines it. */
async function filesOf(server: Server, names: readonly string[], env: Record<string, string> = {}) {
	const cwd = realpathSync(tempDir("pi-project-"));
	writeFiles(cwd, Object.fromEntries(names.map((name) => [name, ""])));
	const text = JSON.stringify({ mcpServers: { one: server } }).replaceAll("CWD", cwd);
	writeFiles(cwd, { ".mcp.json": text });
	const code = await collectProjectCode(cwd, { env: { PATH: "/usr/bin:/bin", PWD: cwd, ...env }, home: "/nowhere" });
	return {
		files: code.files.map(({ rel }) => rel).filter((rel) => rel !== ".mcp.json"),
		unresolved: code.unresolved.map(({ specifier, reason }) => `${specifier}: ${reason}`),
		incomplete: code.incomplete,
		cwd,
	};
}

describe("the code of an MCP server", () => {
	test.each<[string, Server, string[]]>([
		["a default of a variable", { command: "node", args: [`\${SERVER:-lib/server.mjs}`] }, ["lib/server.mjs"]],
		["PWD", { command: "node", args: [`\${PWD}/lib/server.mjs`] }, ["lib/server.mjs"]],
		["a command with a default", { command: `\${RUN:-./bin/run}` }, ["bin/run"]],
		["a directory with a default", { command: "./run", cwd: `\${DIR:-bin}` }, ["bin/run"]],
		["a shell's text", { command: "sh", args: ["-c", "cd lib && exec node ./server.mjs"] }, ["lib/server.mjs"]],
		["quotes of a shell's text", { command: "bash", args: ["-lc", "node 'lib/server.mjs';true"] }, ["lib/server.mjs"]],
		["PWD of a shell's text", { command: "sh", args: ["-c", "node $PWD/lib/server.mjs"] }, ["lib/server.mjs"]],
		["PWD in braces", { command: "sh", args: ["-c", `node "\${PWD}/lib/server.mjs"`] }, ["lib/server.mjs"]],
		[
			"a variable of the server",
			{ command: "sh", args: ["-c", "node $AT/server.mjs"], env: { AT: "./lib" } },
			["lib/server.mjs"],
		],
		["PATH", { command: "server", env: { PATH: "CWD/bin:/usr/bin" } }, ["bin/node", "bin/run", "bin/server"]],
		["a relative PATH", { command: "node", env: { PATH: "bin" } }, ["bin/node", "bin/run", "bin/server"]],
		[
			"NODE_OPTIONS",
			{ command: "node", env: { NODE_OPTIONS: "--no-warnings --require ./lib/first.cjs" } },
			["lib/first.cjs"],
		],
		[
			"NODE_OPTIONS with =",
			{ command: "node", env: { NODE_OPTIONS: "--import=./lib/server.mjs" } },
			["lib/server.mjs"],
		],
		["PYTHONSTARTUP", { command: "python3", env: { PYTHONSTARTUP: "lib/start" } }, ["lib/start"]],
		["BASH_ENV with a default", { command: "bash", env: { BASH_ENV: `\${X:-lib/start}` } }, ["lib/start"]],
		["a file URL", { command: "node", args: ["--import", "file://CWD/lib/server.mjs"] }, ["lib/server.mjs"]],
		["an option with its value", { command: "node", args: ["-r./lib/first.cjs"] }, ["lib/first.cjs"]],
		["a file of arguments", { command: "java", args: ["@lib/start"] }, ["lib/start"]],
		["a class path", { command: "java", args: ["-cp", "/x.jar:lib/a.jar", "Main"] }, ["lib/a.jar"]],
		["a script named like data", { command: "node", args: ["lib/data.txt"] }, ["lib/data.txt"]],
		[
			"a script named like a log",
			{ command: "/usr/bin/python3.12", args: ["-u", "lib/out.log", "--log", "lib/data.txt"] },
			["lib/out.log"],
		],
		["a script of a shell's text", { command: "sh", args: ["-c", "exec sh lib/data.txt"] }, ["lib/data.txt"]],
		["a wrapper", { command: "env", args: ["A=1", "ruby", "lib/data.txt"] }, ["lib/data.txt"]],
		["scripts of npm", { command: "npm", args: ["run", "mcp"] }, ["package.json"]],
		["a make file", { command: "make", args: ["mcp"] }, ["Makefile"]],
	])("includes what %s names", async (_name, server, expected) => {
		const names = ["lib/server.mjs", "lib/first.cjs", "lib/start", "lib/a.jar", "lib/data.txt", "lib/out.log"];
		const more = ["bin/run", "bin/server", "bin/node", "package.json", "Makefile"];
		const { files, incomplete } = await filesOf(server, [...names, ...more]);
		expect(files).toEqual(expected);
		expect(incomplete).toBeUndefined();
	});

	test("includes what variables of pi name now", async () => {
		const server = { command: "node", args: [`\${SERVER:-a.mjs}`] };
		expect((await filesOf(server, ["a.mjs", "b.mjs"], { SERVER: "b.mjs" })).files).toEqual(["b.mjs"]);
		expect((await filesOf(server, ["a.mjs", "b.mjs"])).files).toEqual(["a.mjs"]);
	});

	test("includes the scripts that package.json runs, and a program that is a link to an interpreter", async () => {
		const cwd = realpathSync(tempDir("pi-project-"));
		writeFiles(cwd, {
			"package.json": { scripts: { mcp: "node ./lib/a.js" } },
			"lib/a.js": "",
			"b.txt": "",
			".mcp.json": {
				mcpServers: { one: { command: "pnpm", args: ["mcp"] }, two: { command: "./bin/x", args: ["b.txt"] } },
			},
		});
		mkdirSync(join(cwd, "bin"));
		symlinkSync("/usr/bin/python3", join(cwd, "bin/x"));
		const { files } = await collectProjectCode(cwd, { env: {}, home: "/nowhere" });
		expect(files.map(({ rel }) => rel)).toEqual([".mcp.json", "b.txt", "bin/x", "lib/a.js", "package.json"]);
	});

	test.each<[string, Server]>([
		["node .", { command: "node", args: ["."] }],
		["node ./", { command: "/usr/bin/node", args: ["./"] }],
		["node srv", { command: "node", args: ["srv"] }],
		["node ./srv/", { command: "node", args: ["./srv/"] }],
		["node ..", { command: "node", args: [".."], cwd: "srv/lib" }],
		["a shell's node .", { command: "sh", args: ["-c", "cd srv && exec node ."] }],
		["an option first", { command: "node", args: ["--no-warnings", "srv"] }],
		["an option with a file first", { command: "node", args: ["-r", "./first.cjs", "srv"] }],
		["an option with a secret file first", { command: "node", args: ["--env-file=.env", "srv"] }],
		["a default of a variable", { command: "node", args: [`\${X:-srv}`] }],
		["env", { command: "env", args: ["A=1", "node", "srv"] }],
		["bun", { command: "bun", args: ["srv"] }],
		["--require", { command: "node", args: ["--require", "./srv", "x.js"] }],
		["-r in NODE_OPTIONS", { command: "node", args: ["x.js"], env: { NODE_OPTIONS: "-r ./srv" } }],
		["--require= in NODE_OPTIONS", { command: "node", args: ["x.js"], env: { NODE_OPTIONS: "--require=./srv" } }],
		["code after -e", { command: "node", args: ["-e", "require('./srv')"] }],
	])("includes package.json of a directory that runs, and the files it names: %s", async (_name, server) => {
		const cwd = realpathSync(tempDir("pi-project-"));
		for (const dir of ["srv", "."]) {
			writeFiles(join(cwd, dir), { "package.json": { main: "lib/a" }, "lib/a.js": 'require("../b")', "b.js": "" });
		}
		writeFiles(cwd, { "first.cjs": "", ".env": "", ".mcp.json": { mcpServers: { one: server } } });
		const { files, incomplete } = await collectProjectCode(cwd, { env: {}, home: "/nowhere" });
		const dir = /^\.\/?$/.test(server.args?.at(-1) ?? "") ? "" : "srv/";
		const expected = ["package.json", "lib/a.js", "b.js"].map((name) => dir + name);
		expect(files.map(({ rel }) => rel)).toEqual(expect.arrayContaining(expected));
		expect(incomplete).toBeUndefined();
	});

	test.each([
		["index.js", "index.js"],
		["index.json", "index.json"],
		["index.node", "index.node"],
		["main/index.node", "main/index.node"],
	])("includes %s of a directory that runs", async (name, expected) => {
		const cwd = realpathSync(tempDir("pi-project-"));
		const files = { "package.json": { main: "main" }, [name]: "", ".mcp.json": { mcpServers: { one: NODE_HERE } } };
		writeFiles(cwd, files);
		const code = await collectProjectCode(cwd, { env: {}, home: "/nowhere" });
		expect(code.files.map(({ rel }) => rel)).toContain(expected);
	});

	test("a directory that is an argument of a script or of a package runs nothing", async () => {
		const names = ["run.js", "package.json"];
		expect((await filesOf({ command: "node", args: ["run.js", "."] }, names)).files).toEqual(["run.js"]);
		expect((await filesOf({ command: "npx", args: ["-y", "@x/server", "."] }, names)).files).toEqual([]);
		expect((await filesOf({ command: "server", args: ["."] }, names)).files).toEqual([]);
	});

	test("imports of a script with any name are followed", async () => {
		const cwd = realpathSync(tempDir("pi-project-"));
		writeFiles(cwd, {
			server: 'import "./part.mjs";',
			"part.mjs": "",
			tool: "import helper\n",
			"helper.py": "",
			"start.sh": 'exec node "./late.js"\n',
			"late.js": "",
			".mcp.json": {
				mcpServers: {
					one: { command: "node", args: ["server"] },
					two: { command: "python3", args: ["tool"] },
					three: { command: "./start.sh" },
				},
			},
		});
		const { files } = await collectProjectCode(cwd);
		expect(files.map(({ rel }) => rel)).toEqual([
			...[".mcp.json", "helper.py", "late.js", "part.mjs", "server", "start.sh", "tool"],
		]);
	});

	test("includes a file over 2 MB by its digest, and says that its imports are not checked", async () => {
		const cwd = realpathSync(tempDir("pi-project-"));
		const big = `${"/".repeat(3 * 1024 * 1024)}\n`;
		writeFiles(cwd, { "big.js": big, ".mcp.json": { mcpServers: { one: { command: "node", args: ["big.js"] } } } });
		const before = await collectProjectCode(cwd);
		expect(before.files.map(({ rel, size }) => [rel, size])).toContainEqual(["big.js", big.length]);
		expect(before.files[1]?.bytes.toString()).toMatch(/^3145729 bytes with the SHA-256 [0-9a-f]{64}\n$/);
		expect(before.unresolved).toEqual([
			{ from: "big.js", specifier: "other files", reason: "not checked, because it is larger than 2 MB" },
		]);
		writeFileSync(join(cwd, "big.js"), big.replace("/", "x"));
		const after = await collectProjectCode(cwd);
		expect(after.files[1]?.sha256).not.toBe(before.files[1]?.sha256);
	});

	test.each<[string, Server, Record<string, string>, string]>([
		["next to the script", { command: "python3", args: ["srv.py"] }, { "srv.py": "import tempfile" }, "random.py"],
		["next to a script without an ending", { command: "python3", args: ["-u", "s/srv"] }, { "s/srv": "" }, "s/a.py"],
		["next to a script of a shell", { command: "sh", args: ["-c", "cd s && python3 srv"] }, { "s/srv": "" }, "s/a.py"],
		["next to a script that is a program", { command: "./s/srv" }, { "s/srv": "#!/usr/bin/python3" }, "s/random.py"],
		["next to a script of another program", { command: "mcp", args: ["run", "s/a.py"] }, { "s/a.py": "" }, "s/b.py"],
		["where -m runs", { command: "python3", args: ["-m", "http.server"] }, {}, "argparse.py"],
		["where -um runs", { command: "python3", args: ["-um", "http.server"] }, {}, "argparse.py"],
		["where -c runs", { command: "python3", args: ["-c", "import logging"], cwd: "s" }, { "s/x": "" }, "s/string.py"],
		["as a package", { command: "python3", args: ["srv.py"] }, { "srv.py": "" }, "selectors/__init__.py"],
		["as a compiled package", { command: "python3", args: ["srv.py"] }, { "srv.py": "" }, "selectors/__init__.pyc"],
		["as a compiled file", { command: "python3", args: ["srv.py"] }, { "srv.py": "" }, "random.pyc"],
		[
			"as a library",
			{ command: "python3", args: ["srv.py"] },
			{ "srv.py": "" },
			"random.cpython-311-x86_64-linux-gnu.so",
		],
		["in PYTHONPATH", { command: "python3", env: { PYTHONPATH: "pp" } }, { "pp/x": "" }, "pp/sitecustomize.py"],
		["in PYTHONPATH for any program", { command: "srv", env: { PYTHONPATH: "/x:pp" } }, { "pp/x": "" }, "pp/a.py"],
		[
			"in PYTHONPATH of a shell",
			{ command: "sh", args: ["-c", "PYTHONPATH=pp python3 -V"] },
			{ "pp/x": "" },
			"pp/a.py",
		],
		[
			"in an imported package",
			{ command: "python3", args: ["srv.py"] },
			{ "srv.py": "import a", "a/__init__.py": "" },
			"a/b.py",
		],
		[
			"in a directory of sys.path",
			{ command: "./srv.py" },
			{ "srv.py": "sys.path.insert(0, 'v')", "v/x": "" },
			"v/a.py",
		],
		["for a file of sys.path", { command: "./v/srv.py" }, { "v/srv.py": "sys.path.append(f.parent.parent)" }, "a.py"],
		["of run_path", { command: "python3", args: ["s/srv.py"] }, { "s/srv.py": "runpy.run_path('l/b.py')" }, "l/b.py"],
		[
			"of import_module",
			{ command: "python3", args: ["s.py"] },
			{ "s.py": 'import_module(".b", "a")', "a/x": "" },
			"a/b.py",
		],
		[
			"of an entry point",
			{ command: "uv", args: ["run", "srv"] },
			{ "pyproject.toml": 'srv = "a.b:main"' },
			"src/a/b.py",
		],
		["of an application", { command: "uvicorn", args: ["a.b:app"] }, {}, "a/b.py"],
	])("includes a new module in Python %s", async (_name, server, files, added) => {
		const cwd = realpathSync(tempDir("pi-project-"));
		writeFiles(cwd, { ...files, ".mcp.json": { mcpServers: { one: server } } });
		const names = async () =>
			(await collectProjectCode(cwd, { env: {}, home: "/nowhere" })).files.map(({ rel }) => rel);
		expect(await names()).not.toContain(added);
		writeFiles(cwd, { [added]: "" });
		expect(await names()).toContain(added);
	});

	const NPM = { command: "npm", args: ["start"] };
	const RUN = { command: "sh", args: ["run"] };
	test.each<[string, Server, Record<string, unknown>, string[]]>([
		["node-options of .npmrc", NPM, { ".npmrc": "node-options=--require ./e.js", "e.js": "" }, [".npmrc", "e.js"]],
		["script-shell of .npmrc", NPM, { ".npmrc": "script-shell=./e.sh", "e.sh": "" }, [".npmrc", "e.sh"]],
		["npx with .npmrc", { command: "npx", args: ["x"] }, { ".npmrc": "" }, [".npmrc"]],
		[
			"preload of bunfig.toml",
			{ command: "bun", args: ["x"] },
			{ "bunfig.toml": 'preload = ["./e.ts"]', "e.ts": "" },
			["bunfig.toml", "e.ts"],
		],
		["npm start without a script", NPM, { "server.js": "" }, ["server.js"]],
		[
			"node --run",
			{ command: "node", args: ["--run", "x"] },
			{ "package.json": { scripts: { x: "sh e.sh" } }, "e.sh": "" },
			["e.sh", "package.json"],
		],
		[
			"tasks of deno.json",
			{ command: "deno", args: ["task", "x"] },
			{ "deno.json": { tasks: { x: "deno run e.ts" } }, "e.ts": "" },
			["deno.json", "e.ts"],
		],
		["a Makefile", { command: "make" }, { Makefile: "x:\n\tnode e.js", "e.js": "" }, ["Makefile", "e.js"]],
		[
			"a worker next to a script",
			{ command: "node", args: ["l/s.js"] },
			{ "l/s.js": "new Worker(__dirname + '/w.js')", "l/w.js": "" },
			["l/s.js", "l/w.js"],
		],
		[
			"a worker in a template",
			{ command: "node", args: ["l/s.js"] },
			{ "l/s.js": `new Worker(\`\${__dirname}/w.js\`)`, "l/w.js": "" },
			["l/s.js", "l/w.js"],
		],
		[
			"a program of a script",
			{ command: "node", args: ["l/s.js"] },
			{ "l/s.js": "spawn('python3', ['t/x.py'])", "t/x.py": "" },
			["l/s.js", "t/x.py"],
		],
		["a shell script without #!", RUN, { run: ". ./lib", lib: "sh more", more: "" }, ["lib", "more", "run"]],
		["a program without #!", { command: "./run" }, { run: "exec node e.js", "e.js": "" }, ["e.js", "run"]],
		[
			"the directory of a shell script",
			{ command: "./b/run.sh" },
			{ "b/run.sh": '. "$(dirname "$0")/lib.sh"; . $DIR/x', "b/lib.sh": "", "b/x": "" },
			["b/lib.sh", "b/run.sh", "b/x"],
		],
		[
			"imports of package.json",
			{ command: "node", args: ["l/s.mjs"] },
			{
				"l/s.mjs": "import '#x'; import '#y/z'",
				"package.json": { imports: { "#x": { node: "./x.js" }, "#y/*": ["./y/*.js"] } },
				"x.js": "",
				"y/z.js": "",
			},
			["l/s.mjs", "package.json", "x.js", "y/z.js"],
		],
		[
			"exports of package.json",
			{ command: "node", args: ["s.cjs"] },
			{
				"s.cjs": "require('me/x'); require('me')",
				"package.json": { name: "me", exports: { ".": "./i.js", "./x": "./x.js" } },
				"i.js": "",
				"x.js": "",
			},
			["i.js", "package.json", "s.cjs", "x.js"],
		],
		[
			"one export of package.json",
			{ command: "node", args: ["s.cjs"] },
			{ "s.cjs": "require('me')", "package.json": { name: "me", exports: { import: "./i.js" } }, "i.js": "" },
			["i.js", "package.json", "s.cjs"],
		],
	])("includes %s", async (_name, server, files, expected) => {
		const cwd = realpathSync(tempDir("pi-project-"));
		writeFiles(cwd, { ...files, ".mcp.json": { mcpServers: { one: server } } });
		const code = await collectProjectCode(cwd, { env: {}, home: "/nowhere" });
		expect(code.files.map(({ rel }) => rel).slice(1)).toEqual(expected);
		expect(code.unresolved.filter(({ reason }) => reason === "a package")).toEqual([]);
	});

	test.each([
		["node", "--test"],
		["find", "-exec"],
		["perl", "-MFoo"],
	])("says that what %s %s runs is not checked", async (command, arg) => {
		const { unresolved } = await filesOf({ command, args: [arg] }, []);
		expect(unresolved).toEqual([
			expect.stringMatching(/^(?:--test|find|perl): what it builds and runs is not checked$/),
		]);
	});

	test("follows no packages that Python code does not import, no caches and no installed packages", async () => {
		const names = ["srv.py", "tests/__init__.py", "tests/a.py", "docs/conf.py", "__pycache__/__init__.cpython-311.pyc"];
		const { files } = await filesOf({ command: "python3", args: ["srv.py"] }, [...names, "a/__pycache__/b.pyc"]);
		expect(files).toEqual(["srv.py", "tests/__init__.py"]);
		const path = ".venv/lib/python3.11/site-packages";
		const installed = await filesOf({ command: "python3", env: { PYTHONPATH: path } }, [`${path}/a.py`]);
		expect(installed.files).toEqual([]);
		expect(installed.unresolved).toEqual([`${path}: installed packages, not checked`]);
	});

	test("a directory with too many Python modules is incomplete", async () => {
		const names = Array.from({ length: 1001 }, (_, index) => `m${index}.py`);
		const { incomplete } = await filesOf({ command: "python3", args: ["srv"] }, ["srv", ...names]);
		expect(incomplete).toBe("more than 1000 files");
	});

	test("includes a link in the project with the contents of its target outside", async () => {
		const cwd = realpathSync(tempDir("pi-project-"));
		const outside = realpathSync(tempDir("pi-outside-"));
		writeFiles(cwd, {
			"a.js": 'require("./b");',
			"b.js": "",
			"s.py": "",
			".mcp.json": { mcpServers: { one: { command: "node", args: ["a.js"] }, two: { command: "./s.py" } } },
		});
		writeFiles(outside, { "x.js": "1", "y.js": "2", "y.py": "3" });
		const read = async () => {
			const { files } = await collectProjectCode(cwd, { env: {}, home: "/nowhere" });
			return Object.fromEntries(files.slice(1).map(({ rel, bytes }) => [rel, bytes.toString()]));
		};
		expect(await read()).toEqual({ "a.js": 'require("./b");', "b.js": "", "s.py": "" });
		rmSync(join(cwd, "b.js"));
		symlinkSync(join(outside, "y.js"), join(cwd, "b.js"));
		symlinkSync(join(outside, "y.py"), join(cwd, "random.py"));
		expect(await read()).toEqual({ "a.js": 'require("./b");', "b.js": "2", "random.py": "3", "s.py": "" });
		rmSync(join(cwd, "a.js"));
		symlinkSync(join(outside, "x.js"), join(cwd, "a.js"));
		expect(await read()).toEqual({ "a.js": "1", "random.py": "3", "s.py": "" });
	});

	test("names what is not covered", async () => {
		const server = { command: "sh", args: ["-c", "node $(cat name) $OTHER/x.js `pwd`/y.js *.js"] };
		expect((await filesOf(server, [])).unresolved).toEqual([
			"node $(cat name) $OTHER/x.js `pwd`/y.js *.js: computed by a shell",
		]);
		const shell = await filesOf({ command: "sh", args: ["run.sh"] }, ["run.sh"]);
		expect(shell.unresolved).toEqual(["other files: not checked in this language"]);
		const data = await filesOf({ command: "./run.js", args: ["x.db"] }, ["run.js", "x.db"]);
		expect([data.files, data.unresolved]).toEqual([["run.js"], ["x.db: data, not checked"]]);
		const programs = await filesOf({ command: "node", env: { PATH: "CWD/node_modules/.bin" } }, [
			"node_modules/.bin/tsx",
		]);
		expect(programs.unresolved).toEqual(["node_modules/.bin: programs of packages, not checked"]);
	});

	test("is found in linear time, whatever the texts", async () => {
		const started = performance.now();
		for (const text of [
			"$".repeat(60_000),
			`\${`.repeat(30_000),
			"'\"".repeat(30_000),
			"-".repeat(60_000),
			":".repeat(60_000),
			"a ".repeat(2000),
		]) {
			await filesOf({ command: "sh", args: ["-c", text], env: { PATH: text, NODE_OPTIONS: text } }, []);
		}
		expect(performance.now() - started).toBeLessThan(6000);
		expect(dirname(__filename)).toBeTruthy();
	});
});
