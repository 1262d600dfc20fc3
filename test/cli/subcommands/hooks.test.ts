import { appendFileSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempAgentDir, tempDir, writeFiles } from "../../helpers/temp.js";
import { run } from "./run.js";

const POP = `export default function (pi) {
	pi.on("context", () => undefined);
	pi.on("session", () => {});
	pi.command("pop", { complete: () => [], handler: () => {} });
	pi.entry("stack_pop", { render: () => "popped" });
	pi.tool({ name: "stack", description: "d", parameters: { type: "object" }, run() {} });
}`;
const REST = `export default function (pi) {
	pi.shortcut("ctrl+q", { handler() {} });
	pi.shortcut("f5", { handler() {} });
	pi.flag("deep", { type: "boolean" });
	pi.provider("corp", { models: [{ id: "m" }], async *stream() {} });
	pi.events.on("deploy:done", () => {});
}`;
const NO_NAMES = {
	events: [],
	commands: [],
	entryTypes: [],
	tools: [],
	shortcuts: [],
	flags: [],
	providers: [],
	toolHosts: [],
	listensTo: [],
};
const BROKEN = `export default function (pi) {
	pi.on("session", () => {});
	throw new Error("no luck");
}`;

describe("pi hooks list", () => {
	test("prints each hook with its source, trust and registrations, and each hook that does not load", async () => {
		const agentDir = tempAgentDir({ hooks: { "b.ts": BROKEN, "pop.ts": POP } });
		const extra = join(tempDir(), "extra.ts");
		writeFiles(extra.slice(0, -9), { "extra.ts": "export default () => {}" });
		const result = await run({ name: "hooks", action: "list" }, { agentDir, hooks: [extra], json: true });
		expect(result.code).toBe(1);
		const withoutScreen = ["completion of /pop", "rendering of stack_pop"].map((what) => ({
			what,
			why: "there is no screen",
		}));
		const bundled = (name: string, problem: string | null) =>
			expect.objectContaining({
				path: `pi:${name}`,
				scope: "bundled",
				trust: "own",
				loaded: problem === null,
				problem,
			});
		expect(JSON.parse(result.stdout)).toEqual({
			hooks: [
				bundled("fold", null),
				bundled("pin", null),
				bundled("stacking", `replaced by ${join(agentDir, "hooks/pop.ts")}`),
				{
					path: join(agentDir, "hooks/b.ts"),
					scope: "global",
					trust: "own",
					loaded: false,
					...NO_NAMES,
					cannotFire: { interactive: [], print: [], rpc: [] },
					problem: `Hook ${join(agentDir, "hooks/b.ts")}:3:8 did not load: no luck`,
				},
				{
					path: join(agentDir, "hooks/pop.ts"),
					scope: "global",
					trust: "own",
					loaded: true,
					...NO_NAMES,
					events: ["context", "session"],
					commands: ["pop"],
					entryTypes: ["stack_pop"],
					tools: ["stack"],
					cannotFire: { interactive: [], print: withoutScreen, rpc: withoutScreen },
					problem: null,
				},
				{
					path: extra,
					scope: "flag",
					trust: "own",
					loaded: true,
					...NO_NAMES,
					cannotFire: { interactive: [], print: [], rpc: [] },
					problem: null,
				},
			],
			problems: [],
		});
		const text = await run({ name: "hooks", action: "list" }, { agentDir });
		expect(text.stdout).toContain("/pop, tool stack, context, session");
		expect((await run({ name: "hooks", action: "list" }, { findHooks: false })).stdout).toBe("No hooks found\n");
	});

	test("prints keys, flags, providers and events between hooks", async () => {
		const agentDir = tempAgentDir({
			hooks: { "rest.ts": REST, "entry.ts": `export default (pi) => pi.entry("mark");` },
		});
		const { stdout } = await run({ name: "hooks", action: "list" }, { agentDir });
		expect(stdout).toContain("key ctrl+q, key f5, --deep, provider corp, listens to deploy:done\n");
		expect(stdout).toContain("  entries mark\n");
	});

	test("lists the bundled hooks that the settings turn on", async () => {
		const agentDir = tempAgentDir({ settings: { hooks: ["-pi:fold", "pi:redact", "pi:redcat"] } });
		const { stdout, stderr, code } = await run({ name: "hooks", action: "list" }, { agentDir });
		expect(stdout.split("\n").map((line) => line.split(/ {2,}/)[0])).toEqual([
			"hook",
			"pi:pin",
			"pi:redact",
			"pi:stacking",
			"",
		]);
		expect(stderr).toContain("There is no bundled hook pi:redcat · did you mean pi:redact?");
		expect(code).toBe(1);
	});
});

