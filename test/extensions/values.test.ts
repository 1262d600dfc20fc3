import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createHookTest, type HookTestOptions, toolCall } from "../../src/testing/index.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { share } from "../hooks/support.js";

const IMPORTS = `import * as agent from "@earendil-works/pi-coding-agent";
import * as ai from "@earendil-works/pi-ai";
import * as compat from "@earendil-works/pi-ai/compat";
import * as tui from "@earendil-works/pi-tui";
import { Type } from "typebox";
// createReadTool createBashTool createCodingTools createReadOnlyTools createWriteToolDefinition BorderedLoader parseFrontmatter keyHint keyText
`;

async function tryExtension(body: string, options: Omit<HookTestOptions, "hooks"> = {}) {
	const dir = tempDir();
	writeFiles(dir, { "mine.ts": `${IMPORTS}export default function (pi) {\n${body}\n}\n` });
	const t = await createHookTest({ ...options, hooks: [], extensions: [join(dir, "mine.ts")] });
	onTestFinished(() => t.dispose());
	return t;
}

/** What an expression is in a command of an extension. */
async function evaluate(expression: string, options: Omit<HookTestOptions, "hooks"> = {}): Promise<unknown> {
	const seen: { value?: unknown } = {};
	share("__value", seen);
	const t = await tryExtension(
		`pi.registerCommand("use", { handler: async (args, ctx) => { __value.value = await (${expression}); } });`,
		options,
	);
	await t.run("/use");
	expect(t.errors).toEqual([]);
	return seen.value;
}

test.each([
	["agent.CONFIG_DIR_NAME", ".pi"],
	["typeof agent.VERSION", "string"],
	["typeof agent.getAgentDir()", "string"],
	["agent.formatSize(2048)", "2 KB"],
	["agent.getLanguageFromPath('src/a.tsx') + agent.getLanguageFromPath('noname')", "typescriptundefined"],
	["agent.highlightCode('a\\nb', 'none')", ["a", "b"]],
	["agent.renderDiff('+1 a\\n-2 b\\n 3 c')", "+1 a\n-2 b\n 3 c"],
	["agent.rawKeyHint('esc', 'cancel')", "esc cancel"],
	["agent.keyHint('app.tree.editLabel', 'label')", "label"],
	["agent.keyText('app.tree.editLabel')", ""],
	["agent.keyText('constructor') + agent.keyText(undefined)", ""],
	["agent.stripFrontmatter('---\\na: 1\\n---\\n\\ntext')", "text"],
	[
		"agent.parseFrontmatter('---\\nname: x\\ntools: [a, b]\\n---\\n\\ntext\\n')",
		{ frontmatter: { name: "x", tools: ["a", "b"] }, body: "text" },
	],
	["agent.parseFrontmatter('text')", { frontmatter: {}, body: "text" }],
	["agent.truncateLine('abcdef', 3)", { text: "abc... [truncated]", wasTruncated: true }],
	[
		"agent.truncateHead('a\\nb\\nc', { maxLines: 2 })",
		expect.objectContaining({ content: "a\nb", truncated: true, maxLines: 2, firstLineExceedsLimit: false }),
	],
	[
		"agent.truncateHead('abcdef', { maxBytes: 3 })",
		expect.objectContaining({ content: "", firstLineExceedsLimit: true }),
	],
	["agent.truncateTail('abcdef', { maxBytes: 3 })", expect.objectContaining({ content: "def", lastLinePartial: true })],
	["agent.isToolCallEventType('bash', { toolName: 'bash' }) && agent.isBashToolResult({ toolName: 'bash' })", true],
	["agent.createCodingTools('/').map(({ name }) => name).join()", "read,bash,edit,write"],
	["agent.createReadOnlyTools('/').map(({ name }) => name).join()", "read,grep,find,ls"],
	["typeof agent.createWriteToolDefinition('/').promptSnippet", "string"],
	[
		"typeof agent.getSettingsListTheme().label + typeof agent.getSelectListTheme().noMatch + typeof agent.getMarkdownTheme().bold",
		"functionfunctionfunction",
	],
	["new agent.DynamicBorder().render(3)", ["───"]],
	["ai.StringEnum(['a', 'b']).enum", ["a", "b"]],
	[
		"/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(ai.uuidv7()) && ai.uuidv7() !== ai.uuidv7()",
		true,
	],
	[
		"[ai.complete, ai.completeSimple, ai.getModel, compat.streamSimple, compat.registerApiProvider].every((value) => typeof value === 'function')",
		true,
	],
	["Type.String().type", "string"],
	[
		"[tui.Text, tui.Container, tui.Box, tui.Markdown, tui.SettingsList, tui.SelectList, tui.Spacer, tui.Input, tui.Editor].every((value) => value.prototype.render)",
		true,
	],
	[
		"tui.matchesKey('\\x1b', tui.Key.escape) && tui.truncateToWidth('abc', 2) !== '' && tui.visibleWidth('ab') === 2",
		true,
	],
])("an extension gets %s", async (expression, value) => {
	expect(await evaluate(expression)).toEqual(value);
});

