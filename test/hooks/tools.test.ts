import { join } from "node:path";
import { Type } from "typebox";
import { describe, expect, test } from "vitest";
import type { HookEventContext } from "../../src/hooks/types.js";
import { isMessageEntry } from "../../src/log/entry.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSession, type TestSessionOptions } from "../helpers/session.js";
import { writeFiles } from "../helpers/temp.js";
import { hook, share } from "./support.js";

/** A definition of a tool; `fields` replace those of it. */
const definition = (name: string, fields = "") =>
	`{ name: "${name}", description: "Shouts a text", parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
		run: async ({ text }, { ctx }) => ({ content: [{ type: "text", text: text.toUpperCase() }] }), ${fields} }`;
const tool = (name: string, fields = "") => hook(`pi.tool(${definition(name, fields)});`);

/** Lets the model call a tool. @returns text and `isError` of each result */
async function call({ session, provider }: TestSession, ...calls: [string, Record<string, unknown>][]) {
	provider.reply(
		calls.map(([name, args]) => toolCall(name, args)),
		"done",
	);
	const from = session.entries.length;
	await session.prompt("go");
	return session.entries.slice(from).flatMap((entry) => {
		if (!isMessageEntry(entry) || entry.message.role !== "toolResult") return [];
		const { content, isError } = entry.message;
		return [{ text: content.map((block) => (block.type === "text" ? block.text : "image")).join("|"), isError }];
	});
}

