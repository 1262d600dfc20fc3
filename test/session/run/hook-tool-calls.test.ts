import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { isHookToolCallEntry } from "../../../src/log/entry.js";
import { text, toolCall } from "../../helpers/loopback-provider.js";
import { startSession, type TestSessionOptions } from "../../helpers/session.js";
import { hook, share } from "../../hooks/support.js";
import { createGate } from "../../operations/states.js";

/** A hook with the tool `outer`, which calls the tool of its arguments and returns the result as JSON. */
const OUTER = `
	const list = { type: "object", properties: {} };
	const parameters = { type: "object", properties: { tool: { type: "string" }, args: { type: "object" } }, required: ["tool"] };
	const say = (text) => ({ content: [{ type: "text", text }] });
	const textOf = ({ content }) => content.map(({ text }) => text).join("|");
	pi.tool({ name: "outer", description: "d", parameters, async run({ tool, args }, { ctx }) {
		const result = await ctx.tools.call(tool, args);
		return say(JSON.stringify(result));
	} });
	pi.command("call", { async handler(ctx) {
		const [name, args] = ctx.argsRaw.split(" ");
		try {
			const result = await ctx.tools.call(name, args ? JSON.parse(args) : undefined);
			globalThis.__seen?.(result);
			return { status: textOf(result) };
		} catch (error) { return { status: error.code + ": " + error.message }; }
	} });`;

async function start(options: TestSessionOptions & { body?: string } = {}) {
	const { body = "", hooks, ...rest } = options;
	const started = await startSession({ ...rest, hooks: { "outer.ts": hook(OUTER + body), ...hooks } });
	const { session } = started;
	return {
		...started,
		nested: () => session.entries.filter(isHookToolCallEntry),
		run: async (line: string) => {
			const result = await session.prompt(line);
			return "status" in result ? result.status : result.kind;
		},
	};
}

const files = { "a.txt": "one\n" };

