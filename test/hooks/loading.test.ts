import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as tui from "@mariozechner/pi-tui";
import { describe, expect, test } from "vitest";
import { loadSharedModules } from "../../src/hooks/shared-modules.js";
import { startSession } from "../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles, writeHook } from "../helpers/temp.js";
import { hook } from "./support.js";

/** Every package that hooks share with pi. */
const ALL_MODULES = [
	"@mariozechner/pi-ai",
	"@mariozechner/pi-tui",
	"@mariozechner/pi-coding-agent",
	"@mariozechner/pi-coding-agent/hooks",
	"typebox",
	"typebox/value",
	"@sinclair/typebox",
	"@sinclair/typebox/value",
];

test("hooks can still import pi-tui's screen as TUI, along with the exports of the current version", async () => {
	const { "@mariozechner/pi-tui": library } = await loadSharedModules(['import { TUI } from "@mariozechner/pi-tui";']);
	expect(library).toEqual({ ...tui, TUI: tui.TuiMainScreen });
});

describe("loading", () => {
	test("order: global by name, project, settings, flag; each file once, by real path", async () => {
		const agentDir = tempAgentDir();
		const cwd = tempDir();
		const say = (name: string) => hook(`globalThis.__order = [...(globalThis.__order ?? []), "${name}"];`);
		writeHook(join(agentDir, "hooks"), "b.ts", say("b"));
		writeHook(join(agentDir, "hooks"), "a.ts", say("a"));
		writeHook(join(agentDir, "hooks", "folder"), "index.ts", say("folder"));
		writeHook(join(cwd, ".pi", "hooks"), "p.ts", say("p"));
		const named = writeHook(join(agentDir, "more"), "s.ts", say("s"));
		const flag = writeHook(tempDir(), "f.ts", say("f"));
		const link = join(tempDir(), "link.ts");
		symlinkSync(named, link);
		const { session } = await startSession({
			agentDir,
			cwd,
			trust: true,
			userSettings: { hooks: ["more/s.ts"] },
			hookFiles: [flag, link],
		});
		expect(session.loaded.hooks.map(({ name, scope }) => `${scope}:${name}`)).toEqual([
			"global:a",
			"global:b",
			"global:folder",
			"project:p",
			"settings:s",
			"flag:f",
		]);
		expect(Reflect.get(globalThis, "__order")).toEqual(["a", "b", "folder", "p", "s", "f"]);
		Reflect.deleteProperty(globalThis, "__order");
	});

	test("untrusted project hooks do not run; one line names them and the next step", async () => {
		const cwd = tempDir();
		writeHook(join(cwd, ".pi", "hooks"), "evil.ts", "globalThis.__ran = true; export default () => {};");
		const { session } = await startSession({ cwd });
		expect(Reflect.get(globalThis, "__ran")).toBeUndefined();
		expect(session.loaded.hooks).toEqual([]);
		expect(session.loaded.warnings.join("\n")).toMatch(/evil\.ts.*--trust/);
	});

	test("trusted code runs until it changes", async () => {
		const cwd = tempDir();
		const agentDir = tempAgentDir();
		const path = writeHook(join(cwd, ".pi", "hooks"), "mine.ts", "export default () => {};");
		const first = await startSession({ cwd, agentDir, askTrust: async () => "trust" });
		expect(first.session.loaded.hooks.length).toBe(1);
		const second = await startSession({ cwd, agentDir });
		expect(second.session.loaded.hooks.length).toBe(1);
		writeFileSync(path, "export default () => { throw new Error('poison'); };");
		const third = await startSession({ cwd, agentDir });
		expect(third.session.loaded.hooks).toEqual([]);
	});

	test.each([
		[
			"a syntax error",
			"export default function (pi) {\n  const = 1;\n}",
			/bad\.ts:2:9 did not load: syntax error: Unexpected token$/,
		],
		["a throw", "export default function () {\n  throw new Error('no luck');\n}", /bad\.ts:2:9 did not load: no luck/],
		["no default function", "export const x = 1;", /its default export is not a function/],
		["a missing import", "import './nowhere';\nexport default () => {};", /nowhere/],
		["an unknown event", hook('pi.on("sesion", () => {});'), /unknown event "sesion".*session, prompt, agent_start/],
		["a bad command name", hook('pi.command("no spaces", { handler() {} });'), /is not a valid command name/],
		["an async factory that rejects", "export default async () => {\n  throw new Error('later');\n}", /later/],
		["undefined thrown", hook("throw undefined;"), /undefined was thrown/],
	])("a hook with %s is named with its reason and the others load", async (_, source, message) => {
		const { session } = await startSession({ hooks: { "bad.ts": source, "good.ts": hook("") } });
		expect(session.loaded.hooks.map(({ name }) => name)).toEqual(["good"]);
		expect(session.loaded.warnings).toEqual([expect.stringMatching(message)]);
	});

	test("a missing --hook file is reported and pi starts", async () => {
		const { session } = await startSession({ hookFiles: ["/nowhere/x.ts"] });
		expect(session.loaded.warnings).toEqual([expect.stringContaining("/nowhere/x.ts cannot be read")]);
	});

	test("hooks share pi's packages, wherever the hook file is", async () => {
		const { notices } = await startSession({
			hooks: {
				"a.ts": `
					import { getModel, Type } from "@mariozechner/pi-ai";
					import * as typebox from "@sinclair/typebox";
					import { applyRanges } from "@mariozechner/pi-coding-agent/hooks";
					import { PiError } from "@mariozechner/pi-coding-agent";
					import { visibleWidth } from "@mariozechner/pi-tui";
					export default function (pi) {
						pi.on("session", (event, ctx) => {
							const same = Type === typebox.Type;
							ctx.ui.notify([same, typeof applyRanges, typeof PiError, visibleWidth("ab"), typeof getModel].join(" "));
						});
					}`,
			},
			ui: { notify: (message) => seen.push(message) },
		});
		expect(notices()).toEqual([]);
		expect(seen).toEqual(["true function function 2 function"]);
	});
	const seen: string[] = [];

	test.each([
		["only types", 'import type { Api } from "@mariozechner/pi-ai";\nimport type { HookAPI } from "x";', []],
		["only Node modules", 'import { join } from "node:path";\nimport "fs";', []],
		[
			"what it names",
			"import { type HookAPI, applyRanges } from '@mariozechner/pi-coding-agent/hooks';\nimport { Type } from \"typebox\";",
			["@mariozechner/pi-coding-agent/hooks", "typebox"],
		],
		["a file next to it", 'import { help } from "./help.js";', ALL_MODULES],
		["a package", 'import help from "help";', ALL_MODULES],
		["a module by a computed name", "const help = await import(name);", ALL_MODULES],
	])("of the program's packages a hook that imports %s is given what it may need", async (_, source, expected) => {
		// What compiled code calls is always there.
		const given = Object.keys(await loadSharedModules([source])).filter((name) => !name.startsWith("@oxc-project/"));
		expect(given.sort()).toEqual([...expected].sort());
	});

	test("two hooks with the same command: the later one wins and the warning names both; built-in names are rejected", async () => {
		const command = (name: string, status: string) =>
			hook(`pi.command("${name}", { handler: () => ({ status: "${status}" }) });`);
		const { session } = await startSession({
			hooks: {
				"a.ts": command("twice", "first"),
				"b.ts": command("twice", "second"),
				"c.ts": command("model", "mine"),
			},
		});
		expect(await session.prompt("/twice")).toEqual({ kind: "command", status: "second" });
		expect(session.loaded.warnings).toEqual([
			expect.stringMatching(/\/twice.*a\.ts.*b\.ts/),
			expect.stringMatching(/\/model.*c\.ts.*built-in/),
		]);
	});

	test("reload picks up edits, and keeps the old version of a hook that no longer loads", async () => {
		const agentDir = tempAgentDir();
		const write = (source: string) => writeHook(join(agentDir, "hooks"), "h.ts", source);
		write(hook('pi.command("v", { handler: () => ({ status: "1" }) });'));
		const { session } = await startSession({ agentDir });
		write(hook('pi.command("v", { handler: () => ({ status: "2" }) });'));
		await session.prompt("/reload");
		expect(await session.prompt("/v")).toMatchObject({ status: "2" });
		write("export default function ( {");
		expect(await session.prompt("/reload")).toMatchObject({ status: expect.stringContaining("previous version") });
		expect(await session.prompt("/v")).toMatchObject({ status: "2" });
	});
});