test.each([
	[
		"new agent.ModelRegistry()",
		"new @earendil-works/pi-coding-agent.ModelRegistry is not available in pi: pi reads the settings and keys",
	],
	[
		"ai.collapseTime([])",
		"@earendil-works/pi-ai.collapseTime is not available in pi: it has nothing that would do the same",
	],
	[
		"new tui.Hologram()",
		"new @earendil-works/pi-tui.Hologram is not available in pi: it has nothing that would do the same",
	],
])("%s throws an error that names it", async (expression, message) => {
	const error = await evaluate(`(() => { try { ${expression}; } catch (error) { return error.message; } })()`);
	expect(error).toBe(message);
});

test("changes of one file wait for each other, those of others do not", async () => {
	const order = await evaluate(`(async () => {
		const order = [];
		const change = (path, name, until) => agent.withFileMutationQueue(path, async () => {
			order.push("begin " + name);
			await until;
			order.push("end " + name);
		});
		let release;
		const hold = new Promise((resolve) => { release = resolve; });
		const ofA = [change("/a", "first", hold), change("/a", "second")];
		await change("/b", "other");
		release();
		await Promise.all(ofA);
		return order;
	})()`);
	expect(order).toEqual(["begin first", "begin other", "end other", "end first", "begin second", "end second"]);
});

test("a built-in tool that an extension wraps runs in the session, with its updates and its result", async () => {
	const cwd = tempDir();
	writeFileSync(join(cwd, "a.txt"), "content of a\n");
	const t = await tryExtension(
		`const read = agent.createReadTool(${JSON.stringify(cwd)});
		pi.registerTool({ ...read, async execute(id, params, signal, onUpdate) {
			const result = await read.execute(id, params, signal, onUpdate);
			return { ...result, content: [...result.content, { type: "text", text: "checked" }] };
		} });`,
		{ cwd, replies: [toolCall("read", { path: "a.txt" }), "done"] },
	);
	await t.run("go");
	expect(t.requests[1]?.messages.at(-1)?.text).toBe("content of a\n\nchecked");
	expect(t.errors).toEqual([]);
});

test("commands of a wrapped bash tool run as its options say, and only in a call of a tool", async () => {
	const cwd = tempDir();
	const bash = (options: string) =>
		`agent.createBashTool(${JSON.stringify(cwd)}, ${options}).execute("1", { command: "echo $WORD in $PWD" })`;
	const run = async (options: string) => {
		const t = await tryExtension(
			`pi.registerTool({ name: "mine", description: "Runs.", parameters: Type.Object({}), execute: () => ${bash(options)} });`,
			{ replies: [toolCall("mine", {}), "done"] },
		);
		await t.run("go");
		expect(t.errors).toEqual([]);
		return t.requests[1]?.messages.at(-1)?.text;
	};
	expect(await run("{ spawnHook: (given) => ({ ...given, env: { ...given.env, WORD: 'hooked' } }) }")).toBe(
		`hooked in ${cwd}`,
	);
	expect(await run("{ commandPrefix: 'WORD=before' }")).toBe(`before in ${cwd}`);
	const remote =
		"{ operations: { async exec(command, cwd, { onData }) { onData(Buffer.from('ran ' + command)); return { exitCode: 2 }; } } }";
	expect(await run(remote)).toBe("ran echo $WORD in $PWD\n\nexit code 2");
	expect(await evaluate(`${bash("{}")}.catch((error) => error.message)`)).toBe(
		"bash.execute outside of a tool call is not available in pi: a built-in tool works on the machine of a call",
	);
});

