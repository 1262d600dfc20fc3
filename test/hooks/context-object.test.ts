import { mkdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { isMessageEntry } from "../../src/log/entry.js";
import { startSession } from "../helpers/session.js";
import { tempAgentDir, tempDir } from "../helpers/temp.js";
import { hook } from "./support.js";

describe("the context object", () => {
	test("saves entries; rejects values that the log cannot represent and writes nothing", async () => {
		const { session, notices } = await startSession({
			hooks: {
				"s.ts": hook(`pi.command("save", { handler: async (ctx) => {
					const cycle = { type: "x" }; cycle.self = cycle;
					const tries = [{}, { type: "" }, { type: "message" }, { type: "opaque" }, cycle, { type: "x", n: 1n }, { type: "x", f() {} }, { type: "x", m: new Map() }, { type: "x", list: [NaN] }, { type: "x", e: new Error("x") }, null, "x"];
					const refused = [];
					for (const entry of tries) await ctx.saveEntry(entry).catch((e) => refused.push(e.code + " " + e.message.includes("s.ts")));
					const index = await ctx.saveEntry({ type: "mine", n: 1, at: new Date(0), none: undefined });
					const more = await ctx.saveEntries([{ type: "mine" }, { type: "mine", timestamp: 5 }]);
					return { status: refused.join() + " | " + index + " " + more.join() };
				} });`),
			},
		});
		const { length } = session.entries;
		const result = await session.prompt("/save");
		expect(result).toEqual({ kind: "command", status: `${Array(12).fill("entry_refused true").join()} | 1 2,3` });
		expect(session.entries.length).toBe(length + 3);
		expect(session.entries[1]).toEqual({
			type: "mine",
			n: 1,
			at: "1970-01-01T00:00:00.000Z",
			timestamp: expect.any(String),
		});
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

	test("models are frozen, and setModel rejects a value that is not a model", async () => {
		const { session } = await startSession({
			hooks: {
				"m.ts": hook(`pi.command("try", { handler: async (ctx) => {
					const told = [];
					const models = [ctx.model, ctx.findModel("loopback", "scripted"), ...(await ctx.availableModels())];
					for (const model of models) try { model.provider = "other"; } catch (e) { told.push(e.name); }
					for (const model of [undefined, "x", {}]) await ctx.setModel(model).catch((e) => told.push(e.message));
					try { ctx.setThinkingLevel("very"); } catch (e) { told.push(e.message); }
					await ctx.setModel({ ...ctx.findModel("loopback-anthropic", "scripted") });
					return { status: [...told, ctx.model.provider].join("\\n") };
				} });`),
			},
		});
		const { status } = { status: null, ...(await session.prompt("/try")) };
		expect(status?.split("\n")).toEqual([
			...Array(4).fill("TypeError"),
			"ctx.setModel expects a model, not undefined",
			"ctx.setModel expects a model, not x",
			"ctx.setModel expects a model, not {}",
			"ctx.setThinkingLevel does not accept very",
			"loopback-anthropic",
		]);
	});

	test("exec sends stdin to a program, and one with a timeout pauses the time limit of a handler, but not at shutdown", async () => {
		const agentDir = tempAgentDir();
		const { session, provider, notices } = await startSession({
			agentDir,
			userSettings: { hookTimeout: 200 },
			hooks: {
				"x.ts": hook(`
					const run = (ctx, seconds) => ctx.exec("sh", ["-c", "cat; sleep " + seconds], { stdin: "given", timeout: 30_000 });
					pi.on("prompt", async (e, ctx) => ({ text: (await run(ctx, 0.5)).stdout }));
					pi.on("session", async ({ reason }, ctx) => { if (reason === "shutdown") await run(ctx, 60); });
				`),
			},
		});
		provider.reply("ok");
		await session.prompt("go");
		expect(provider.requests[0]?.messages.at(-1)?.text).toBe("given");
		expect(notices()).toEqual([]);
		await session.dispose();
		expect(notices()).toEqual([expect.stringMatching(/^session: timed out after \d+ ms/)]);
	});

	test("effects in a context handler are rejected with an explanation", async () => {
		const { session, provider, notices } = await startSession({
			hooks: {
				"e.ts": hook(`let told = false; pi.on("context", async (e, ctx) => { if (told) return; told = true;
					const errors = []; for (const f of [() => ctx.saveEntry({ type: "x" }), () => ctx.rebuildContext()]) try { await f(); } catch (x) { errors.push(x.code); }
					throw new Error(errors.join()); });`),
			},
		});
		provider.reply("ok");
		await session.prompt("go");
		expect(notices()).toEqual(["context: context_locked,context_locked"]);
		expect(session.entries.length).toBe(3);
	});

	test("a stale ctx or pi throws an error that names the replacement", async () => {
		const { session } = await startSession({
			hooks: {
				"k.ts": hook(
					'let kept; pi.command("keep", { handler: (ctx) => { kept ??= ctx; return { status: kept.cwd }; } }); globalThis.__pi = pi;',
				),
			},
		});
		await session.prompt("/keep");
		await session.newSession();
		await expect(session.prompt("/keep")).rejects.toThrow(/the session changed/);
		const pi = Reflect.get(globalThis, "__pi");
		await session.dispose();
		expect(() => pi.send("x")).toThrow(/after the hook was unloaded/);
		Reflect.deleteProperty(globalThis, "__pi");
	});

	test("members of a stale ctx that return promises reject instead of throwing", async () => {
		const { session } = await startSession({
			hooks: {
				"k.ts": hook(`let kept; pi.command("keep", { async handler(ctx) {
					const first = kept === undefined;
					kept ??= ctx;
					const { model } = ctx;
					const calls = [() => kept.exec("true", []), () => kept.availableModels(), () => kept.resolveApiKey(model),
						() => kept.requestAuth(model), () => kept.stream(model, { messages: [] }), () => kept.saveEntry({ type: "x" }), () => kept.rebuildContext()];
					const answers = first ? [] : calls.map((call) => call().then(() => "done", ({ code }) => code));
					return { status: (await Promise.all(answers)).join() };
				} });`),
			},
		});
		await session.prompt("/keep");
		await session.newSession();
		expect(await session.prompt("/keep")).toMatchObject({ status: Array(7).fill("hook_stale").join() });
	});

	test("requestAuth returns key and headers of models.json; undefined without a key", async () => {
		const { session } = await startSession({
			modelOptions: { headers: { "x-team": "blue" } },
			hooks: {
				"k.ts": hook(`pi.command("auth", { handler: async (ctx) => {
					const known = await ctx.requestAuth(ctx.model);
					const unknown = await ctx.requestAuth(ctx.findModel("openai", "gpt-4o"));
					return { status: JSON.stringify([known, unknown, await ctx.resolveApiKey(ctx.model)]) };
				} });`),
			},
		});
		const auth = { apiKey: "loopback-key", headers: { "x-team": "blue" } };
		expect(await session.prompt("/auth")).toMatchObject({ status: JSON.stringify([auth, undefined, "loopback-key"]) });
	});

	test("stream sends a request with key and headers, which counts; a context handler cannot", async () => {
		const { session, provider, notices } = await startSession({
			modelOptions: { headers: { "x-team": "blue" }, cost: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 } },
			hooks: {
				"k.ts": hook(`
				const context = { messages: [{ role: "user", content: "why?", timestamp: 0 }] };
				pi.command("ask", { handler: async (ctx) => {
					const events = await ctx.stream(ctx.model, context, { headers: { "x-own": "1" } });
					return { status: (await events.result()).content[0].text };
				} });
				pi.on("context", async (_, ctx) => { await ctx.stream(ctx.model, context); });`),
			},
		});
		provider.reply("because");
		expect(await session.prompt("/ask")).toMatchObject({ status: "because" });
		expect(provider.requests[0]?.headers).toMatchObject({ "x-team": "blue", "x-own": "1" });
		expect(session.entries.at(-1)).toMatchObject({ type: "request_usage", purpose: "hook k" });
		expect(session.stats().cost).toBeGreaterThan(0);
		expect(notices().join("\n")).toContain("ctx.stream cannot be used in a context handler");
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

	test("entries of hooks that are not loaded are reported once and have no effect", async () => {
		const agentDir = tempAgentDir();
		const sessionDir = tempDir();
		mkdirSync(sessionDir, { recursive: true });
		const saver = hook('pi.command("save", { handler: async (ctx) => { await ctx.saveEntry({ type: "mine" }); } });');
		const first = await startSession({ agentDir, sessionDir, session: { kind: "new" }, hooks: { "h.ts": saver } });
		first.provider.reply("a1");
		await first.session.prompt("one");
		await first.session.prompt("/save");
		await first.session.dispose();
		const { cwd } = first;
		const second = await startSession({
			agentDir,
			sessionDir,
			cwd,
			session: { kind: "continue" },
			discoverHooks: false,
		});
		expect(second.session.loaded.warnings).toEqual([expect.stringContaining("mine (1)")]);
		expect(second.session.entries.filter(isMessageEntry).length).toBe(2);
	});
});
