import { describe, expect, test } from "vitest";
import { isMessageEntry } from "../../src/log/entry.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { hook, share } from "./support.js";

describe("before_request", () => {
	test("runs before every request, after the context is computed, with its size", async () => {
		const events: unknown[] = [];
		share("__event", (event: unknown) => events.push(event));
		const { session, provider } = await startSession({
			hooks: {
				"a.ts": hook(`
					pi.on("context", () => { globalThis.__event("context"); });
					pi.on("before_request", (event) => { globalThis.__event(event); });
					pi.on("tool_call", () => { globalThis.__event("tool_call"); });`),
			},
		});
		events.splice(0);
		provider.reply([toolCall("ls", {})], "done");
		await session.prompt("go");
		const summary = { type: "before_request", model: { provider: "loopback", id: "scripted" } };
		expect(events).toEqual([
			"context",
			{ ...summary, messageCount: 1, tokens: expect.any(Number), turnIndex: 0 },
			"tool_call",
			"context",
			{ ...summary, messageCount: 3, tokens: expect.any(Number), turnIndex: 1 },
		]);
		expect(Object.isFrozen(events[1])).toBe(true);
	});

	test("a stop ends the run: nothing is sent, the reason is shown, later handlers do not run", async () => {
		const { session, provider, notices } = await startSession({
			hooks: {
				"a.ts": hook('pi.on("before_request", () => ({ action: "continue" }));'),
				"b.ts": hook(
					'pi.on("before_request", (e) => e.turnIndex > 0 ? { action: "stop", reason: "two is enough" } : undefined);',
				),
				"c.ts": hook(
					'pi.on("before_request", (e) => { if (e.turnIndex > 0) throw new Error("asked after the stop"); });',
				),
			},
		});
		provider.reply([toolCall("ls", {})]);
		const outcome = await session.prompt("go");
		expect(outcome).toMatchObject({ kind: "run", outcome: { stopped: "two is enough" } });
		expect(provider.requests.length).toBe(1);
		expect(notices()).toEqual(["two is enough"]);
		expect(session.isRunning).toBe(false);
		expect(session.entries.map((entry) => (isMessageEntry(entry) ? entry.message.role : entry.type))).toEqual([
			"session",
			"user",
			"assistant",
			"toolResult",
		]);
	});

	test("a stop without a reason names the hook", async () => {
		const { session, provider, notices } = await startSession({
			hooks: { "a.ts": hook('pi.on("before_request", () => ({ action: "stop" }));') },
		});
		await session.prompt("go");
		expect(provider.requests).toEqual([]);
		expect(notices()).toEqual(["Stopped by hook a"]);
	});

	test.each([
		["another action", '{ action: "pause" }', 'action must be "continue" or "stop"'],
		[
			"messages",
			'{ messages: [{ role: "user", content: "hidden", timestamp: 0 }] }',
			'unknown field "messages"; an answer has action or reason',
		],
		["a reason alone", '{ reason: "enough" }', "reason is without action"],
		["a text", '"stop"', "the answer must be an object with action or reason, not a text"],
		["true", "true", "the answer must be an object with action or reason, not a boolean"],
	])("%s in its answer is reported, and the request goes out as it was", async (_, answer, problem) => {
		const { session, sent, provider, notices } = await startSession({
			hooks: { "a.ts": hook(`pi.on("before_request", () => (${answer}));`) },
		});
		provider.reply("ok");
		await session.prompt("go");
		expect(sent(1)).toEqual(["user: go"]);
		expect(notices()).toEqual([`before_request: ${problem}; the answer was ignored`]);
	});
});