/** Operations on files that are only in memory, below /far. */
const FAR = `const files = { "/far/a.txt": "one\\ntwo\\n", "/far/sub/b.ts": "b", "/far/sub/c.md": "c" };
	const isDirectory = (path) => Object.keys(files).some((name) => name.startsWith(path + "/"));
	const access = async (path) => { if (!(path in files) && !isDirectory(path)) throw new Error("no access to " + path); };
	const readFile = async (path) => Buffer.from(files[path]);
	const writeFile = async (path, content) => { files[path] = content; };
	const mkdir = async (path) => { files[path + "/.made"] = ""; };
	const exists = (path) => path in files || isDirectory(path);
	const stat = (path) => ({ isDirectory: () => isDirectory(path) });
	const readdir = (path) => [...new Set(Object.keys(files).flatMap((name) => name.startsWith(path + "/") ? [name.slice(path.length + 1).split("/")[0]] : []))];
	const glob = (pattern, cwd, { limit }) => Object.keys(files).filter((name) => name.endsWith(pattern.replace("*", ""))).slice(0, limit);`;

test.each([
	["Read", { path: "a.txt", offset: 2 }, "two\n", undefined],
	["Read", { path: "sub" }, "sub is a directory. Use ls to list it.", undefined],
	["Read", { path: "b.txt" }, "no access to /far/b.txt.", undefined],
	["Edit", { path: "a.txt", oldText: "two", newText: "2" }, /^Edited a\.txt/, { "/far/a.txt": "one\n2\n" }],
	[
		"Write",
		{ path: "new/d.txt", content: "d" },
		/^Created new\/d\.txt/,
		{ "/far/new/d.txt": "d", "/far/new/.made": "" },
	],
	["Ls", {}, "a.txt\nsub/", undefined],
	["Ls", { path: "nowhere" }, /^nowhere does not exist/, undefined],
	["Find", { pattern: "*.ts" }, "sub/b.ts", undefined],
	["Find", { pattern: "sub/*.md" }, "sub/c.md", undefined],
	["Find", { pattern: "*", path: "gone" }, /^gone does not exist/, undefined],
] as const)("%s with operations of an extension works on its files: %j", async (tool, params, answer, changed) => {
	const t = await tryExtension(
		`${FAR}
		const operations = { Read: { readFile, access, stat }, Edit: { readFile, writeFile, access }, Write: { writeFile, mkdir },
			Ls: { exists, stat, readdir }, Find: { exists, glob } }[${JSON.stringify(tool)}];
		pi.registerTool({ name: "mine", description: "Works far away.", parameters: Type.Object({}), async execute(id) {
			const result = await agent.create${tool}Tool("/far", { operations }).execute(id, ${JSON.stringify(params)});
			return { ...result, details: { files } };
		} });
		pi.on("tool_result", ({ details }) => { globalThis.__far = details.files; });`,
		{ replies: [toolCall("mine", {}), "done"] },
	);
	await t.run("go");
	expect(t.requests[1]?.messages.at(-1)?.text).toMatch(answer);
	if (changed) expect(Reflect.get(globalThis, "__far")).toMatchObject(changed);
	expect(t.errors).toEqual([]);
});

test("getAllTools has the schema of each tool", async () => {
	const tools = await evaluate("pi.getAllTools().find(({ name }) => name === 'read').parameters.required");
	expect(tools).toEqual(["path"]);
});

test("sendUserMessage with followUp waits for the end of the run, and steer for the current tool calls", async () => {
	const t = await tryExtension(
		`pi.on("tool_call", () => {
			pi.sendUserMessage("later", { deliverAs: "followUp" });
			pi.sendUserMessage("soon", { deliverAs: "steer" });
		});`,
		{ replies: [toolCall("ls", {}), "one", "two"] },
	);
	await t.run("go");
	await expect.poll(() => t.requests.length).toBe(3);
	expect(t.requests[1]?.messages.at(-1)?.text).toBe("soon");
	expect(t.requests[2]?.messages.at(-1)?.text).toBe("later");
});

test.each(["typebox", "@sinclair/typebox"])("%s/compile and %s/value come from pi", async (name) => {
	const dir = tempDir();
	writeFiles(dir, {
		"mine.ts": `import { Type } from "${name}";
			import { Compile } from "${name}/compile";
			import { Value } from "${name}/value";
			const schema = Type.Object({ count: Type.Number() });
			export default (pi) => pi.registerCommand("check", { handler: async (args, ctx) =>
				ctx.ui.notify([Compile(schema).Check({ count: 1 }), Value.Check(schema, { count: "one" })].join()) });`,
	});
	const t = await createHookTest({ hooks: [], extensions: [join(dir, "mine.ts")] });
	onTestFinished(() => t.dispose());
	await t.run("/check");
	expect([t.errors, t.notices]).toEqual([[], ["true,false"]]);
});
