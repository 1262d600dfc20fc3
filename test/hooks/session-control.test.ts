import { describe, expect, test } from "vitest";
import { untilActivity } from "../helpers/activity.js";
import { httpError, toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSession } from "../helpers/session.js";
import { writeFiles } from "../helpers/temp.js";
import { hook, share } from "./support.js";

const command = (name: string, body: string) => hook(`pi.command("${name}", { handler: async (ctx) => { ${body} } });`);

const errorsOf = ({ events }: TestSession) =>
	events.flatMap((event) => (event.type === "hook_error" ? [`${event.event}: ${event.error}`] : []));

describe("notices", () => {
	const NOTES =
		hook(`for (const name of ["model_changed", "thinking_level_changed", "session_named", "agent_settled", "response",
		"turn_start", "turn_end", "agent_end"]) pi.on(name, (event, ctx) => { globalThis.__note(event, ctx); });`);

	test("run in order with their fields, and agent_settled is last, when the session is idle", async () => {
		const notes: unknown[] = [];
		share("__note", (event: Record<string, unknown>, ctx: { isIdle: boolean }) => {
			const { type, level, previousLevel, name, status } = event;
			const ids = [event.previousModel, event.model].map((model) =>
				typeof model === "object" && model !== null && "provider" in model ? model.provider : "",
			);
			if (type === "model_changed") notes.push([type, ...ids]);
			else if (type === "thinking_level_changed") notes.push([type, previousLevel, level]);
			else notes.push([type, name ?? status ?? ctx.isIdle]);
		});
		const { session, provider } = await startSession({
			hooks: { "n.ts": NOTES },
			userSettings: { retry: { baseDelayMs: 1 } },
		});
		const [other] = (await session.controls.availableModels()).filter((model) => model.provider !== "loopback");
		if (!other || !session.model) throw new Error("no other model");
		const first = session.model;
		await session.setModel(other);
		await session.setModel(first);
		session.setThinkingLevel("high");
		session.setName("trial");
		provider.reply(httpError(500), "done");
		await session.prompt("go");
		expect(notes).toEqual([
			["model_changed", "loopback", other.provider],
			["model_changed", other.provider, "loopback"],
			["thinking_level_changed", "medium", "high"],
			["session_named", "trial"],
			["turn_start", false],
			["response", 500],
			["response", 200],
			["turn_end", false],
			["agent_end", false],
			["agent_settled", true],
		]);
	});

	test("agent_settled waits for the queue, and its pi.send starts a new run", async () => {
		const { session, provider, sent, cwd } = await startSession({
			hooks: {
				"a.ts": hook(`let sent = false;
					pi.on("agent_settled", (_, ctx) => { if (!sent) pi.send("settled after " + ctx.entries.length); sent = true; });`),
			},
		});
		provider.reply([toolCall("bash", { command: "until [ -e go ]; do sleep 0.02; done" })], "one", "two", "three");
		const running = session.prompt("go");
		await untilActivity(session, ({ phase }) => phase === "tools");
		await session.followUp("last");
		writeFiles(cwd, { go: "" });
		await running;
		await provider.request(4);
		expect(sent(4).slice(-2)).toEqual(["assistant: two", "user: settled after 7"]);
	});
});

