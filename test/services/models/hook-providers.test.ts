import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { isMessageEntry } from "../../../src/log/entry.js";
import { modelName } from "../../../src/models/models.js";
import type { AgentSession } from "../../../src/sdk/agent-session.js";
import { startProvider } from "../../helpers/loopback-provider.js";
import { startSession } from "../../helpers/session.js";
import { tempAgentDir, tempDir, writeHook } from "../../helpers/temp.js";

/** Builds a reply, as a hook without imports does. */
const REPLY = `const reply = (model, text, stopReason = "stop", more = {}) => ({
	role: "assistant", content: [{ type: "text", text }], api: "other", provider: "other", model: "other", stopReason,
	usage: { input: 7, output: 3, cacheRead: 0, cacheWrite: 0, totalTokens: 10, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } },
	timestamp: Date.now(), ...more,
});`;

/** A hook whose provider \`corp\` answers in this process. */
function corp(
	stream: string,
	fields = `models: [{ id: "m", name: "Corp M", contextWindow: 50000 }, { id: "n" }],`,
): string {
	return `${REPLY}\nexport default (pi) => pi.provider("corp", { ${fields} ${stream} });`;
}

const ECHO = corp(`async *stream(model, context, options) {
	const message = reply(model, "echo " + context.messages.at(-1).content + " " + options.apiKey);
	yield { type: "start", partial: { ...message, content: [] } };
	yield { type: "text_delta", contentIndex: 0, delta: "echo", partial: message };
	yield { type: "done", reason: "stop", message };
}`);

const nameOf = (session: AgentSession) => session.model && modelName(session.model);
/** The last message of the log, if it is a reply. */
const lastReply = (session: AgentSession) => {
	const entry = session.entries.findLast(isMessageEntry);
	return entry?.message.role === "assistant" ? entry.message : undefined;
};
/** Error and texts of the last reply. */
const lastText = (session: AgentSession): unknown[] => {
	const reply = lastReply(session);
	return [reply?.errorMessage, ...(reply?.content ?? []).map((block) => block.type === "text" && block.text)];
};

