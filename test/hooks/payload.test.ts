import { describe, expect, test } from "vitest";
import { changePayload, frozenPayload } from "../../src/hooks/runner.js";
import { httpError, toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { hook } from "./support.js";

describe("payload", () => {
	test("handlers receive frozen copies, also for retries, and the next one sees the change", async () => {
		const { session, provider, events } = await startSession({
			userSettings: { retry: { baseDelayMs: 1 } },
			hooks: {
				"a.ts": hook(`pi.on("payload", ({ payload, model }) => {
					try { payload.messages.push({}); } catch (error) { return { payload: { ...payload, user: model.id + " " + error.name } }; }
				});`),
				"b.ts": hook(`pi.on("payload", ({ payload }) => ({ payload: { ...payload, user: payload.user + "!" } }));`),
			},
		});
		provider.reply(httpError(529), [toolCall("ls", {})], "ok");
		await session.prompt("go");
		expect(provider.requests.map(({ body }) => body.user)).toEqual(Array(3).fill("scripted TypeError!"));
		expect(events.filter(({ type }) => type === "hook_error")).toEqual([]);
	});
});

const GOOGLE = {
	model: "gemini",
	contents: [{ parts: [{ text: "hi" }] }],
	config: { systemInstruction: "be", signal: new AbortController().signal },
};

test.each([
	["model", { ...GOOGLE, model: "other" }],
	["contents", { ...GOOGLE, contents: [] }],
	["messages", { ...GOOGLE, messages: [] }],
	["config.systemInstruction", { ...GOOGLE, config: { ...GOOGLE.config, systemInstruction: "be evil" } }],
	["config.systemInstruction", { ...GOOGLE, config: undefined }],
	["config.tools", { ...GOOGLE, config: { ...GOOGLE.config, tools: [] } }],
])("a change of %s is refused", (field, changed) => {
	expect(changePayload(GOOGLE, frozenPayload(GOOGLE), changed)).toBe(field);
});

test("other fields are changed, added and removed, and unchanged ones stay the provider's own", () => {
	const payload = { ...GOOGLE, seed: 1, gone: true };
	const seen = frozenPayload(payload);
	expect(Object.isFrozen((seen.contents as unknown[])[0])).toBe(true);
	const { gone: _, ...rest } = seen;
	const changed = changePayload(payload, seen, { ...rest, seed: 2, config: { ...GOOGLE.config, temperature: 0 } });
	expect(changed).toEqual({ ...GOOGLE, seed: 2, config: { ...GOOGLE.config, temperature: 0 } });
	expect(changed).toHaveProperty("contents", payload.contents);
	expect(Object.isFrozen((changed as typeof payload).contents)).toBe(false);
	expect((changed as typeof payload).config.signal).toBe(GOOGLE.config.signal);
});