describe("the context object controls the session", () => {
	test("reads state: isIdle, usage, name and mode", async () => {
		const { session, provider } = await startSession({
			hooks: {
				"a.ts": command(
					"look",
					'ctx.setSessionName("  trial "); return { status: JSON.stringify([ctx.isIdle, ctx.usage.contextWindow, Math.round(ctx.usage.percent), ctx.usage.tokens > 0, ctx.sessionName, ctx.mode]) };',
				),
			},
			modelOptions: { contextWindow: 64_000 },
		});
		provider.reply("done");
		await session.prompt("go");
		expect(await session.prompt("/look")).toMatchObject({ status: '[true,64000,0,true,"trial","sdk"]' });
		session.mode = "rpc";
		expect(await session.prompt("/look")).toMatchObject({ status: expect.stringContaining('"rpc"') });
		expect(session.sessionName).toBe("trial");
	});

	test("abort stops the run from one of its handlers", async () => {
		const { session, provider } = await startSession({
			hooks: { "a.ts": hook('pi.on("tool_call", (_, ctx) => { ctx.abort(); });') },
		});
		provider.reply([toolCall("bash", { command: "echo ran" })], "never");
		await session.prompt("go");
		expect(provider.requests.length).toBe(1);
		expect(session.activity.state).toBe("idle");
	});

	test("compact summarizes with a focus, and is refused in a handler for which a call waits", async () => {
		const started = await startSession({
			userSettings: { compaction: { enabled: false, keepRecentTokens: 1 } },
			hooks: {
				"a.ts": hook(`pi.command("shrink", { handler: async (ctx) => {
						const { tokensBefore, tokensAfter } = await ctx.compact({ focus: "names" });
						return { status: [tokensBefore, tokensAfter].every(Number.isFinite) ? "done" : "no numbers" };
					} });
					pi.on("payload", (_, ctx) => ctx.compact());`),
			},
		});
		started.provider.reply("a1 ".repeat(500), "a2", "summary");
		await started.session.prompt("one");
		expect(errorsOf(started)).toEqual([
			expect.stringMatching(/^payload: ctx.compact cannot be called from payload during a run/),
		]);
		await started.session.prompt("two");
		expect(await started.session.prompt("/shrink")).toMatchObject({ status: "done" });
		expect(started.sent(3).join()).toContain("names");
	});

	test.each([
		["newSession()", 1],
		["branch(1)", 1],
	])("%s in a command happens, and makes the context stale", async (call, length) => {
		const { session, provider } = await startSession({
			hooks: {
				"a.ts": command(
					"go",
					`const happened = await ctx.${call}; try { ctx.entries; } catch (e) { return { status: happened + " " + e.code + " " + e.message }; }`,
				),
			},
		});
		provider.reply("done");
		await session.prompt("one");
		expect(await session.prompt("/go")).toMatchObject({
			status: expect.stringMatching(/^true hook_stale ctx\.\w+ of \/go in .* was used after the session changed$/),
		});
		expect(session.entries.length).toBe(length);
	});

	test("newSession returns false if a hook cancels it, and the context stays valid", async () => {
		const { session } = await startSession({
			hooks: {
				"a.ts": command("go", 'return { status: (await ctx.newSession()) + " " + ctx.entries.length };'),
				"b.ts": hook('pi.on("session", (e) => e.reason === "before_clear" ? { cancel: true } : undefined);'),
			},
		});
		expect(await session.prompt("/go")).toMatchObject({ status: "false 1" });
	});

	test("switchSession opens a session by the start of its id, and reload loads the hook again", async () => {
		const started = await startSession({
			session: { kind: "new" },
			hooks: {
				"a.ts":
					hook(`pi.command("to", { handler: async (ctx) => ({ status: String(await ctx.switchSession(ctx.argsRaw)) }) });
					pi.command("again", { handler: async (ctx) => {
						const happened = await ctx.reload();
						try { ctx.cwd; } catch (e) { return { status: happened + " " + e.message }; }
					} });
					pi.command("leave", { handler: (ctx) => ({ status: String(ctx.quit()) }) });`),
			},
		});
		const { session } = started;
		started.provider.reply("done");
		await session.prompt("one");
		const { sessionId } = session;
		await session.newSession();
		expect(await session.prompt(`/to ${sessionId.slice(0, 8)}`)).toMatchObject({ status: "true" });
		expect(session.sessionId).toBe(sessionId);
		expect(await session.prompt("/again")).toMatchObject({
			status: expect.stringMatching(/^true .* was used after the hook was unloaded$/),
		});
		expect(await session.prompt("/leave")).toMatchObject({ status: "false" });
	});

	test("waitForIdle waits for the run, the queue and prompts of pi.send; the abort of its command ends it", async () => {
		const { session, provider } = await startSession({
			hooks: {
				"a.ts": hook(`pi.command("wait", { handler: async (ctx) => {
					pi.send("one"); pi.send("two");
					await ctx.waitForIdle();
					return { status: String(ctx.entries.length) };
				} });
				pi.command("hang", { handler: (ctx) => ctx.waitForIdle() });`),
			},
		});
		provider.reply("a1", "a2");
		expect(await session.prompt("/wait")).toMatchObject({ status: "5" });
		provider.reply([toolCall("bash", { command: "sleep 30" })]);
		const running = session.prompt("go");
		await untilActivity(session, ({ phase }) => phase === "tools");
		const hanging = session.prompt("/hang");
		await session.abort();
		expect(await hanging).toEqual({ kind: "command", status: null });
		await running;
	});

	test.each(["tool_call", "agent_end", "prompt", "agent_settled"])(
		"waitForIdle in a handler of %s rejects with a sentence instead of waiting for itself",
		async (event) => {
			const refused: string[] = [];
			share("__refused", (error: Error) => refused.push(error.message));
			const { session, provider } = await startSession({
				hooks: {
					"a.ts": hook(`pi.on("${event}", async (_, ctx) => {
						for (const member of ["waitForIdle", "newSession"]) await ctx[member]().catch(globalThis.__refused);
					});`),
				},
			});
			provider.reply([toolCall("bash", { command: "true" })], "done");
			await session.prompt("go");
			expect(refused).toEqual([
				`ctx.waitForIdle cannot be called from a handler of ${event}`,
				`ctx.newSession cannot be called from a handler of ${event}`,
			]);
		},
	);

	test("context handlers cannot cause effects", async () => {
		const refused: string[] = [];
		share("__refused", (error: { code: string; message: string }) => refused.push(`${error.code} ${error.message}`));
		const { session, provider } = await startSession({
			hooks: {
				"a.ts": hook(`let done = false;
					pi.on("context", async (_, ctx) => {
						if (done) return; done = true;
						try { ctx.abort(); } catch (e) { globalThis.__refused(e); }
						try { ctx.setSessionName("x"); } catch (e) { globalThis.__refused(e); }
						try { await ctx.compact(); } catch (e) { globalThis.__refused(e); }
					});`),
			},
		});
		provider.reply("done");
		await session.prompt("go");
		expect(refused).toEqual(
			["abort", "setSessionName", "compact"].map(
				(name) =>
					`context_locked ctx.${name} cannot be used in a context handler: use it in another event, such as turn_start, or in a command`,
			),
		);
		expect(session.sessionName).toBe(null);
	});

	test("completions of a command have no effects, and the error names them", async () => {
		const { session, notices } = await startSession({
			hooks: {
				"a.ts": hook(
					`pi.command("go", { complete: async (_, ctx) => { await ctx.saveEntry({ type: "x" }); return []; }, handler() {} });`,
				),
			},
		});
		expect(await session.completeArguments("go", "")).toEqual([]);
		expect(notices().join()).toContain("ctx.saveEntry cannot be called from complete of /go");
	});

	test("wrong arguments are named", async () => {
		const { session } = await startSession({
			hooks: {
				"a.ts": command(
					"try",
					'const told = []; try { ctx.setSessionName(" "); } catch (e) { told.push(e.message); } await ctx.compact("x").catch((e) => told.push(e.message)); return { status: told.join("\\n") };',
				),
			},
		});
		expect(await session.prompt("/try")).toMatchObject({
			status: "ctx.setSessionName expects a text that is not empty\nctx.compact expects { focus } with a text",
		});
	});
});