describe("a provider with a stream function", () => {
	test("a partial reply needs only its content: pi adds the rest", async () => {
		const stream = `async *stream(model) {
			yield { type: "start", partial: { content: [] } };
			yield { type: "text_delta", contentIndex: 0, delta: "hi", partial: { content: [{ type: "text", text: "hi" }] } };
			yield { type: "done", reason: "stop", message: reply(model, "hi") };
		}`;
		const { session, events } = await startSession({ hooks: { "corp.ts": corp(stream) }, model: "corp/m" });
		await session.prompt("hi");
		const partials = events.flatMap((event) =>
			event.type === "message_start" || event.type === "message_update" ? [event.message] : [],
		);
		const own = { role: "assistant", api: "hook:corp", provider: "corp", model: "m", timestamp: expect.any(Number) };
		expect(partials.filter(({ role }) => role === "assistant")).toEqual(
			[[], [{ type: "text", text: "hi" }]].map((content) => ({
				...own,
				content,
				stopReason: "stop",
				usage: expect.objectContaining({ totalTokens: 0 }),
			})),
		);
	});

	test("answers as the model that the options name, and the log names it", async () => {
		const { session, provider } = await startSession({ hooks: { "corp.ts": ECHO }, model: "corp/m" });
		expect(session.loaded.warnings).toEqual([]);
		expect([nameOf(session), session.model?.contextWindow]).toEqual(["corp/m", 50000]);
		await session.prompt("hi");
		expect(lastText(session)).toEqual([undefined, "echo hi none"]);
		expect(lastReply(session)).toMatchObject({ api: "hook:corp", provider: "corp", model: "m" });
		expect(provider.requests).toEqual([]);
	});

	test.each([
		[`stream() { throw new Error("no quota left"); }`, "no quota left"],
		[
			`async *stream(model) { yield { type: "start", partial: reply(model, "half") }; throw new Error("cut off"); }`,
			"cut off",
		],
		[`stream: () => "text"`, "stream of the provider corp returned no event stream"],
		[`async *stream() { yield 7; }`, "event 0 of the provider corp: it is not an object"],
		[`async *stream() { yield { type: "end" }; }`, "event 0 of the provider corp: its type is unknown"],
		[`async *stream() { yield { type: "start" }; }`, "event 0 of the provider corp: partial.content is not a list"],
		[`async *stream() { yield { type: "done" }; }`, "event 0 of the provider corp: message is missing"],
		[
			`async *stream(model) { yield { type: "done", message: reply(model, "x", "stop", { usage: {} }) }; }`,
			"event 0 of the provider corp: message.usage has no numbers input, output, cacheRead, cacheWrite",
		],
		[
			`async *stream(model) { yield { type: "done", message: reply(model, "x", "stop", { content: [{ type: "text" }] }) }; }`,
			"event 0 of the provider corp: message.content[0] is not a text, thinking or toolCall block",
		],
		[`async *stream() {}`, "stream of the provider corp ended without the event done or error"],
	])("%s fails the request", async (stream, reason) => {
		const { session } = await startSession({
			hooks: { "corp.ts": corp(stream) },
			model: "corp/m",
			userSettings: { retry: { enabled: false } },
		});
		await session.prompt("hi");
		expect(lastText(session)[0]).toContain(reason);
		expect(session.isRunning).toBe(false);
	});

	test.each([
		['throw new Error("boom")', 0],
		["return [7]", 0],
		['throw new Error("503 Service Unavailable")', 1],
		['throw new Error("429 slow down")', 1],
		['throw new TypeError("fetch failed")', 1],
		['throw new Error("read ECONNRESET")', 1],
		["return (async function* () {})()", 1],
	])("{ %s } is retried %i times: the text of the error decides", async (body, retries) => {
		const { session, events } = await startSession({
			hooks: { "corp.ts": corp(`async stream() { ${body}; }`) },
			model: "corp/m",
			userSettings: { retry: { maxRetries: 1, baseDelayMs: 1 } },
		});
		await session.prompt("hi");
		expect(events.filter(({ type }) => type === "auto_retry_start")).toHaveLength(retries);
	});

	test("is stopped by an abort", async () => {
		const stream = `stream: (model, context, { signal }) => ({ async *[Symbol.asyncIterator]() {
			await new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
		} })`;
		const { session, events } = await startSession({ hooks: { "corp.ts": corp(stream) }, model: "corp/m" });
		const run = session.prompt("hi");
		await vi.waitUntil(() => events.some(({ type }) => type === "message_start"), { timeout: 10_000 });
		await session.abort();
		await run;
		expect(session.isRunning).toBe(false);
	});

	test("is the model of a resumed session", async () => {
		const agentDir = tempAgentDir({ hooks: { "corp.ts": ECHO } });
		const options = { agentDir, sessionDir: tempDir(), cwd: tempDir() };
		const first = await startSession({ ...options, model: "corp/n", session: { kind: "new" } });
		await first.session.prompt("hi");
		await first.session.dispose();
		const second = await startSession({ ...options, session: { kind: "continue" }, model: undefined as never });
		expect([nameOf(second.session), second.session.loaded.warnings]).toEqual(["corp/n", []]);
		await second.session.dispose();
		rmSync(join(agentDir, "hooks", "corp.ts"));
		const third = await startSession({ ...options, session: { kind: "continue" }, model: undefined as never });
		expect(nameOf(third.session)).toBe("loopback/scripted");
		expect(third.session.loaded.warnings).toContainEqual(
			expect.stringContaining("corp/n is gone; using loopback/scripted"),
		);
	});
});

/** Asks the model that an expression names with \`complete\` of pi-ai. */
const ask = (model: string) => `import { complete } from "@mariozechner/pi-ai";
export default (pi) => pi.command("ask", { async handler(ctx) {
	const model = ${model};
	const { apiKey } = (await ctx.requestAuth(model)) ?? {};
	const reply = await complete(model, { messages: [{ role: "user", content: "why?", timestamp: 0 }] }, { apiKey });
	return { status: reply.errorMessage ?? reply.content.map(({ text }) => text).join() };
} });`;