describe("pi hooks check", () => {
	test("loads a file as a session would and prints what it registers", async () => {
		const cwd = tempDir();
		writeFiles(cwd, { "pop.ts": POP });
		const result = await run({ name: "hooks", action: "check", target: "pop.ts" }, { cwd });
		expect(result).toMatchObject({ code: 0, stderr: "" });
		expect(result.stdout).toBe(
			`${join(cwd, "pop.ts")} loads without errors\nevents    context, session\ncommands  /pop\ntools     stack\nentries   stack_pop\n`,
		);
	});

	test("prints keys, flags, providers and events between hooks", async () => {
		const cwd = tempDir();
		writeFiles(cwd, { "rest.ts": REST });
		const command = { name: "hooks", action: "check", target: "rest.ts" } as const;
		expect((await run(command, { cwd })).stdout.split("\n").slice(1)).toEqual([
			"events    none",
			"commands  none",
			"keys      ctrl+q, f5",
			"flags     --deep",
			"providers corp",
			"listens   deploy:done",
			"",
		]);
		const json = await run(command, { cwd, json: true });
		expect(JSON.parse(json.stdout)).toEqual({
			...NO_NAMES,
			path: join(cwd, "rest.ts"),
			loaded: true,
			shortcuts: ["ctrl+q", "f5"],
			flags: ["deep"],
			providers: ["corp"],
			toolHosts: [],
			listensTo: ["deploy:done"],
			problem: null,
			warnings: [],
		});
	});

	test.each([
		["throws", BROKEN, ":3:8 did not load: no luck"],
		["does not parse", "export default function (pi) {\n\tconst = 3;\n}", ":2"],
		["has no factory", "export const x = 1;", "did not load: its default export is not a function"],
		["names an unknown event", `export default (pi) => pi.on("contxt", () => {})`, 'unknown event "contxt"'],
	])("fails with file, line and reason for a file that %s", async (_, source, reason) => {
		const cwd = tempDir();
		writeFiles(cwd, { "bad.ts": source });
		const result = await run({ name: "hooks", action: "check", target: "bad.ts" }, { cwd });
		expect(result).toMatchObject({ code: 1, stdout: "" });
		expect(result.stderr).toContain(join(cwd, "bad.ts"));
		expect(result.stderr).toContain(reason);
		expect(result.stderr.trimEnd().split("\n").length).toBe(1);
	});

	test("warns of a command that the hook registers twice", async () => {
		const cwd = tempDir();
		const twice = 'pi.command("go", { handler() {} });\n';
		writeFiles(cwd, { "two.ts": `export default (pi) => {\n${twice}${twice}};` });
		const result = await run({ name: "hooks", action: "check", target: "two.ts" }, { cwd });
		const path = join(cwd, "two.ts");
		expect(result.stdout + result.stderr).toContain(
			`/go is registered by ${path}:2:4 and ${path}:3:4; the latter is used`,
		);
		expect(result.code).toBe(1);
	});

	test("prints console output of a hook to stderr", async () => {
		const cwd = tempDir();
		writeFiles(cwd, { "loud.ts": `console.log("hello"); export default () => {};` });
		const result = await run({ name: "hooks", action: "check", target: "loud.ts" }, { cwd, json: true });
		expect(JSON.parse(result.stdout)).toMatchObject({ loaded: true });
		expect(result.stderr).toBe("hello\n");
	});

	test.each(["redact", "pi:redact"])("finds a bundled hook by its name %s", async (target) => {
		const { stdout, code } = await run({ name: "hooks", action: "check", target });
		expect(stdout).toMatch(/^pi:redact loads without errors\nevents {4}tool_result, context\n/);
		expect(code).toBe(0);
	});

	test.each(["check", "test"] as const)(
		"pi hooks %s runs nothing of the directory that has the name of a hook",
		async (action) => {
			const [agentDir, cwd] = [tempAgentDir(), tempDir("pi-project-")];
			const marker = join(cwd, "ran");
			const evil = `require("node:fs").writeFileSync(${JSON.stringify(marker)}, ""); export default () => {};`;
			writeFiles(agentDir, { "hooks/mine.ts": "export default () => {};" });
			writeFiles(cwd, {
				...{ mine: evil, "redact/index.ts": evil, "other/index.ts": evil, "mine.ts": evil },
				".pi/hooks/own.ts": evil,
			});
			const target = (name: string) => run({ name: "hooks", action, target: name } as never, { agentDir, cwd });
			for (const name of ["mine", "mine.ts", "redact"]) expect((await target(name)).code).toBe(0);
			await expect(target("other")).rejects.toMatchObject({
				message: "There is no hook other",
				hint: "use ./other for the file of this directory",
			});
			await expect(target("own")).rejects.toMatchObject({
				message: "Hook own of this project is not trusted",
				hint: "pi hooks trust, or name its file: ./.pi/hooks/own.ts",
			});
			expect(existsSync(marker)).toBe(false);
			expect((await target("./other")).code).toBe(0);
			expect(existsSync(marker)).toBe(true);
		},
	);

	test("finds a hook of the project by its name once it is trusted, and loads what was trusted", async () => {
		const [agentDir, cwd] = [tempAgentDir(), tempDir("pi-project-")];
		writeFiles(cwd, { ".pi/hooks/own.ts": `export default (pi) => pi.command("own", { handler() {} })` });
		await run({ name: "hooks", action: "trust" }, { agentDir, cwd });
		const { stdout, code } = await run({ name: "hooks", action: "check", target: "own" }, { agentDir, cwd });
		expect([code, stdout.split("\n")[0]]).toEqual([0, `${join(cwd, ".pi/hooks/own.ts")} loads without errors`]);
	});

	test("names a missing file", async () => {
		await expect(run({ name: "hooks", action: "check", target: "gone.ts" })).rejects.toThrow(
			"Hook gone.ts cannot be read",
		);
	});

	test("warns of a command with the name of a built-in command", async () => {
		const cwd = tempDir();
		writeFiles(cwd, { "model.ts": `export default (pi) => pi.command("model", { handler() {} })` });
		const result = await run({ name: "hooks", action: "check", target: "model.ts" }, { cwd });
		expect(result.stderr).toContain("/model of");
	});
});

