import { expect, test } from "vitest";
import { findUse, WORKING_MEMBERS } from "../../src/extensions/check-source.js";
import { REFUSED_EVENTS, REFUSED_MEMBERS } from "../../src/extensions/refusals.js";
import { findImportProblems } from "../../src/hooks/check-imports.js";
import { run } from "../cli/subcommands/run.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";
import { share } from "../hooks/support.js";
import { tryExtension } from "./try-extension.js";

test("the check finds what a source uses, and names what pi refuses", async () => {
	const use = await findUse(`export default (pi) => {
	pi.on("session_start", (event, ctx) => ctx.ui.setStatus("a", "b"));
	pi.on("project_trust", () => {});
	pi.registerCommand("x", { handler: (args, ctx) => pi.registerMarkdownTransformer(null) });
}`);
	expect(use.works).toEqual(["event session_start", "ctx.ui.setStatus", "pi.registerCommand"]);
	expect(use.refused.map(({ what, line }) => [what, line])).toEqual([
		["event project_trust", 3],
		["pi.registerMarkdownTransformer", 4],
	]);
	const imports =
		await findUse(`import { ModelRegistry as Base, type Theme, SessionManager, truncateHead } from "@earendil-works/pi-coding-agent";
import { complete, sing } from "@earendil-works/pi-ai";
class Mine extends Base {}
export default (pi) => { sing(truncateHead(complete)); };
const manager: SessionManager | null = null;`);
	expect(imports.refused).toEqual([
		{
			what: "ModelRegistry of @earendil-works/pi-coding-agent",
			reason: "pi reads the settings and keys",
			line: 3,
		},
		{ what: "sing of @earendil-works/pi-ai", reason: "it has nothing that would do the same", line: 4 },
	]);
	expect(WORKING_MEMBERS.filter((name) => name in REFUSED_MEMBERS)).toEqual([]);
});

test.each([
	["(pi as any).registerMarkdownTransformer(x)", "pi.registerMarkdownTransformer"],
	["(pi as unknown as Mine).registerMarkdownTransformer(x)", "pi.registerMarkdownTransformer"],
	["pi?.registerMarkdownTransformer(x)", "pi.registerMarkdownTransformer"],
	["pi!.registerMarkdownTransformer(x)", "pi.registerMarkdownTransformer"],
	['pi["registerMarkdownTransformer"](x)', "pi.registerMarkdownTransformer"],
	["(<any>pi).registerMarkdownTransformer(x)", "pi.registerMarkdownTransformer"],
	[
		"pi.on('agent_end', (e, ctx) => (ctx.sessionManager as any).buildContextEntries())",
		"ctx.sessionManager.buildContextEntries",
	],
	[
		"pi.on('agent_end', (e, ctx) => ctx.sessionManager?.buildContextEntries())",
		"ctx.sessionManager.buildContextEntries",
	],
	["(ctx.modelRegistry as any).getRegisteredProviderConfig?.('x')", "ctx.modelRegistry.getRegisteredProviderConfig"],
	["ctx.sessionManager.appendMessage({})", "ctx.sessionManager.appendMessage"],
	["(pi as any).on('project_trust', () => {})", "event project_trust"],
	["(pi as any).registerFoo(x)", "pi.registerFoo"],
	["pi.on('sesion_start', () => {})", "event sesion_start"],
])("the check finds the refused use in %s", async (code, what) => {
	const { refused } = await findUse(`export default (pi) => { ${code}; };`);
	expect(refused.map((use) => [use.what, use.reason !== ""])).toEqual([[what, true]]);
});

test("the check knows the members of sessionManager and modelRegistry that a session has", async () => {
	const seen: Record<string, string[]> = {};
	share("__members", seen);
	const t = await tryExtension(
		`pi.registerCommand("use", { handler: async (args, { sessionManager, modelRegistry }) =>
			Object.assign(__members, { sessionManager: Object.keys(sessionManager), modelRegistry: Object.keys(modelRegistry) }) });`,
	);
	await t.run("/use");
	for (const [object, names] of Object.entries(seen)) {
		const use = await findUse(names.map((name) => `ctx.${object}.${name}();`).join("\n"));
		expect([names.length > 10, use.refused]).toEqual([true, []]);
	}
	expect(Object.keys(seen)).toEqual(["sessionManager", "modelRegistry"]);
});

const tool = (fields: string) => `pi.registerTool({ name: "x", ${fields} });`;
const provider = (fields: string) => `pi.registerProvider("lab", { ${fields} });`;

test.each([
	[tool('renderShell: "self"'), "renderShell of a tool"],
	[tool("prepareArguments(args) { return args; }"), "prepareArguments of a tool"],
	[tool("constrainedSampling: { type: 'json_schema' }"), "constrainedSampling of a tool"],
	[tool('executionMode: "parallel"'), "executionMode of a tool"],
	[`const renderShell = "self"; ${tool("renderShell")}`, "renderShell of a tool"],
	[provider("async refreshModels() { return []; }"), "refreshModels of a provider"],
	[provider('models: [{ id: "a", promptCache: {} }]'), "promptCache of models of a provider"],
	[provider("oauth: { modifyModels: (models) => models }"), "modifyModels of oauth of a provider"],
	["pi.registerProvider(createProvider({ id: 'lab' }))", "registerProvider with a provider object"],
	['pi.sendUserMessage("/go", { expandPromptTemplates: true })', "expandPromptTemplates of pi.sendUserMessage"],
	[
		'pi.on("input", ({ text }) => text.startsWith("?quick ") ? { action: "handled" } : {})',
		"a prompt that begins with ?",
	],
	["ctx.navigateTree(id, { summarize: true })", "summarize of ctx.navigateTree"],
])("the check finds what pi does not read in %s", async (code, what) => {
	const { refused } = await findUse(`export default (pi) => { ${code} };`);
	expect(refused.map((use) => [use.what, use.reason !== ""])).toEqual([[what, true]]);
});

