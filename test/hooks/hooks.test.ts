import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isMessageEntry } from "../../src/log/entry.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { tempAgentDir, tempDir, writeHook } from "../helpers/temp.js";

/** A hook whose factory has this body. */
const hook = (body: string) => `export default function (pi) {\n${body}\n}\n`;

describe("loading", () => {
	test("goes in order: global by name, project, settings, flag; each file once, by real path", async () => {
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

	test("project hooks do not run before they are trusted; one line names them and what to do", async () => {
		const cwd = tempDir();
		writeHook(join(cwd, ".pi", "hooks"), "evil.ts", "globalThis.__ran = true; export default () => {};");
		const { session } = await startSession({ cwd });
		expect(Reflect.get(globalThis, "__ran")).toBeUndefined();
		expect(session.loaded.hooks).toEqual([]);
		expect(session.loaded.warnings.join("\n")).toMatch(/evil\.ts.*--trust/);
	});

	test("what the user trusts runs until it changes", async () => {
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
		["a syntax error", "export default function (pi) {\n  const = 1;\n}", /bad\.ts:2 did not load/],
		["a throw", "export default function () {\n  throw new Error('no luck');\n}", /bad\.ts:2 did not load: no luck/],
		["no default function", "export const x = 1;", /no default export/],
		["a missing import", "import './nowhere';\nexport default () => {};", /nowhere/],
		["an unknown event", hook('pi.on("sesion", () => {});'), /unknown event "sesion".*session, agent_start/],
		["a bad command name", hook('pi.command("no spaces", { handler() {} });'), /cannot be a command/],
		["an async factory that rejects", "export default async () => {\n  throw new Error('later');\n}", /later/],
		["undefined thrown", hook("throw undefined;"), /undefined was thrown/],
	])("a hook with %s is named with its reason and the others load", async (_, source, message) => {
		const { session } = await startSession({ hooks: { "bad.ts": source, "good.ts": hook("") } });
		expect(session.loaded.hooks.map(({ name }) => name)).toEqual(["good"]);
		expect(session.loaded.warnings).toEqual([expect.stringMatching(message)]);
	});

	test("a --hook file that is missing is named and the program goes on", async () => {
		const { session } = await startSession({ hookFiles: ["/nowhere/x.ts"] });
		expect(session.loaded.warnings).toEqual([expect.stringContaining("/nowhere/x.ts cannot be read")]);
	});

	test("hooks share the program's own packages, wherever the file lives", async () => {
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

	test("two hooks with one command: the later wins and both files are named; built-in names are refused", async () => {
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

	test("reload sees edits, and keeps the old version of a hook that no longer loads", async () => {
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

describe("events", () => {
	const RECORD = hook(`
		for (const name of ["agent_start", "agent_end", "turn_start", "turn_end", "tool_call", "tool_result", "context"])
			pi.on(name, (event, ctx) => { globalThis.__seen.push(name + (event.turnIndex ?? "")); });
		pi.on("session", (event) => { globalThis.__seen.push("session:" + event.reason); });
	`);

	test("come in the order of the life cycle", async () => {
		const seen: string[] = [];
		Reflect.set(globalThis, "__seen", seen);
		const { session, provider } = await startSession({ hooks: { "r.ts": RECORD } });
		provider.reply([toolCall("bash", { command: "true" })], "done");
		await session.prompt("go");
		await session.lifecycle.newSession();
		await session.dispose();
		expect(seen).toEqual([
			"context",
			"session:start",
			"agent_start",
			"turn_start0",
			"context",
			"tool_call",
			"tool_result",
			"turn_end0",
			"turn_start1",
			"context",
			"turn_end1",
			"agent_end",
			"session:before_clear",
			"context",
			"session:clear",
			"session:shutdown",
		]);
	});

	test("tool_call blocks: the first block wins and the model reads the reason; the result handler does not run", async () => {
		const { session, provider, sent } = await startSession({
			hooks: {
				"a.ts": hook(
					'pi.on("tool_call", (e) => e.input.command === "rm x" ? { block: true, reason: "not today" } : undefined);',
				),
				"b.ts": hook('pi.on("tool_call", () => { throw new Error("never asked"); });'),
				"c.ts": hook('pi.on("tool_result", () => ({ content: [{ type: "text", text: "changed" }] }));'),
			},
		});
		provider.reply([toolCall("bash", { command: "rm x" })], "ok");
		await session.prompt("go");
		expect(sent(2).at(-1)).toBe("tool: not today");
	});

	test("a tool_call handler that throws blocks the tool, and is reported", async () => {
		const { session, provider, sent, notices } = await startSession({
			hooks: { "a.ts": hook('pi.on("tool_call", () => { throw new Error("gate broke"); });') },
		});
		provider.reply([toolCall("bash", { command: "echo ran" })], "ok");
		await session.prompt("go");
		expect(sent(2).at(-1)).toBe("tool: Blocked: the hook a failed: gate broke");
		expect(notices()).toEqual(["tool_call: gate broke"]);
	});

	test("tool_call input is a frozen copy", async () => {
		const { session, provider, sent } = await startSession({
			hooks: { "a.ts": `"use strict"; ${hook('pi.on("tool_call", (e) => { e.input.command = "echo other"; });')}` },
		});
		provider.reply([toolCall("bash", { command: "echo mine" })], "ok");
		await session.prompt("go");
		expect(sent(2).at(-1)).toMatch(/Blocked: the hook a failed.*read.only/);
	});

	test("tool_result handlers chain, also for errors; garbage is refused", async () => {
		const { session, provider, sent, notices } = await startSession({
			hooks: {
				"a.ts": hook(
					'pi.on("tool_result", (e) => ({ content: [{ type: "text", text: "A(" + e.content[0].text + ")" }], isError: false }));',
				),
				"b.ts": hook(
					'pi.on("tool_result", (e) => ({ content: [{ type: "text", text: "B(" + e.content[0].text + ")" + e.isError }] }));',
				),
				"c.ts": hook('pi.on("tool_result", () => ({ content: "text" }));'),
			},
		});
		provider.reply([toolCall("read", { path: "missing.txt" })], "ok");
		await session.prompt("go");
		expect(sent(2).at(-1)).toMatch(/^tool: B\(A\(.*missing\.txt.*\)\)false$/s);
		expect(notices()).toEqual([expect.stringContaining("content must be a list")]);
	});

	test.each(["session", "agent_start", "agent_end", "turn_start", "turn_end", "tool_result", "context"])(
		"a %s handler that throws is reported with path and event, and the run goes on",
		async (event) => {
			const { session, provider, events } = await startSession({
				hooks: { "t.ts": hook(`pi.on("${event}", () => { throw new Error("oops"); });`) },
			});
			provider.reply([toolCall("bash", { command: "true" })], "done");
			await session.prompt("go");
			const errors = events.filter((item) => item.type === "hook_error");
			expect(errors.length).toBeGreaterThan(0);
			expect(errors[0]).toMatchObject({ hookPath: expect.stringContaining("t.ts"), event, error: "oops" });
			expect(session.entries.length).toBe(5);
		},
	);

	test.each(["agent_start", "turn_start", "turn_end", "agent_end", "tool_result", "context"])(
		"a %s handler that never settles is abandoned after hookTimeout, its signal aborted",
		async (event) => {
			const { session, provider, notices } = await startSession({
				userSettings: { hookTimeout: 30 },
				hooks: {
					"t.ts": hook(
						`pi.on("${event}", (e, ctx) => new Promise(() => { ctx.signal.addEventListener("abort", () => { globalThis.__aborted = true; }); }));`,
					),
				},
			});
			provider.reply([toolCall("bash", { command: "true" })], "done");
			await session.prompt("go");
			expect(notices()[0]).toBe(`${event}: it did not settle within 30 ms`);
			expect(Reflect.get(globalThis, "__aborted")).toBe(true);
			Reflect.deleteProperty(globalThis, "__aborted");
		},
	);

	test("the time that a dialog is open does not count", async () => {
		const { session, provider, notices } = await startSession({
			userSettings: { hookTimeout: 40 },
			hooks: { "t.ts": hook('pi.on("turn_start", async (e, ctx) => { await ctx.ui.confirm("sure?", ""); });') },
			ui: { confirm: () => new Promise((resolve) => setTimeout(() => resolve(true), 120)) },
		});
		provider.reply("done");
		await session.prompt("go");
		expect(notices()).toEqual([]);
	});

	test.each(["turn_start", "context", "tool_call", "tool_result"])(
		"abort ends the wait for a %s handler at once",
		async (event) => {
			const { session, provider } = await startSession({
				hooks: {
					"t.ts": hook(
						`let first = true; pi.on("${event}", () => { if ("${event}" === "context" && first) { first = false; return; } globalThis.__waiting?.(); return new Promise(() => {}); });`,
					),
				},
			});
			provider.reply([toolCall("bash", { command: "true" })], "done");
			const waiting = new Promise<void>((resolve) => Reflect.set(globalThis, "__waiting", resolve));
			const run = session.prompt("go");
			await waiting;
			await session.abort();
			await run;
			expect(session.isRunning).toBe(false);
			Reflect.deleteProperty(globalThis, "__waiting");
		},
	);

	test("before_compact may give its own summary; compact tells of it", async () => {
		const { session, provider, sent, notices } = await startSession({
			userSettings: { compaction: { enabled: false, keepRecentTokens: 5 } },
			hooks: {
				"c.ts": hook(`pi.on("session", (e, ctx) => {
					if (e.reason === "before_compact") return { compactionEntry: { type: "compaction", timestamp: new Date().toISOString(),
						summary: e.messagesToSummarize.length + " messages", firstKeptEntryIndex: e.cutPoint.firstKeptEntryIndex, tokensBefore: e.tokensBefore } };
					if (e.reason === "compact") ctx.ui.notify("fromHook " + e.fromHook);
				});`),
			},
		});
		provider.reply("a1", "a2", "a3");
		await session.prompt("one");
		await session.prompt("two");
		await session.compact();
		await session.prompt("three");
		expect(sent(3)[0]).toContain("<summary>\n3 messages\n</summary>");
		expect(sent(3).slice(1)).toEqual(["assistant: a2", "user: three"]);
		expect(notices()).toEqual([]);
	});

	test.each([
		["before_clear", "/new", "A hook kept the session"],
		["before_branch", "/branch 1", "A hook kept the session"],
	])("%s can be cancelled", async (reason, command, status) => {
		const { session, provider } = await startSession({
			hooks: { "c.ts": hook(`pi.on("session", (e) => e.reason === "${reason}" ? { cancel: true } : undefined);`) },
		});
		provider.reply("a1");
		await session.prompt("one");
		expect(await session.prompt(command)).toMatchObject({ status });
		expect(session.entries.length).toBe(3);
	});

	test("skipConversationRestore branches with all entries", async () => {
		const { session, provider } = await startSession({
			hooks: {
				"c.ts": hook(
					'pi.on("session", (e) => e.reason === "before_branch" ? { skipConversationRestore: true } : undefined);',
				),
			},
		});
		provider.reply("a1", "a2");
		await session.prompt("one");
		await session.prompt("two");
		expect(await session.lifecycle.branch(3)).toBe("two");
		expect(session.entries.length).toBe(5);
	});
});

describe("the context object", () => {
	test("saves entries, refuses what the log cannot hold, and writes nothing then", async () => {
		const { session, notices } = await startSession({
			hooks: {
				"s.ts": hook(`pi.command("save", { handler: async (ctx) => {
					const cycle = { type: "x" }; cycle.self = cycle;
					const tries = [{}, { type: "" }, { type: "message" }, { type: "opaque" }, cycle, { type: "x", n: 1n }, { type: "x", f() {} }, null, "x"];
					const refused = [];
					for (const entry of tries) await ctx.saveEntry(entry).catch((e) => refused.push(e.code + " " + e.message.includes("s.ts")));
					const index = await ctx.saveEntry({ type: "mine", n: 1 });
					const more = await ctx.saveEntries([{ type: "mine" }, { type: "mine", timestamp: 5 }]);
					return { status: refused.join() + " | " + index + " " + more.join() };
				} });`),
			},
		});
		const { length } = session.entries;
		const result = await session.prompt("/save");
		expect(result).toEqual({ kind: "command", status: `${Array(9).fill("entry_refused true").join()} | 1 2,3` });
		expect(session.entries.length).toBe(length + 3);
		expect(session.entries[3]).toMatchObject({ type: "mine", timestamp: 5 });
		expect(notices().length).toBe(1);
	});

	test("entries and messages are frozen, and current", async () => {
		const { session, provider } = await startSession({
			hooks: {
				"f.ts": hook(`pi.command("look", { handler: (ctx) => {
					const kinds = [];
					for (const list of [ctx.entries, ctx.messages]) try { list.push(1); } catch (e) { kinds.push(e.name); }
					try { ctx.entries[1].message.content = "x"; } catch (e) { kinds.push(e.name); }
					return { status: kinds.join() + " " + ctx.entries.length + " " + ctx.messages.length + " " + ctx.model.id + " " + ctx.thinkingLevel + " " + ctx.hasUI + " " + ctx.sessionFile };
				} });`),
			},
		});
		provider.reply("a1");
		await session.prompt("one");
		expect(await session.prompt("/look")).toMatchObject({
			status: "TypeError,TypeError,TypeError 3 2 scripted medium false null",
		});
	});

	test("a context handler cannot cause effects, and says so", async () => {
		const { session, provider, notices } = await startSession({
			hooks: {
				"e.ts": hook(`let told = false; pi.on("context", async (e, ctx) => { if (told) return; told = true;
					const errors = []; for (const f of [() => ctx.saveEntry({ type: "x" }), () => ctx.rebuildContext()]) await f().catch((x) => errors.push(x.code));
					throw new Error(errors.join()); });`),
			},
		});
		provider.reply("ok");
		await session.prompt("go");
		expect(notices()).toEqual(["context: context_locked,context_locked"]);
		expect(session.entries.length).toBe(3);
	});

	test("a ctx or pi kept past its session or its hook throws, saying what to use instead", async () => {
		const { session } = await startSession({
			hooks: {
				"k.ts": hook(
					'let kept; pi.command("keep", { handler: (ctx) => { kept ??= ctx; return { status: kept.cwd }; } }); globalThis.__pi = pi;',
				),
			},
		});
		await session.prompt("/keep");
		await session.lifecycle.newSession();
		await expect(session.prompt("/keep")).rejects.toThrow(/the session was left/);
		const pi = Reflect.get(globalThis, "__pi");
		await session.dispose();
		expect(() => pi.send("x")).toThrow(/after the hook was unloaded/);
		Reflect.deleteProperty(globalThis, "__pi");
	});

	test("exec runs programs without a shell and never rejects", async () => {
		const { session } = await startSession({
			hooks: {
				"x.ts": hook(`pi.command("x", { handler: async (ctx) => {
					const a = await ctx.exec("echo", ["$HOME; x"]);
					const b = await ctx.exec("no-such-program", []);
					const c = await ctx.exec("sleep", ["5"], { timeout: 20 });
					return { status: JSON.stringify([a.stdout, a.code, b.code, c.killed, c.code !== 0]) };
				} });`),
			},
		});
		expect(await session.prompt("/x")).toMatchObject({ status: JSON.stringify(["$HOME; x\n", 0, 127, true, true]) });
	});

	test("commands get arguments as a shell splits them, can be aborted, and report their errors", async () => {
		const { session } = await startSession({
			hooks: {
				"c.ts": hook(`
					pi.command("args", { handler: (ctx) => ({ status: JSON.stringify([ctx.args, ctx.argsRaw]) }) });
					pi.command("boom", { handler: () => { throw new Error("bang"); } });
					pi.command("hang", { handler: (ctx) => new Promise(() => { globalThis.__hanging(); }) });`),
			},
		});
		expect(await session.prompt(`/args "a b" c\\ d 'e`)).toMatchObject({
			status: JSON.stringify([["a b", "c d", "'e"], `"a b" c\\ d 'e`]),
		});
		await expect(session.prompt("/boom")).rejects.toMatchObject({
			code: "command_failed",
			message: "/boom failed: bang",
		});
		const hanging = new Promise<void>((resolve) => Reflect.set(globalThis, "__hanging", resolve));
		const run = session.prompt("/hang");
		await hanging;
		await session.abort();
		expect(await run).toEqual({ kind: "command", status: null });
		Reflect.deleteProperty(globalThis, "__hanging");
	});

	test("unknown commands name the nearest; paths are text", async () => {
		const { session, provider } = await startSession();
		await expect(session.prompt("/modle")).rejects.toMatchObject({
			code: "bad_arguments",
			hint: expect.stringContaining("/model"),
		});
		provider.reply("ok");
		await session.prompt("/usr/bin/env is where?");
		expect(session.entries.length).toBe(3);
	});

	test("what a command returns is sent, shown or nothing", async () => {
		const { session, provider, sent } = await startSession({
			hooks: {
				"r.ts": hook(
					'pi.command("ask", { handler: (ctx) => "about " + ctx.argsRaw }); pi.command("file", { handler: () => ({ prompt: "see", attachments: [{ id: "1", type: "document", fileName: "n.txt", mimeType: "text/plain", size: 2, content: "aGk=" }] }) });',
				),
			},
		});
		provider.reply("a", "b");
		await session.prompt("/ask tests");
		await session.prompt("/file");
		expect(sent(1)).toEqual(["user: about tests"]);
		expect(sent(2).at(-1)).toBe('user: <file name="n.txt">\nhi\n</file>\n\nsee');
	});

	test("pi.send starts a run when idle and steers one that is on", async () => {
		const { session, provider, sent } = await startSession({
			hooks: {
				"s.ts": hook(
					'pi.on("turn_end", (e) => { if (e.turnIndex === 0 && !globalThis.__sent) { globalThis.__sent = true; pi.send("and this"); } });',
				),
			},
		});
		provider.reply([toolCall("bash", { command: "true" })], "done", "fine");
		await session.prompt("go");
		expect(sent(2).at(-1)).toBe("user: and this");
		Reflect.deleteProperty(globalThis, "__sent");
	});

	test("entries of hooks that are not loaded are named once and change nothing", async () => {
		const agentDir = tempAgentDir();
		const sessionDir = tempDir();
		mkdirSync(sessionDir, { recursive: true });
		const saver = hook('pi.command("save", { handler: async (ctx) => { await ctx.saveEntry({ type: "mine" }); } });');
		const first = await startSession({ agentDir, sessionDir, session: { kind: "new" }, hooks: { "h.ts": saver } });
		first.provider.reply("a1");
		await first.session.prompt("one");
		await first.session.prompt("/save");
		await first.session.dispose();
		const second = await startSession({ agentDir, sessionDir, session: { kind: "continue" }, discoverHooks: false });
		expect(second.session.loaded.warnings).toEqual([expect.stringContaining("mine (1)")]);
		expect(second.session.entries.filter(isMessageEntry).length).toBe(2);
	});
});