describe("pi hooks trust", () => {
	test("trusts file contents: project hooks run until one of the files changes", async () => {
		const cwd = tempDir("pi-project-");
		const marker = join(cwd, "ran");
		writeFiles(cwd, {
			".pi/hooks/own.ts": `import { appendFileSync } from "node:fs"; import "../lib.ts";
appendFileSync(${JSON.stringify(marker)}, "x"); export default (pi) => pi.command("own", { handler() {} });`,
			".pi/lib.ts": "export const a = 1;",
			ran: "",
		});
		const agentDir = tempAgentDir();
		const list = async () => {
			const { stdout } = await run({ name: "hooks", action: "list" }, { agentDir, cwd, json: true });
			const { hooks }: { hooks: { scope: string; trust: string; loaded: boolean }[] } = JSON.parse(stdout);
			return hooks.filter(({ scope }) => scope === "project").map(({ trust, loaded }) => [trust, loaded]);
		};
		expect(await list()).toEqual([["new", false]]);
		expect(readFileSync(marker, "utf8")).toBe("");

		const trusted = await run({ name: "hooks", action: "trust" }, { agentDir, cwd });
		expect(trusted.code).toBe(0);
		expect(trusted.stdout).toMatch(/\.pi\/hooks\/own\.ts\s+\d+ bytes\s+[0-9a-f]{12}\s+new/);
		expect(trusted.stdout).toContain(".pi/lib.ts");
		expect(await list()).toEqual([["trusted", true]]);

		appendFileSync(join(cwd, ".pi/lib.ts"), "// changed");
		expect(await list()).toEqual([["trusted", false]]);
		expect(readFileSync(marker, "utf8")).toBe("x");

		await run({ name: "hooks", action: "trust" }, { agentDir, cwd });
		expect(await list()).toEqual([["trusted", true]]);
		expect((await run({ name: "hooks", action: "untrust" }, { agentDir, cwd })).stdout).toBe(
			`${cwd} is no longer trusted\n`,
		);
		expect(await list()).toEqual([["new", false]]);
		expect((await run({ name: "hooks", action: "untrust" }, { agentDir, cwd })).stdout).toBe(
			`${cwd} was not trusted\n`,
		);
	});

	test("stores nothing for a project without code", async () => {
		const result = await run({ name: "hooks", action: "trust" });
		expect(result.stdout).toBe(`${result.cwd} has no hooks, tools or MCP servers\n`);
	});
});