describe("a hook that calls a model of another hook with complete", () => {
	const status = async (session: AgentSession) => {
		const result = await session.prompt("/ask");
		return result.kind === "command" ? result.status : result.kind;
	};

	test("gets the reply of its stream function", async () => {
		const hooks = { "ask.ts": ask("ctx.model"), "corp.ts": ECHO };
		const { session } = await startSession({ hooks, model: "corp/m" });
		expect(await status(session)).toBe("echo why? none");
	});

	test("gets the reply of a stream function that sends a changed request with pi-ai", async () => {
		const fields = `baseUrl: "PROVIDER", api: "openai-completions", models: [{ id: "scripted" }],`;
		const stream = `stream: (model, context, options) => streamSimple(model, { ...context, systemPrompt: "By corp." }, options)`;
		const provider = await startProvider();
		const { providers } = Object(provider.modelsJson()) as { providers: { loopback: { baseUrl: string } } };
		const corpHook = `import { streamSimple } from "@mariozechner/pi-ai";\n${corp(stream, fields).replace("PROVIDER", providers.loopback.baseUrl)}`;
		const hooks = { "ask.ts": ask("ctx.model"), "corp.ts": corpHook };
		const { session } = await startSession({ provider, hooks, model: "corp/scripted" });
		provider.reply("Because.");
		expect(await status(session)).toBe("Because.");
		expect(provider.requests[0]?.messages.map(({ text }) => text)).toEqual(["By corp.", "why?"]);
		// Other models with this wire format are reached as before.
		const models = await session.controls.availableModels();
		const own = models.find((model) => modelName(model) === "loopback/scripted");
		if (own) await session.setModel(own);
		provider.reply("Directly.");
		expect(await status(session)).toBe("Directly.");
		expect(provider.requests.length).toBe(2);
	});

	test("gets it in a bundled hook", async () => {
		const { session } = await startSession({ hooks: { "corp.ts": ECHO }, model: "corp/m", bundledHooks: true });
		await session.prompt("one");
		await session.prompt("two");
		await session.prompt("/fold 1 1");
		expect(session.entries.filter(({ type }) => type === "fold")).toMatchObject([
			{ summary: expect.stringContaining("echo ") },
		]);
	});

	test("gets an error that names the provider once its hook is unloaded", async () => {
		const { session, agentDir } = await startSession({
			hooks: { "ask.ts": ask("ctx.model"), "corp.ts": ECHO },
			model: "corp/m",
		});
		rmSync(`${agentDir}/hooks/corp.ts`);
		await session.reload();
		await expect(status(session)).rejects.toThrow("No loaded hook sends requests to the provider corp");
	});

	test("reaches the provider of its own session", async () => {
		const first = await startSession({ hooks: { "ask.ts": ask("ctx.model"), "corp.ts": ECHO }, model: "corp/m" });
		const hooks = { "ask.ts": ask("ctx.model"), "corp.ts": ECHO.replace('"echo "', '"second "') };
		const second = await startSession({ hooks, model: "corp/m" });
		expect(await Promise.all([status(first.session), status(second.session)])).toEqual([
			"echo why? none",
			"second why? none",
		]);
		await second.session.dispose();
		expect(await status(first.session)).toBe("echo why? none");
	});
});

test("a hook finds and calls a model at once after it registered the provider", async () => {
	const late = ECHO.replace("export default (pi) =>", "const register = (pi) =>");
	const model = `(register(pi), ctx.findModel("corp", "m"))`;
	const { session } = await startSession({ hooks: { "late.ts": `${late}\n${ask(model)}` } });
	const result = await session.prompt("/ask");
	expect(result).toMatchObject({ kind: "command", status: "echo why? none" });
});

describe("a provider without a stream function", () => {
	async function served() {
		const provider = await startProvider();
		const { providers }: { providers?: { loopback?: unknown } } = Object(provider.modelsJson());
		const loopback = providers?.loopback;
		return {
			provider,
			source: (name: string) => `export default (pi) => pi.provider("${name}", ${JSON.stringify(loopback)});`,
		};
	}

	test("sends requests like a provider of models.json, with the hook as the source of its key", async () => {
		const { provider, source } = await served();
		const { session } = await startSession({ provider, hooks: { "corp.ts": source("corp") }, model: "corp/scripted" });
		provider.reply("Served.");
		await session.prompt("hi");
		expect(lastText(session)).toEqual([undefined, "Served."]);
		const usable = (await session.controls.availableModels()).map(modelName);
		expect(usable).toContain("corp/scripted");
	});

	test("is replaced by a provider of the same name in models.json, with a warning", async () => {
		const { provider, source } = await served();
		const { session, agentDir } = await startSession({ provider, hooks: { "corp.ts": source("loopback") } });
		expect(session.loaded.warnings).toEqual([
			`The provider loopback of hook corp is not used: ${agentDir}/models.json defines loopback`,
		]);
		expect(nameOf(session)).toBe("loopback/scripted");
	});

	test("of two hooks with one provider the later wins, and a warning names both", async () => {
		const { session, agentDir } = await startSession({
			hooks: { "a.ts": ECHO, "b.ts": corp("stream() {},", `models: [{ id: "only" }],`) },
			model: "corp/only",
		});
		expect(nameOf(session)).toBe("corp/only");
		expect(session.loaded.warnings).toEqual([
			`The provider corp is registered by ${agentDir}/hooks/a.ts and ${agentDir}/hooks/b.ts; the latter is used`,
		]);
	});
});