test.each([
	tool('executionMode: "sequential"'),
	tool("constrainedSampling: false"),
	`${tool("execute() { return other.renderShell; }")} interface Mine { renderShell?: string }`,
	"const other = { prepareArguments: 1, refreshModels: 2 };",
	'pi.registerProvider(name, { baseUrl: "x" })',
	"ctx.navigateTree(id, { summarize: false })",
])("the check reports no field in %s", async (code) => {
	expect((await findUse(`export default (pi) => { ${code} };`)).refused).toEqual([]);
});

test("a member of another object that is called like one of pi is no use of it", async () => {
	const { refused } = await findUse(
		"const api = { registerFoo() {} }; api.registerFoo(); emitter.on('sesion_start', x); // see pi.dev",
	);
	expect(refused).toEqual([]);
});

test.each([
	["index.js", `export default (pi) => { pi.registerCommand("go", { handler: async () => {} }); };`],
	[
		"bundle.js",
		`var name = "x";\nfunction start(pi) { pi.on("session_start", () => {}); }\nexport { start as default };`,
	],
	["types.ts", `import type { Theme } from "@earendil-works/pi-coding-agent";\nexport default (pi: object) => {};`],
])("pi hooks check loads the compiled file %s as an extension", async (name, source) => {
	const cwd = tempDir();
	writeFiles(cwd, { [name]: source });
	const checked = await run({ name: "hooks", action: "check", target: name }, { agentDir: tempAgentDir(), cwd });
	expect([checked.stderr, checked.code]).toEqual(["", 0]);
	expect(checked.stdout).toMatch(/^works /m);
});

test("pi hooks check reports what the local imports of an extension use, with their file", async () => {
	const cwd = tempDir();
	writeFiles(cwd, {
		"ext/index.ts": `import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
			export default async function (pi: ExtensionAPI) { (await import("./src/start.js")).start(pi); }`,
		"ext/src/start.ts": `import { show } from "./screen";
			export const start = (pi: any) => { pi.on("project_trust", () => {}); pi.on("agent_end", (e: any, ctx: any) => show(ctx)); };`,
		"ext/src/screen/index.ts": `import "../start.ts";\nexport const show = (ctx: any) => ctx.sessionManager.buildContextEntries();`,
		"ext/src/unused.ts": `export const never = (pi: any) => pi.registerMarkdownTransformer(() => {});`,
	});
	const checked = await run(
		{ name: "hooks", action: "check", target: "ext/index.ts" },
		{ agentDir: tempAgentDir(), cwd },
	);
	expect(checked.stdout.split("\n").filter((line) => /^(works|refused)/.test(line))).toEqual([
		"works     event agent_end, ctx.sessionManager",
		`refused   event project_trust in src/start.ts:2: ${REFUSED_EVENTS.project_trust}`,
		`refused   ctx.sessionManager.buildContextEntries in src/screen/index.ts:2: ${REFUSED_MEMBERS["ctx.sessionManager.buildContextEntries"]}`,
	]);
});

test("pi hooks check accepts an extension that imports its package.json", async () => {
	const cwd = tempDir();
	writeFiles(cwd, {
		"package.json": '{ "name": "mine", "version": "1.2.3" }',
		"index.ts": `import manifest from "./package.json" with { type: "json" };
			export default (pi: any) => { pi.registerCommand("version", { handler: async (_: string, ctx: any) => ctx.ui.notify(manifest.version) }); };`,
	});
	const checked = await run({ name: "hooks", action: "check", target: "index.ts" }, { agentDir: tempAgentDir(), cwd });
	expect([checked.stderr, checked.code]).toEqual(["", 0]);
	expect(checked.stdout).toContain("works     pi.registerCommand, ctx.ui.notify");
});

test("pi hooks check evaluates each imported module once, and names what each file lacks of a module that fails", async () => {
	const evaluated: string[] = [];
	share("__evaluated", evaluated);
	const dir = tempDir();
	writeFiles(dir, {
		"index.ts": `import { a } from "./a.js";\nimport { b } from "./b.js";\nimport { c } from "./c.js";\nexport default () => [a, b, c];`,
		"a.ts": `import { c } from "./c.js";\nimport { none } from "./b.js";\nexport const a = [c, none];`,
		"b.ts": `import { c } from "./c.js";\nexport const b = c;`,
		"c.ts": `__evaluated.push("c");\nexport const c = 1;`,
		"broken.ts": `import { used } from "./fails.js";\nimport { a } from "./a.js";\nexport default () => [a, used];`,
		"fails.ts": `import { deep } from "./deep.js";\nexport const used = deep;`,
		"deep.ts": `throw new Error("no deep");\nexport const deep = 1;`,
	});
	const places = (problems: Awaited<ReturnType<typeof findImportProblems>>) =>
		problems.map(({ place, reason }) => `${place.file.replace(`${dir}/`, "")}:${place.line} ${reason}`);
	expect(places(await findImportProblems(`${dir}/index.ts`, "extension"))).toEqual([
		"a.ts:2 ./b.js has no export none",
	]);
	expect(evaluated).toEqual(["c"]);
	expect(places(await findImportProblems(`${dir}/broken.ts`, "extension"))).toEqual([
		"broken.ts:1 the module ./fails.js does not load: no deep",
		"fails.ts:1 the module ./deep.js does not load: no deep",
		"a.ts:2 ./b.js has no export none",
	]);
});