test("a reload evaluates imported files again, and a running hook keeps its own version", async () => {
	const agentDir = tempAgentDir();
	const write = (value: number) =>
		writeFiles(join(agentDir, "hooks"), {
			"a.ts": `import { value, count } from "./lib/value";
				export default (pi: any) => pi.command("v", { handler: (): object => ({ status: \`\${value} \${count()}\` }) });`,
			"lib/value.ts": `let calls: number = 0;\nexport const value = ${value} as number;\nexport const count = (): number => ++calls;`,
		});
	write(1);
	const { session } = await startSession({ agentDir });
	expect(await session.prompt("/v")).toMatchObject({ status: "1 1" });
	write(2);
	expect(await session.prompt("/v")).toMatchObject({ status: "1 2" });
	await session.prompt("/reload");
	expect(await session.prompt("/v")).toMatchObject({ status: "2 1" });
});

test("two hooks that import the same file have an instance of it each", async () => {
	const agentDir = tempAgentDir();
	const source = (name: string) => `import { count } from "./lib/count";
		export default (pi: any) => pi.command("${name}", { handler: (): object => ({ status: String(count()) }) });`;
	writeFiles(join(agentDir, "hooks"), {
		"a.ts": source("a"),
		"b.ts": source("b"),
		"lib/count.ts": "let calls: number = 0;\nexport const count = (): number => ++calls;",
	});
	const { session } = await startSession({ agentDir });
	for (const command of ["/a", "/b"]) expect(await session.prompt(command)).toMatchObject({ status: "1" });
});