describe("the choice of the model", () => {
	test("a model that neither pi nor a hook has is an error once the hooks have loaded", async () => {
		await expect(startSession({ hooks: { "corp.ts": ECHO }, model: "corp/absent" })).rejects.toMatchObject({
			code: "model_unknown",
		});
		await expect(
			startSession({ hooks: { "a.ts": "export default () => {};" }, model: "corp/m" }),
		).rejects.toMatchObject({
			code: "model_unknown",
			message: 'No model "corp/m"',
		});
	});

	test("settings can name a model of a hook", async () => {
		const { session } = await startSession({
			hooks: { "corp.ts": ECHO },
			model: undefined as never,
			userSettings: { defaultProvider: "corp", defaultModel: "n" },
		});
		expect([nameOf(session), session.loaded.warnings]).toEqual(["corp/n", []]);
	});

	test("--models can match models of a hook", async () => {
		const { session } = await startSession({ hooks: { "corp.ts": ECHO }, model: "corp/m", models: ["corp/*"] });
		expect(session.loaded.warnings).toEqual([]);
		expect(modelName((await session.cycleModel(1)) ?? { provider: "", id: "" })).toBe("corp/n");
	});
});

describe("unloading", () => {
	test("a session keeps the model, and its next request says what is missing", async () => {
		const { session, agentDir, notices } = await startSession({ hooks: { "corp.ts": ECHO }, model: "corp/m" });
		await session.prompt("one");
		rmSync(`${agentDir}/hooks/corp.ts`);
		await session.reload();
		expect(nameOf(session)).toBe("corp/m");
		await expect(session.prompt("two")).rejects.toMatchObject({
			code: "model_missing",
			message: `corp/m is not available: ${agentDir}/hooks/corp.ts, which provides it, is not loaded`,
		});
		expect((await session.controls.availableModels()).map(modelName)).not.toContain("corp/m");
		writeHook(`${agentDir}/hooks`, "corp.ts", ECHO.replace("50000", "60000"));
		await session.reload();
		expect(session.model?.contextWindow).toBe(60000);
		await session.prompt("three");
		expect(lastText(session)).toEqual([undefined, "echo three none"]);
		expect(notices().filter((line) => /corp/.test(line))).toEqual([]);
	});

	test("a provider that a command registers is available at once", async () => {
		const late = ECHO.replace(
			"export default (pi) => ",
			`export default (pi) => pi.command("add", { handler: () => `,
		).replace(/\);$/, ") });");
		const { session } = await startSession({ hooks: { "late.ts": late } });
		await session.prompt("/add");
		await expect.poll(async () => (await session.controls.availableModels()).map(modelName)).toContain("corp/m");
	});
});

test.each([
	[`"a b", {}`, '"a b" is not a valid provider name'],
	[`"corp", 7`, "the provider corp is invalid: it must be an object"],
	[
		`"corp", { baseUrl: "ftp://x", models: [{ id: "" }, { id: "m", contextWindow: "much" }] }`,
		"baseUrl must be an http or https address; models[0].id must be a non-empty string; models[0] needs a valid id; models[1].contextWindow must be a number greater than 0",
	],
	[`"corp", { stream: true, modles: [] }`, "modles is unknown · did you mean models?; stream must be a function"],
])("pi.provider(%s) is refused", async (call, reason) => {
	const { session } = await startSession({ hooks: { "x.ts": `export default (pi) => pi.provider(${call});` } });
	expect(session.loaded.warnings.join()).toContain(reason);
});