/** Names of the tools in request `number`, 1-based. */
function offered({ provider }: TestSession, number = provider.requests.length): string[] {
	const body = JSON.stringify(provider.requests[number - 1]?.body.tools ?? []);
	return [...body.matchAll(/"function":\{"name":"(\w+)"/g)].map(([, name = ""]) => name);
}

const start = (source: string, options: TestSessionOptions = {}) =>
	startSession({ tools: ["read", "shout"], ...options, hooks: { "shout.ts": source, ...options.hooks } });

describe("pi.tool", () => {
	test("the model gets the tool, pi validates its arguments, and the hook runs it", async () => {
		const run = await start(tool("shout"));
		expect(await call(run, ["shout", { text: "hi" }], ["shout", { loud: true }])).toEqual([
			{ text: "HI", isError: false },
			{ text: expect.stringContaining("text"), isError: true },
		]);
		expect(offered(run, 1)).toEqual(["read", "shout"]);
	});

	test("accepts TypeBox schemas and the form with execute", async () => {
		const run = await start(`import { Type } from "typebox";
			export default (pi) => pi.tool({
				name: "shout", description: "d", parameters: Type.Object({ text: Type.String() }),
				async execute(toolCallId, { text }, signal, onUpdate, ctx) {
					onUpdate({ content: [{ type: "text", text: "half" }] });
					const facts = [toolCallId, text, signal.aborted, ctx.cwd, ctx.signal === signal];
					return { content: [{ type: "text", text: JSON.stringify(facts) }] };
				},
			});`);
		const [result] = await call(run, ["shout", { text: "hi" }]);
		expect(JSON.parse(result?.text ?? "")).toEqual([expect.any(String), "hi", false, run.cwd, true]);
		const partial = run.events.find(({ type }) => type === "tool_execution_update");
		expect(partial).toMatchObject({ toolName: "shout", partialResult: { content: [{ type: "text", text: "half" }] } });
	});

	test("run may be synchronous, and fail so", async () => {
		const run = await start(
			tool(
				"shout",
				`run: ({ text }) => { if (text === "no") throw new Error("no voice"); return { content: [{ type: "text", text }] }; },`,
			),
		);
		expect(await call(run, ["shout", { text: "hi" }], ["shout", { text: "no" }])).toEqual([
			{ text: "hi", isError: false },
			{ text: expect.stringContaining("no voice"), isError: true },
		]);
	});

	test("results, partial results and errors lose control sequences, as those of built-in tools do", async () => {
		const run = await start(
			tool(
				"shout",
				`run: async ({ text }, { onUpdate }) => {
					const colored = "\\x1b[31m" + text + "\\x1b[0m\\x00\\x07\\x1b]0;title\\x07";
					onUpdate({ content: [{ type: "text", text: colored }] });
					if (text === "no") throw new Error(colored);
					return { content: [{ type: "text", text: colored + "\\n50%\\r100%" }, { type: "text", text: "\\tb\\n" }] };
				},`,
			),
		);
		expect(await call(run, ["shout", { text: "hi" }], ["shout", { text: "no" }])).toEqual([
			{ text: "hi\n100%|\tb\n", isError: false },
			{ text: expect.stringMatching(/: no$/), isError: true },
		]);
		expect(run.provider.requests.at(-1)?.messages.map(({ text }) => text)).toContain("hi\n100%\n\tb\n");
		const partial = run.events.find(({ type }) => type === "tool_execution_update");
		expect(partial).toMatchObject({ partialResult: { content: [{ type: "text", text: "hi" }] } });
	});

	test("the context object of a tool saves entries and asks the user; it is stale after the hook is unloaded", async () => {
		const kept: HookEventContext[] = [];
		share("__kept", kept);
		const run = await start(
			tool(
				"shout",
				`run: async (args, { ctx }) => {
					globalThis.__kept.push(ctx);
					const index = await ctx.saveEntry({ type: "shouted" });
					const sure = await ctx.ui.confirm("Sure?", "loud");
					return { content: [{ type: "text", text: ctx.entries[index].type + " " + sure }] };
				},`,
			),
			{ ui: { confirm: async () => true } },
		);
		expect(await call(run, ["shout", { text: "hi" }])).toEqual([{ text: "shouted true", isError: false }]);
		await run.session.reload();
		expect(() => kept[0]?.entries).toThrow("ctx.entries of tool shout in ");
	});

	test("a result whose details are not JSON reaches the model; an error names what is not, once", async () => {
		const run = await start(
			hook(`pi.tool({ name: "shout", description: "d", parameters: { type: "object", properties: {} },
	run: (_, { onUpdate }) => {
		onUpdate({ content: [], details: { draw() {} } });
		return { content: [{ type: "text", text: "ok" }], details: { size: 7n } };
	} });`),
		);
		const ok = { text: "ok", isError: false };
		expect(await call(run, ["shout", {}], ["shout", {}])).toEqual([ok, ok]);
		const errors = run.events.flatMap((event) => (event.type === "hook_error" ? [[event.event, event.error]] : []));
		expect(errors).toEqual([
			["tool shout", 'the details of its result were dropped: "draw" is a function, which JSON cannot represent'],
		]);
	});

	test("it passes the gate and its result the tool_result handlers of all hooks", async () => {
		const run = await start(tool("shout"), {
			hooks: {
				"gate.ts": hook(`
					pi.on("tool_call", ({ toolName, input }) => toolName === "shout" && input.text === "no" ? { block: true, reason: "quiet" } : undefined);
					pi.on("tool_result", ({ content }) => ({ content: [...content, { type: "text", text: "heard" }] }));`),
			},
		});
		expect(await call(run, ["shout", { text: "no" }], ["shout", { text: "yes" }])).toEqual([
			{ text: "quiet", isError: true },
			{ text: "YES|heard", isError: false },
		]);
	});

	test.each([
		[
			"throws",
			`run: async () => { throw new Error("no voice"); },`,
			/^Hook shout\.ts:3:\d+ failed on tool shout: no voice$/,
		],
		[
			"throws at once",
			`run: () => { throw new Error("no voice"); },`,
			/^Hook shout\.ts:3:\d+ failed on tool shout: no voice$/,
		],
		["returns nothing", "run: async () => {},", /^The tool "shout" of hook shout\.ts:2:4 did not return/],
		["returns a text", 'run: async () => "hi",', /^The tool "shout" of hook shout\.ts:2:4 did not return/],
	])("a tool that %s is an error result that names the hook", async (_, fields, text) => {
		const run = await start(tool("shout", fields));
		expect(await call(run, ["shout", { text: "hi" }])).toEqual([{ text: expect.stringMatching(text), isError: true }]);
		const [status] = run.session.inspector.hookStatuses();
		expect(status?.figures).toMatchObject({ calls: 1, events: { "tool shout": 1 } });
		if (fields.includes("throw")) expect(status?.figures.lastError).toBe("tool shout: no voice");
	});

	test("long output loses its middle, so that the path of the complete output at its end is kept", async () => {
		const output = `"line\\n".repeat(9000) + "Full output: /tmp/all.txt"`;
		const run = await start(tool("shout", `run: async () => ({ content: [{ type: "text", text: ${output} }] }),`));
		const [result] = await call(run, ["shout", { text: "hi" }]);
		expect(result?.text.length).toBeLessThan(11_000);
		expect(result?.text).toMatch(
			/^(line\n){1980}\n\[Cut: 7001 lines \(34 KB\) here are not shown\. .*\]\n\n(line\n){19}Full output: \/tmp\/all\.txt$/,
		);
	});

	test("a run ends with the results of a message if all of them say so", async () => {
		const run = await start(
			tool("shout", `run: async ({ text }) => ({ content: [{ type: "text", text }], terminate: text !== "more" }),`),
		);
		const { session, provider } = run;
		provider.reply([toolCall("shout", { text: "one" }), toolCall("shout", { text: "more" })]);
		provider.reply([toolCall("shout", { text: "two" }), toolCall("shout", { text: "three" })]);
		await session.prompt("go");
		expect(provider.requests).toHaveLength(2);
		provider.reply("next");
		await session.prompt("and now");
		expect(provider.requests[2]?.messages.slice(-3).map(({ text }) => text)).toEqual(["two", "three", "and now"]);
	});

	test("a handler of tool_call ends the run with a call that it blocks", async () => {
		const gate = hook(`pi.on("tool_call", () => ({ block: true, reason: "no", terminate: true }));`);
		const run = await startSession({ hooks: { "gate.ts": gate } });
		run.provider.reply([toolCall("bash", { command: "ls" })]);
		await run.session.prompt("go");
		expect(run.provider.requests).toHaveLength(1);
		expect(run.session.entries.at(-1)).toMatchObject({ message: { role: "toolResult", isError: true } });
	});

	test("an abort ends a tool that ignores its signal", async () => {
		let began: () => void = () => {};
		const started = new Promise<void>((resolve) => {
			began = resolve;
		});
		share("__began", () => began());
		const run = await start(tool("shout", "run: () => { globalThis.__began(); return new Promise(() => {}); },"));
		const called = call(run, ["shout", { text: "hi" }]);
		await started;
		await run.session.abort();
		expect(await called).toEqual([{ text: expect.stringContaining("aborted"), isError: true }]);
	});

	test("read-only tools run in parallel", async () => {
		const source = tool(
			"shout",
			`readOnly: true, run: ({ text }) => new Promise((resolve) => {
				(globalThis.__waiting ??= []).push(() => resolve({ content: [{ type: "text", text }] }));
				if (globalThis.__waiting.length === 2) globalThis.__waiting.forEach((end) => end());
			}),`,
		);
		share("__waiting", undefined);
		const run = await start(source);
		expect(await call(run, ["shout", { text: "a" }], ["shout", { text: "b" }])).toEqual([
			{ text: "a", isError: false },
			{ text: "b", isError: false },
		]);
	});

	test.each([
		["7", "expected a tool or a function that returns one, not number"],
		[`{ ...${definition("a")}, name: "my tool" }`, "is not a valid tool name"],
		[`{ ...${definition("a")}, description: " " }`, "the tool a has no description"],
		[`{ ...${definition("a")}, parameters: { text: "string" } }`, "must be an object schema"],
		[
			`{ ...${definition("a")}, parameters: { type: "object", properties: [] } }`,
			"have properties that are not an object",
		],
		[
			`{ ...${definition("a")}, parameters: { type: "object", properties: { text: "string" } } }`,
			"have a property without a schema: text",
		],
		[
			`{ ...${definition("a")}, parameters: { type: "object", required: "text" } }`,
			"must have a list of names as required",
		],
		[
			`{ ...${definition("a")}, parameters: { type: "object", properties: { n: { default: 1n } } } }`,
			"cannot be sent as JSON",
		],
		[`{ ...${definition("a")}, readOnly: "yes" }`, "readOnly of the tool a must be true or false"],
		[`{ ...${definition("a")}, promptLine: 7 }`, "promptLine of the tool a must be a string"],
		[`{ ...${definition("a")}, guidelines: "be loud" }`, "guidelines of the tool a must be a list of strings"],
		[`{ ...${definition("a")}, run: undefined }`, "the tool a has no run or execute function"],
		[`{ ...${definition("a")}, run: "run" }`, "run of the tool a is not a function"],
		[`{ ...${definition("a")}, renderCall: {} }`, "renderCall of the tool a is not a function"],
		[`{ ...${definition("a")}, renderResult: "x" }`, "renderResult of the tool a is not a function"],
	])("refuses %s", async (source, reason) => {
		const run = await startSession({ hooks: { "bad.ts": hook(`pi.tool(${source});`) } });
		expect(run.session.loaded.warnings).toEqual([expect.stringContaining(reason)]);
		expect(run.session.loaded.hooks).toEqual([]);
	});
});

describe("tools of hooks in a session", () => {
	test("a tool that a handler registers is part of the next request; a reload forgets it", async () => {
		const run = await startSession({
			hooks: { "late.ts": hook(`pi.command("add", { handler: () => { pi.tool(${definition("shout")}); } });`) },
		});
		const { session, provider } = run;
		provider.reply("one", "two", "three", "four");
		await session.prompt("hi");
		await session.prompt("/add");
		await session.prompt("hi");
		expect([offered(run, 1), offered(run, 2)].map((names) => names.includes("shout"))).toEqual([false, true]);
		const system = provider.requests.map(({ messages }) => messages[0]?.text ?? "");
		expect(system.map((text) => text.includes("- shout: Shouts a text"))).toEqual([false, true]);
		await session.reload();
		await session.prompt("hi");
		expect(offered(run, 3)).not.toContain("shout");
		expect(provider.requests[2]?.messages[0]?.text).toBe(system[0]);
	});

	test("a tool is gone while its hook is off", async () => {
		const run = await startSession({ hooks: { "shout.ts": tool("shout") } });
		const { session, provider, agentDir } = run;
		provider.reply("one", "two");
		await session.inspector.setHookEnabled(join(agentDir, "hooks/shout.ts"), false);
		await session.prompt("hi");
		await session.inspector.setHookEnabled(join(agentDir, "hooks/shout.ts"), true);
		await session.prompt("hi");
		expect([offered(run, 1), offered(run, 2)].map((names) => names.includes("shout"))).toEqual([false, true]);
	});

	test("a tool with the name of a built-in tool replaces it; a notice says so once, /tools and /hooks always", async () => {
		const run = await startSession({ hooks: { "mine.ts": tool("read") }, tools: ["read", "ls"] });
		const { session, agentDir, events } = run;
		expect(await call(run, ["read", { text: "hi" }])).toEqual([{ text: "HI", isError: false }]);
		expect(offered(run, 1)).toEqual(["read", "ls"]);
		await session.reload();
		const path = join(agentDir, "hooks/mine.ts");
		expect(events.filter(({ type }) => type === "notice")).toEqual([
			{ type: "notice", level: "info", message: `The tool read of hook ${path} replaces the built-in tool` },
		]);
		expect(await session.prompt("/tools")).toMatchObject({
			status: `Tools\non   read  ${path} (replaces the built-in tool)\non   ls    built-in`,
		});
		expect(session.inspector.hookStatuses()[0]?.tools).toEqual([{ name: "read", replacesBuiltin: true }]);
		writeFiles(agentDir, { "hooks/mine.ts": hook("") });
		await session.reload();
		expect(await session.prompt("/tools")).toMatchObject({ status: "Tools\non   read  built-in\non   ls    built-in" });
	});

	test("of two tools with one name the later is used, and the clash names both files", async () => {
		const run = await startSession({
			hooks: {
				"a.ts": tool("shout"),
				"b.ts": tool("shout", `run: async () => ({ content: [{ type: "text", text: "b" }] }),`),
			},
		});
		expect(await call(run, ["shout", { text: "hi" }])).toEqual([{ text: "b", isError: false }]);
		const clash = `The tool shout is defined in ${run.agentDir}/hooks/a.ts and ${run.agentDir}/hooks/b.ts; the latter is used`;
		expect(run.notices()).toEqual([clash]);
		const [first] = run.session.inspector.hookStatuses();
		expect(first?.conflicts).toEqual([`the tool shout is also defined in ${run.agentDir}/hooks/b.ts`]);
	});

	test("a hook's tool and one of a file with the same name clash, and the hook's is used", async () => {
		const run = await startSession({
			agentDir: (await startSession({ hooks: { "a.ts": tool("shout") } })).agentDir,
			tools: ["shout"],
		});
		writeFiles(run.agentDir, { "tools/t/index.ts": `export default ${definition("shout", "run: async () => {},")}` });
		await run.session.reload();
		expect(await call(run, ["shout", { text: "hi" }])).toEqual([{ text: "HI", isError: false }]);
		expect(run.notices()).toEqual([
			`The tool shout is defined in ${run.agentDir}/tools/t/index.ts and ${run.agentDir}/hooks/a.ts; the latter is used`,
		]);
	});

	test("--tools may name a tool that a hook registers, also at the start of the session", async () => {
		const late = hook(`pi.on("session", () => { pi.tool(${definition("shout")}); });`);
		const run = await startSession({ hooks: { "late.ts": late }, tools: ["shout", "read"] });
		run.provider.reply("one");
		await run.session.prompt("hi");
		expect(offered(run, 1)).toEqual(["shout", "read"]);
		await expect(startSession({ hooks: { "late.ts": late }, tools: ["shuot"] })).rejects.toMatchObject({
			code: "tool_unknown",
			hint: "did you mean shout?",
		});
	});

	test("a tool of a hook replaces one of the SDK program", async () => {
		const run = await startSession({
			hooks: { "a.ts": tool("shout") },
			tools: ["shout"],
			extraTools: [
				{ name: "shout", description: "SDK", parameters: Type.Object({}), run: async () => ({ content: [] }) },
			],
		});
		expect(await call(run, ["shout", { text: "hi" }])).toEqual([{ text: "HI", isError: false }]);
		expect(offered(run, 1)).toEqual(["shout"]);
	});
});
