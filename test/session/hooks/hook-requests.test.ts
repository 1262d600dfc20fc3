import { describe, expect, test } from "vitest";
import type { RequestUsageEntry } from "../../../src/log/entry.js";
import { run } from "../../cli/subcommands/run.js";
import { text } from "../../helpers/loopback-provider.js";
import { startSession, type TestSession, type TestSessionOptions } from "../../helpers/session.js";
import { tempAgentDir, writeFiles } from "../../helpers/temp.js";

const COST = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 };
/** A reply of the provider with this usage costs a dollar. */
const DOLLAR = { input: 999_990, output: 10 };
const reply = (content: string) => ({ content: [text(content)], usage: DOLLAR });
const SETTINGS = { modelOptions: { cost: COST, contextWindow: 1_000_000_000 } } satisfies TestSessionOptions;

/** A hook with the command `/ask`, which sends a request with a function of pi-ai. */
const asking = (call: string, names: string, from = "@mariozechner/pi-ai") => `
	import { ${names} } from "${from}";
	export default (pi) => {
		const ask = async (ctx) => {
			const context = { messages: [{ role: "user", content: "hi", timestamp: 0 }] };
			const options = await ctx.requestAuth(ctx.model);
			return (${call}).stopReason;
		};
		pi.command("ask", { handler: async (ctx) => ({ status: await ask(ctx) }) });
	};`;

/** Purpose, model and price of each request whose reply is not in the log. */
function counted({ session }: TestSession): unknown[] {
	return session.entries
		.filter((entry): entry is RequestUsageEntry => entry.type === "request_usage")
		.map(({ purpose, provider, modelId, usage }) => [purpose, `${provider}/${modelId}`, Math.round(usage.cost.total)]);
}

const MODEL = "loopback/scripted";

describe("a request that a hook sends counts under its name", () => {
	test.each([
		["complete", "await complete(ctx.model, context, options)"],
		["completeSimple", "await completeSimple(ctx.model, context, options)"],
		["stream", "await stream(ctx.model, context, options).result()"],
		["streamSimple", "await streamSimple(ctx.model, context, options).result()"],
	])("with %s of pi-ai, once, in the log, the statistics, pi usage and the budget", async (name, call) => {
		const started = await startSession({
			...SETTINGS,
			session: { kind: "new" },
			hooks: { "asker.ts": asking(call, name) },
			userSettings: { budget: { perSession: 1 } },
		});
		const { session, provider, agentDir, cwd } = started;
		provider.reply(reply("hello"));
		await session.prompt("/ask");
		expect(counted(started)).toEqual([["hook asker", MODEL, 1]]);
		expect(session.stats()).toMatchObject({ cost: expect.closeTo(1), tokens: { total: 1_000_000 } });
		const { stdout } = await run({ name: "usage", by: "model", days: null }, { agentDir, cwd, json: true });
		expect(JSON.parse(stdout)).toMatchObject({ total: { requests: 1, cost: 1 } });
		const shown = await session.prompt("/usage");
		expect(shown).toMatchObject({ status: expect.stringContaining("$1.00") });
		expect(await session.prompt("go")).toMatchObject({ outcome: { stopped: expect.stringContaining("$1.00") } });
	});

	test("with ctx.stream, once", async () => {
		const started = await startSession({
			...SETTINGS,
			hooks: { "asker.ts": asking("await (await ctx.stream(ctx.model, context)).result()", "Type") },
		});
		started.provider.reply(reply("hello"));
		await started.session.prompt("/ask");
		expect(counted(started)).toEqual([["hook asker", MODEL, 1]]);
	});

	test("of an extension", async () => {
		const extension = `
			import { complete } from "@mariozechner/pi-ai";
			export default (pi) => {
				pi.registerCommand("ask", { description: "d", handler: async (_, ctx) => {
					const { apiKey } = await ctx.modelRegistry.getApiKeyAndHeaders(ctx.model);
					await complete(ctx.model, { messages: [{ role: "user", content: "hi", timestamp: 0 }] }, { apiKey });
				} });
			};`;
		const agentDir = tempAgentDir();
		writeFiles(agentDir, { "extensions/asker.ts": extension });
		const started = await startSession({ ...SETTINGS, agentDir });
		started.provider.reply(reply("hello"));
		await started.session.prompt("/ask");
		expect(counted(started)).toEqual([["hook asker", MODEL, 1]]);
	});

	test("a provider of a hook that sends its requests with pi-ai counts them once", async () => {
		const provider = `
			import { complete, streamSimple } from "@mariozechner/pi-ai";
			export default (pi) => {
				pi.provider("relay", { apiKey: "none", models: [{ id: "one", cost: { input: 1, output: 1 } }], stream(model, context, options) {
					const target = globalThis.__target;
					return streamSimple(target, context, { ...options, apiKey: "key" });
				} });
				pi.command("ask", { handler: async (ctx) => {
					globalThis.__target = ctx.model;
					const reply = await complete(ctx.findModel("relay", "one"), { messages: [{ role: "user", content: "hi", timestamp: 0 }] }, { apiKey: "key" });
					return { status: reply.stopReason };
				} });
			};`;
		const started = await startSession({ ...SETTINGS, hooks: { "relay.ts": provider } });
		started.provider.reply(reply("hello"));
		await started.session.prompt("/ask");
		expect(counted(started)).toEqual([["hook relay", "relay/one", 1]]);
	});

	test.each([
		["stacking", "/pop 1", 2],
		["fold", "/fold 1 1", 2],
	])("the summary of the bundled hook %s", async (name, command, turns) => {
		const started = await startSession({ ...SETTINGS, bundledHooks: true, userSettings: { hooks: [`pi:${name}`] } });
		const { session, provider } = started;
		for (let turn = 0; turn < turns; turn++) {
			provider.reply(reply("an answer. ".repeat(100)));
			await session.prompt(`question ${turn}`);
		}
		provider.reply(reply("what was done"));
		await session.prompt(command);
		expect(counted(started)).toEqual([[`hook ${name}`, MODEL, 1]]);
	});
});