describe("pi hooks check finds faults before a session does", () => {
	const check = (files: Record<string, string>, options: { more?: string[]; types?: boolean; json?: boolean } = {}) => {
		const cwd = tempDir();
		writeFiles(cwd, files);
		const { json = false, ...command } = options;
		return run({ name: "hooks", action: "check", target: "a.ts", ...command }, { cwd, json });
	};

	test.each([
		[
			"a name that a package of pi does not export",
			'import { Typ } from "typebox";\nimport type { Nothing } from "typebox";\nexport default () => void Typ;',
			/\/a\.ts:1:21: typebox has no export Typ$/,
		],
		[
			"a name that a local file does not export",
			'import { one, two } from "./lib/b";\nexport default () => void [one, two];',
			/\/a\.ts:1:26: \.\/lib\/b has no export two$/,
		],
		[
			"a module that a handler imports later",
			'export default (pi) => pi.on("agent_end", async () => void (await import("./gone.js")));',
			/\/a\.ts:1:74: the module \.\/gone\.js does not exist$/,
		],
		[
			"a reserved entry type",
			'export default (pi) => pi.entry("message");',
			/^The entry type message of \S+\/a\.ts:1:27 is ignored: it belongs to pi; choose another name$/,
		],
		[
			"a reserved entry type that it saves",
			'export default (pi) => pi.on("agent_end", (_, ctx) => void ctx.saveEntry({ type: "compaction" }));',
			/a\.ts:1:64: the entry type compaction belongs to pi; choose another name$/,
		],
		[
			"a built-in command",
			'export default (pi) => pi.command("model", { handler() {} });',
			/^\/model of \S+\/a\.ts:1:27 is ignored: a built-in/,
		],
		[
			"a key that is in use",
			'export default (pi) => pi.shortcut("alt+b", { description: "Bold", handler() {} });',
			/^\S+\/a\.ts:1:27: Hook a gets no key for "Bold": alt\+b is in use: Move cursor word left · bind "hook\.a\.0" in keybindings\.json$/,
		],
		[
			"a malformed registration",
			'export default (pi) => pi.command("x", { description: 7, handler() {} });',
			/a\.ts:1:27: description of \/x is not a text$/,
		],
	])("%s", async (_, source, message) => {
		const result = await check({ "a.ts": source, "lib/b.ts": "export const one: number = 1;" });
		expect(result.code).toBe(1);
		expect(result.stderr.trimEnd()).toMatch(message);
		expect(result.stdout).toContain("loads, but has 1 problem");
	});

	test("names that a CommonJS package lacks, each at its own import, and none that it has", async () => {
		const cwd = tempDir();
		writeFiles(cwd, {
			"node_modules/literal/index.js": "module.exports = { a: 1, b() {} };",
			"node_modules/variable/index.js": "const all = { a: 1 }; module.exports = all;",
			"node_modules/callable/index.js": "function all() {} all.a = 1; module.exports = all;",
			"a.ts": `import type { Options } from "variable";
import { a, b } from "literal";
import { a as second } from "variable";
import { gone } from "variable";
import { a as third } from "callable";
export default () => void [a, b, second, third, gone];`,
		});
		const result = await run({ name: "hooks", action: "check", target: "a.ts" }, { cwd });
		expect(result).toMatchObject({ code: 1, stdout: expect.stringContaining("loads, but has 1 problem\n") });
		expect(result.stderr).toMatch(/^\S+\/a\.ts:4:22: variable has no export gone\n$/);
	});

	test("nothing in a hook whose imports exist", async () => {
		const source = `import { Type, type Static } from "typebox";
import { HookAPI } from "@mariozechner/pi-coding-agent/hooks";
import { join } from "node:path";
import * as lib from "./lib/b";
export default (pi: HookAPI) => void [Type.String(), join("a"), lib.one];`;
		expect(await check({ "a.ts": source, "lib/b.ts": "export const one: number = 1;" })).toMatchObject({
			code: 0,
			stderr: "",
		});
	});

	test("several hooks, also by name; --json has one object for each", async () => {
		const agentDir = tempAgentDir({ hooks: { "mine.ts": POP } });
		const command = { name: "hooks", action: "check", target: "mine", more: ["redact"] } as const;
		const result = await run(command, { agentDir, json: true });
		expect(result.code).toBe(0);
		expect(JSON.parse(result.stdout)).toMatchObject([{ path: join(agentDir, "hooks/mine.ts") }, { path: "pi:redact" }]);
	});

	test("type errors with --types, and how to install TypeScript", async () => {
		const source = `import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";
export default (pi: HookAPI) => pi.on("tool_call", (event) => ({ block: event.toolName.length }));`;
		const without = await check({ "a.ts": source }, { types: true });
		expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining("npm install --save-dev typescript") });
		const both = await check({ "a.ts": source, "b.ts": source }, { types: true, more: ["b.ts"] });
		expect([both.code, both.stderr.match(/TypeScript was not found/g)]).toEqual([1, ["TypeScript was not found"]]);
		const cwd = tempDir();
		writeFiles(cwd, {
			"a.ts": `import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";
export default (pi: HookAPI) => pi.command("x", { handler: async () => ({ prompt: 7 }) });`,
		});
		mkdirSync(join(cwd, "node_modules"));
		symlinkSync(join(process.cwd(), "node_modules/typescript"), join(cwd, "node_modules/typescript"));
		// A directory that is not that of the hook may be anyone's: its compiler does not run.
		const agentDir = tempAgentDir();
		writeFiles(agentDir, { "hooks/mine.ts": source });
		const other = await run({ name: "hooks", action: "check", target: "mine", types: true }, { agentDir, cwd });
		expect(other.stderr).toContain("TypeScript was not found");
		const found = await run({ name: "hooks", action: "check", target: "a.ts", types: true }, { cwd });
		expect(found.code).toBe(1);
		expect(found.stderr).toMatch(/a\.ts:2:\d+: .*\(TS\d+\)\n {2}/);
		expect(found.stdout).toContain("loads, but has 1 problem\n");
		// Each unknown field of an answer is named, also if other returns have none.
		writeFiles(cwd, {
			"b.ts": `import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";
export default function (pi: HookAPI) {
	pi.on("context", () => ({ mesages: [] }));
	pi.on("context", async ({ messages }) => (messages.length > 2 ? { messages } : { messages, sytemPrompt: [] }));
	pi.command("x", { handler: async () => ({ status: "done", colour: "red" }) });
}`,
		});
		const misspelled = await run({ name: "hooks", action: "check", target: "b.ts", types: true }, { cwd });
		expect(misspelled.code).toBe(1);
		for (const named of [/b\.ts:3:\d+: .*mesages/, /b\.ts:4:\d+: .*sytemPrompt/, /b\.ts:5:\d+: .*colour/])
			expect(misspelled.stderr).toMatch(named);
	});
});
