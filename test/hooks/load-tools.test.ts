import { chmodSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { discoverTools, loadTools, mergeTools } from "../../src/hooks/load-tools.js";
import { BUILTIN_TOOLS } from "../../src/tools/index.js";
import { createLocalMachine } from "../../src/tools/machine/local-machine.js";
import type { AnyTool, ToolResult } from "../../src/tools/tool.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

const tool = (name: string, run = `({ text }) => ({ content: [{ type: "text", text: text.toUpperCase() }] })`) => `{
	name: "${name}", description: "Shouts", parameters: Type.Object({ text: Type.String() }), run: async ${run},
}`;
const file = (body: string) => `import { Type } from "typebox";\nexport default ${body};\n`;

/** Directories with tools in each scope. */
function place(
	files: Record<string, string>,
	options: { configured?: string[]; explicit?: string[]; discovery?: boolean } = {},
) {
	const dir = tempDir();
	writeFiles(dir, files);
	chmodSync(dir, 0o755);
	const found = discoverTools({
		globalDir: join(dir, "agent/tools"),
		projectDir: join(dir, "project/.pi/tools"),
		cwd: join(dir, "project"),
		homeDir: dir,
		configured: options.configured ?? [],
		settingsDir: join(dir, "agent"),
		explicit: options.explicit ?? [],
		discovery: options.discovery ?? true,
	});
	const load = () => loadTools(found.files, { cacheDir: join(dir, "cache"), timeoutMs: 200, cwd: "/work" });
	return { dir, found, load };
}

const context = {
	cwd: "/",
	host: createLocalMachine("/"),
	signal: new AbortController().signal,
	toolCallId: "1",
	tmpDir: "/tmp",
};

async function call(tool: AnyTool | undefined, args: unknown): Promise<ToolResult | undefined> {
	return tool?.run(args, context);
}

describe("discoverTools", () => {
	test("finds folders with an index.ts, then files of the settings and of --tool, in order", () => {
		const { dir, found } = place(
			{
				"agent/tools/b/index.ts": "",
				"agent/tools/a/index.ts": "",
				"agent/tools/loose.ts": "",
				"agent/tools/index.ts": "",
				"agent/more/set.ts": "",
				"project/.pi/tools/p/index.ts": "",
				"project/one.ts": "",
			},
			{ configured: ["more/set.ts"], explicit: ["one.ts", "gone.ts"] },
		);
		expect(found.files.map(({ path, scope, name }) => [path.slice(dir.length + 1), scope, name])).toEqual([
			["agent/tools/a/index.ts", "global", "a"],
			["agent/tools/b/index.ts", "global", "b"],
			["project/.pi/tools/p/index.ts", "project", "p"],
			["agent/more/set.ts", "settings", "set"],
			["project/one.ts", "flag", "one"],
		]);
		expect(found.errors.map(({ message }) => message)).toEqual(["Tool gone.ts cannot be read"]);
	});
});

describe("loadTools", () => {
	test("accepts a tool, a list, and a sync or async function that returns them", async () => {
		const { load } = place({
			"agent/tools/a/index.ts": file(tool("one")),
			"agent/tools/b/index.ts": file(`[${tool("two")}, ${tool("three")}]`),
			"agent/tools/c/index.ts": file(
				`({ cwd }) => (${tool("four", "() => ({ content: [{ type: 'text', text: cwd }] })")})`,
			),
			"agent/tools/d/index.ts": file(`async () => [${tool("five")}]`),
		});
		const { tools, errors } = await load();
		expect(errors).toEqual([]);
		expect(tools.map(({ tool: { name } }) => name)).toEqual(["one", "two", "three", "four", "five"]);
		expect(await call(tools[0]?.tool, { text: "hi" })).toEqual({ content: [{ type: "text", text: "HI" }] });
		expect(await call(tools[3]?.tool, {})).toEqual({ content: [{ type: "text", text: "/work" }] });
	});

	test.each([
		["throws", "throw new Error('no luck')", "Tool F:1:7 did not load: no luck"],
		["is not TypeScript", "export default {", "Tool F:1:17 did not load: syntax error: Expected `}` but found `EOF`"],
		["exports nothing", "export const a = 1;", "is not a valid tool name"],
		["exports a number", file("7"), "expected a tool or a function that returns one, not number"],
		["exports no tools", file("[]"), "it exports no tools"],
		["has a bad name", file(tool("my tool")), '"my tool" is not a valid tool name'],
		[
			"has no description",
			file(`{ name: "a", parameters: Type.Object({}), run() {} }`),
			"the tool a has no description",
		],
		[
			"has no schema",
			file(`{ name: "a", description: "x", parameters: { text: "string" }, run() {} }`),
			"must be an object schema",
		],
		[
			"has nothing to run",
			file(`{ name: "a", description: "x", parameters: Type.Object({}) }`),
			"the tool a has no run or execute function",
		],
		["never resolves", file("() => new Promise(() => {})"), "its factory timed out after 200 ms"],
	])("names a file that %s, and loads the others", async (_, source, reason) => {
		const { dir, load } = place({
			"agent/tools/bad/index.ts": source,
			"agent/tools/good/index.ts": file(tool("good")),
		});
		const { tools, errors } = await load();
		expect(tools.map(({ tool: { name } }) => name)).toEqual(["good"]);
		expect(errors.map(({ message }) => message.replace(join(dir, "agent/tools/bad/index.ts"), "F"))).toEqual([
			expect.stringContaining(reason),
		]);
	});

	test.each([
		["nothing", "undefined"],
		["a text", "'hi'"],
		["blocks of another kind", "({ content: [{ type: 'video' }] })"],
	])("returns an error to the model instead of %s", async (_, result) => {
		const { load } = place({ "agent/tools/a/index.ts": file(tool("odd", `() => ${result}`)) });
		const { tools } = await load();
		expect(await call(tools[0]?.tool, {})).toMatchObject({ isError: true });
	});

	test("accepts execute, with the members of the context as arguments", async () => {
		const { load } = place({
			"agent/tools/a/index.ts": file(`{
				name: "a", label: "A", description: "Shouts", parameters: Type.Object({ text: Type.String() }), loud: "!",
				async execute(id, { text }, signal, onUpdate) {
					onUpdate({ content: [{ type: "text", text: "half" }] });
					return { content: [{ type: "text", text: id + text + this.loud + signal.aborted }] };
				},
			}`),
		});
		const { tools, errors } = await load();
		expect(errors).toEqual([]);
		expect(await call(tools[0]?.tool, { text: "hi" })).toEqual({ content: [{ type: "text", text: "1hi!false" }] });
	});

	test("keeps the details that JSON can represent", async () => {
		const { load } = place({
			"agent/tools/a/index.ts": file(
				`[${tool("big", "() => ({ content: [], details: { n: 1n } })")}, ${tool("date", "() => ({ content: [], details: { d: new Date(0) } })")}]`,
			),
		});
		const { tools } = await load();
		expect(await call(tools[0]?.tool, {})).toEqual({ content: [] });
		expect(await call(tools[1]?.tool, {})).toEqual({ content: [], details: { d: "1970-01-01T00:00:00.000Z" } });
	});
});

describe("mergeTools", () => {
	test("only --tool replaces a built-in tool; the later of two custom tools wins", async () => {
		const { dir, load } = place(
			{
				"agent/tools/a/index.ts": file(`[${tool("read")}, ${tool("shout")}]`),
				"agent/tools/b/index.ts": file(tool("shout")),
				"project/mine.ts": file(tool("bash")),
			},
			{ explicit: ["mine.ts"] },
		);
		const { tools: custom } = await load();
		const { tools, warnings } = mergeTools(BUILTIN_TOOLS, custom);
		expect(tools.map(({ name }) => name)).toEqual([...BUILTIN_TOOLS.map(({ name }) => name), "shout"]);
		const of = (name: string) => tools.find((candidate) => candidate.name === name);
		expect(of("read")).toBe(BUILTIN_TOOLS[0]);
		expect(of("bash")).toBe(custom[3]?.tool);
		expect(of("shout")).toBe(custom[2]?.tool);
		expect(warnings.map((line) => line.replaceAll(dir, ""))).toEqual([
			"The tool read of /agent/tools/a/index.ts is ignored: a built-in tool has this name · use --tool " +
				`${dir}/agent/tools/a/index.ts to replace it`.replaceAll(dir, ""),
			"The tool shout is defined in /agent/tools/a/index.ts and /agent/tools/b/index.ts; the latter is used",
		]);
	});
});

test("a custom tool runs in a session: pi validates its arguments and sends its result to the model", async () => {
	const { load } = place({ "agent/tools/a/index.ts": file(tool("shout")) });
	const { tools } = await load();
	const { session, provider } = await startSession({ extraTools: tools.map((custom) => custom.tool) });
	provider.reply([toolCall("shout", {})], [toolCall("shout", { text: "hi" })], "done");
	await session.prompt("shout hi");
	const results = session.entries.flatMap((entry) =>
		"message" in entry && typeof entry.message === "object" ? [JSON.stringify(entry.message)] : [],
	);
	expect(results[2]).toContain('"isError":true');
	expect(results[4]).toContain('"text":"HI"');
});