describe("ctx.tools.call", () => {
	test("runs a tool, and the result of the hook's tool is what the model gets", async () => {
		const { session, provider, nested, sent, cwd, events } = await start({ files });
		provider.reply([toolCall("outer", { tool: "read", args: { path: "a.txt" } })], "done");
		await session.prompt("go");
		const [entry] = nested();
		expect(entry).toMatchObject({
			...{ type: "hook_tool_call", hook: "outer", toolName: "read", input: { path: "a.txt" }, isError: false },
			...{ parent: expect.any(String), content: [{ type: "text", text: expect.stringContaining("one") }] },
		});
		expect(sent(2).at(-1)).toContain('"isError":false');
		expect(sent(2)).toHaveLength(3);
		const reply = session.entries.flatMap((each) => ("message" in each ? [each.message] : []));
		const call = JSON.stringify(reply).match(/"type":"toolCall","id":"([^"]+)"/)?.[1];
		expect(entry?.parent).toBe(call);
		const ofTools = events.flatMap((event) => ("toolCallId" in event ? [{ ...event, type: event.type }] : []));
		expect(ofTools.map((event) => `${event.type} ${event.toolName} ${event.caller?.hook ?? "model"}`)).toEqual([
			"tool_execution_start outer model",
			"tool_execution_start read outer",
			"tool_execution_end read outer",
			"tool_execution_end outer model",
		]);
		expect(ofTools[1]?.caller).toEqual({ hook: "outer", toolCallId: call });
		expect(existsSync(join(cwd, "a.txt"))).toBe(true);
	});

	test("runs from a command, without a parent, and the entry is not part of the context", async () => {
		const { session, run, nested, provider, sent } = await start({ files });
		provider.reply("hello", "again");
		await session.prompt("hi");
		expect(await run('/call read {"path":"a.txt"}')).toContain("one");
		expect(nested()).toEqual([expect.not.objectContaining({ parent: expect.anything() })]);
		await session.prompt("more");
		expect(sent(2)).toEqual(["user: hi", "assistant: hello", "user: more"]);
	});

	test("refuses unknown tools, tools that are off, and arguments that JSON cannot represent", async () => {
		const { run } = await start({
			body: `pi.command("off", { async handler(ctx) {
				ctx.tools.setActive(ctx.tools.all.map(({ name }) => name).filter((name) => name !== "write"));
				return { status: "off" };
			} });
			pi.command("bad", { async handler(ctx) {
				const codes = [];
				for (const call of [[1], ["read", 1], ["read", { a: 1n }], ["read", {}, { signal: 1 }]])
					await ctx.tools.call(...call).catch((error) => codes.push(error.code));
				return { status: codes.join(" ") };
			} });`,
		});
		expect(await run("/call reed")).toBe('tool_unknown: There is no tool "reed"');
		expect(await run("/off")).toBe("off");
		expect(await run("/call write")).toBe('tool_unknown: The tool "write" is off');
		expect(await run("/bad")).toBe("bad_arguments bad_arguments bad_arguments bad_arguments");
	});

	test("a call with invalid arguments and one that fails are results", async () => {
		const { run, nested } = await start();
		expect(await run("/call read")).toContain("path is missing");
		expect(await run('/call read {"path":"missing"}')).toContain("missing");
		expect(nested().map(({ isError }) => isError)).toEqual([true, true]);
	});

	test("tool_call handlers see the caller, block, and change the input; tool_result handlers change the result", async () => {
		const seen: unknown[] = [];
		share("__gate", (fact: unknown) => void seen.push(fact));
		share("__seen", (result: unknown) => void seen.push(result));
		const guard = hook(`
			pi.on("tool_call", ({ toolName, input, caller }) => {
				globalThis.__gate([toolName, caller]);
				if (toolName === "write") return { block: true, reason: "no writing" };
				if (input.path === "b.txt") return { input: { path: "a.txt" } };
			});
			pi.on("tool_result", ({ content, caller }) =>
				caller && { content: content.map((block) => ({ ...block, text: block.text.replace("one", "[redacted]") })) });`);
		const { run, nested, cwd, session } = await start({ files, hooks: { "a-guard.ts": guard } });
		expect(await run('/call write {"path":"x","content":"y"}')).toBe("no writing");
		expect(existsSync(join(cwd, "x"))).toBe(false);
		expect(seen).toEqual([
			["write", { hook: "outer" }],
			{ content: [{ type: "text", text: "no writing" }], isError: true, blockedBy: "a-guard" },
		]);
		expect(await run('/call read {"path":"b.txt"}')).toContain("[redacted]");
		expect(nested()[1]).toMatchObject({
			input: { path: "a.txt" },
			gate: { changed: { by: ["a-guard"], from: { path: "b.txt" }, to: { path: "a.txt" } } },
		});
		expect(JSON.stringify(session.entries)).not.toContain("one");
	});

	test("an `ask` names the caller", async () => {
		const asked: string[] = [];
		const { run } = await start({
			files,
			hooks: { "ask.ts": hook('pi.on("tool_call", () => ({ ask: "Really?" }));') },
			ui: { confirm: async (title: string, message: string) => !asked.push(`${title} · ${message}`) },
		});
		expect(await run('/call read {"path":"a.txt"}')).toContain("The user refused");
		expect(asked).toEqual(["Really? · read: a.txt\ncalled by hook outer"]);
	});

	test("a tool cannot be called from its own run, however long the way", async () => {
		const { session, provider, sent } = await start({
			body: `pi.tool({ name: "middle", description: "d", parameters: list, run: async (_, { ctx }) =>
				say(textOf(await ctx.tools.call("outer", { tool: "read" }))) });`,
		});
		provider.reply(
			[toolCall("outer", { tool: "outer", args: { tool: "read" } })],
			[toolCall("outer", { tool: "middle" })],
			"ok",
		);
		await session.prompt("go");
		expect(sent(2).at(-1)).toContain("cannot be called from its own run: outer → outer.");
		expect(sent(3).at(-1)).toContain("cannot be called from its own run: outer → middle → outer.");
	});

	test.each(["tool_call", "tool_result", "context"])(
		"is refused in a handler of %s, which says what to use",
		async (event) => {
			const { session, provider, notices, nested } = await start({
				files,
				body: `pi.on(${JSON.stringify(event)}, async (_, ctx) => { await ctx.tools.call("read", { path: "a.txt" }); });`,
			});
			provider.reply([toolCall("ls", {})], "done");
			await session.prompt("go");
			expect(notices().join("\n")).toMatch(/cannot be (called|used).*(turn_end)/);
			expect(nested()).toEqual([]);
		},
	);

	test.each(["turn_start", "turn_end", "before_request", "agent_end", "message_update"])(
		"works in %s",
		async (event) => {
			const { session, provider, notices, nested } = await start({
				files,
				body: `let once = false; pi.on(${JSON.stringify(event)}, async (_, ctx) => {
				if (once) return; once = true;
				await ctx.tools.call("read", { path: "a.txt" });
			});`,
			});
			provider.reply([text("I look."), toolCall("ls", {})], "done");
			await session.prompt("go");
			expect(notices()).toEqual([]);
			expect(nested()).toHaveLength(1);
			expect(nested()[0]).not.toHaveProperty("parent");
		},
	);

	test("calls that change something run one after another, also within a call; read-only ones at the same time", async () => {
		const steps: string[] = [];
		share("__step", async (name: string) => {
			steps.push(`+${name}`);
			await new Promise(setImmediate);
			await new Promise(setImmediate);
			steps.push(`-${name}`);
		});
		const { run } = await start({
			body: `
				const step = { type: "object", properties: { name: { type: "string" } } };
				const work = async ({ name }) => { await globalThis.__step(name); return say(name); };
				pi.tool({ name: "change", description: "d", parameters: step, run: work });
				pi.tool({ name: "look", description: "d", parameters: step, readOnly: true, run: work });
				pi.tool({ name: "twice", description: "d", parameters: list, async run(_, { ctx }) {
					const call = (name) => ctx.tools.call("change", { name });
					return say((await Promise.all([call("c"), call("d")])).map(textOf).join());
				} });
				const all = (calls) => async (ctx) => ({ status: (await Promise.all(calls(ctx))).map(textOf).join() });
				pi.command("change", { handler: all(({ tools }) => ["a", "b"].map((name) => tools.call("change", { name }))) });
				pi.command("look", { handler: all(({ tools }) => ["a", "b"].map((name) => tools.call("look", { name }))) });
				pi.command("twice", { handler: all(({ tools }) => [tools.call("twice"), tools.call("change", { name: "e" })]) });`,
		});
		const taken = () => steps.splice(0).join(" ");
		expect(await run("/change")).toBe("a,b");
		expect(taken()).toBe("+a -a +b -b");
		await run("/look");
		expect(taken()).toBe("+a +b -a -b");
		expect(await run("/twice")).toBe("c,d,e");
		expect(taken()).toBe("+c -c +d -d +e -e");
	});

	test("ends with an abort of the run, and with the signal of the caller", async () => {
		const gate = createGate();
		share("__gate", gate.opened);
		share("__began", createGate());
		const { session, provider, nested, run } = await start({
			body: `
				pi.tool({ name: "wait", description: "d", parameters: list, async run(_, { signal }) {
					globalThis.__began.open();
					await new Promise((resolve) => signal.addEventListener("abort", resolve));
					return say("stopped early");
				} });
				pi.command("timed", { async handler(ctx) {
					const own = new AbortController();
					const result = ctx.tools.call("wait", {}, { signal: own.signal });
					globalThis.__began.opened.then(() => own.abort());
					return { status: textOf(await result) };
				} });`,
		});
		expect(await run("/timed")).toBe("stopped early");
		share("__began", createGate());
		provider.reply([toolCall("outer", { tool: "wait" })]);
		const began = (Reflect.get(globalThis, "__began") as ReturnType<typeof createGate>).opened;
		const ended = session.prompt("go");
		await began;
		await session.abort();
		await ended;
		expect(nested().map(({ content }) => content)).toEqual([
			[{ type: "text", text: "stopped early" }],
			[{ type: "text", text: "stopped early" }],
		]);
	});

	test("what goes on after an abort calls nothing any more", async () => {
		const began = createGate();
		share("__began", began);
		const over = createGate();
		share("__over", over);
		const { session, nested, cwd, notices } = await start({
			body: `
				pi.tool({ name: "wait", description: "d", parameters: list, async run(_, { signal }) {
					globalThis.__began.open();
					await new Promise((resolve) => signal.addEventListener("abort", resolve));
					return say("stopped early");
				} });
				pi.command("loop", { async handler(ctx) {
					await ctx.tools.call("wait");
					await ctx.tools.call("write", { path: "made", content: "x" }).finally(() => globalThis.__over.open());
				} });`,
		});
		const command = session.prompt("/loop");
		await began.opened;
		await session.abort();
		await Promise.all([command, over.opened]);
		expect(nested().map(({ toolName }) => toolName)).toEqual(["wait"]);
		expect(existsSync(join(cwd, "made"))).toBe(false);
		expect(notices()).toEqual([]);
	});

	test("a handler with a time limit may wait for a slow tool", async () => {
		const { session, provider, notices, nested } = await start({
			userSettings: { hookTimeout: 100 },
			body: `pi.on("agent_end", async (_, ctx) => { await ctx.tools.call("bash", { command: "sleep 0.4; echo slow" }); });`,
		});
		provider.reply("done");
		await session.prompt("go");
		expect(notices()).toEqual([]);
		expect(nested()[0]?.content).toEqual([{ type: "text", text: expect.stringContaining("slow") }]);
	});

	test("many calls at the same time listen to signals of their own, and one that was aborted before runs nothing", async () => {
		const warnings: Error[] = [];
		const onWarning = (warning: Error) => void warnings.push(warning);
		process.on("warning", onWarning);
		onTestFinished(() => void process.off("warning", onWarning));
		const { session, provider, nested, run } = await start({
			files,
			body: `
				pi.on("turn_end", async (_, ctx) => {
					await Promise.all(Array.from({ length: 20 }, () => ctx.tools.call("read", { path: "a.txt" })));
				});
				pi.command("late", { async handler(ctx) {
					return { status: textOf(await ctx.tools.call("write", { path: "b", content: "" }, { signal: AbortSignal.abort() })) };
				} });`,
		});
		provider.reply("done");
		await session.prompt("go");
		expect(nested()).toHaveLength(20);
		expect(await run("/late")).toContain("aborted");
		expect(warnings).toEqual([]);
	});

	test("calls survive a restart, and the session is read as before", async () => {
		const { session, provider, agentDir, cwd } = await start({ files, session: { kind: "new" } });
		provider.reply([toolCall("outer", { tool: "read", args: { path: "a.txt" } })], "done", "again");
		await session.prompt("go");
		const path = session.sessionFile ?? "";
		await session.dispose();
		expect(readFileSync(path, "utf8")).toContain('"type":"hook_tool_call"');
		const next = await startSession({ provider, agentDir, cwd, session: { kind: "open", target: path } });
		expect(next.notices()).toEqual([]);
		expect(next.session.entries.filter(isHookToolCallEntry)).toHaveLength(1);
		await next.session.prompt("more");
		expect(next.sent(3)).toHaveLength(5);
	});
});
