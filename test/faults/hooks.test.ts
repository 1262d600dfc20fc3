import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agentDirFor } from "../e2e/support.js";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { writeHook } from "../helpers/temp.js";
import { drive } from "./driver.js";
import { acknowledgedBy } from "./judge.js";
import type { Random } from "./random.js";
import { faultTest, IS_LONG } from "./rounds.js";

/** Hooks that one process loads, one after another. */
const HOOKS = IS_LONG ? 8 : 2;
const EVENTS = [
	...["session", "prompt", "agent_start", "agent_end", "turn_start", "turn_end", "before_request", "response"],
	...["tool_call", "tool_update", "tool_result", "context", "agent_settled", "model_changed", "message_update"],
];
/** Bodies of handlers `(event, ctx) => {…}` that are wrong in some way. None blocks the process. */
const BODIES = [
	...["return null", "return 7", "return 'text'", "return []", "return 1n", "return Symbol('x')", "return () => {}"],
	"return { messages: 7 }",
	"return { messages: [] }",
	"return { messages: [null, 7, 'x'] }",
	"return { messages: [{ role: 'toolResult', toolCallId: 'none' }] }",
	"return { messages: [...(event.messages ?? []), { role: 'assistant', content: 7 }] }",
	"return { messages: (event.messages ?? []).slice(1).reverse() }",
	"return { systemPrompt: 7, tools: 'all' }",
	"return { tools: [{ name: 'bad name', parameters: 1 }] }",
	"return { input: null }",
	"return { input: { path: 7n } }",
	"return { content: 'x', isError: 'no' }",
	"return { content: [{ type: 'image' }, null] }",
	"return { text: 5, attachments: [1] }",
	"return { get messages() { throw 1 }, get input() { throw 2 } }",
	"return new Proxy({}, { get() { throw undefined }, ownKeys() { throw null } })",
	"return { toJSON() { throw 1 } }",
	"const cycle = {}; cycle.messages = cycle; return cycle",
	...["throw undefined", "throw null", "throw 'text'", "throw Object.create(null)"],
	"throw new Proxy({}, { get() { throw 1 } })",
	"throw new Error('\\u001b]0;title\\u0007 in an error')",
	"return new Promise(() => {})",
	"return { then() { throw 1 } }",
	"return { then(done) { done({ messages: 1 }); done(2) } }",
	"event.messages.length = 0",
	"event.entries.splice(0, 99)",
	"event.messages.forEach((message) => { message.content = 'x' })",
	"for (const key of Object.keys(event)) delete event[key]",
	"setTimeout(() => { throw new Error('late') }, 1)",
	"setTimeout(() => { throw undefined }, 1)",
	"void Promise.reject(Object.create(null))",
	"console.log('STRAY', event)",
	"process.stdout.write('STRAY\\n')",
	"return ctx.saveEntry({})",
	"return ctx.saveEntry({ type: 'message' })",
	"return ctx.saveEntry({ type: 'note', value: 1n })",
	"return ctx.saveEntry({ type: 'note', text: 'x'.repeat(3e6) })",
	"return ctx.rebuildContext()",
	"return ctx.exec('/no/such/program', [])",
	"return ctx.exec('sh', ['-c', 'kill -9 $$'])",
	"return ctx.ui.select(7, 'x')",
	"ctx.ui.setStatus({}, 1n)",
	"ctx.abort?.()",
];

function randomHook(random: Random): string {
	const handlers = Array.from({ length: 1 + random.below(4) }, () => {
		const asynchronous = random.pick(["", "async "]);
		return `pi.on("${random.pick(EVENTS)}", ${asynchronous}(event, ctx) => { ${random.pick(BODIES)} });`;
	});
	const broken = random.pick([
		"",
		"",
		"",
		"",
		"throw undefined;",
		"pi.on('no_such_event', 7);",
		"return new Promise(() => {});",
	]);
	return `export default (pi) => {\n${handlers.join("\n")}\n${broken}\n};`;
}

faultTest(
	"hooks",
	`a session outlives ${HOOKS} random hooks`,
	{ short: 1, long: 40, perTest: 5 },
	async ({ random }) => {
		const provider = await startProvider();
		const agentDir = agentDirFor(provider, { settings: { hookTimeout: 100, retry: { enabled: false } } });
		provider.on(({ messages }) => (messages.at(-1)?.role === "user" ? [toolCall("ls", {})] : "Fine."));
		const driver = drive([], { agentDir });
		const path = join(agentDir, "hooks", "hostile.mjs");
		for (let hook = 0; hook < HOOKS; hook++) {
			const source = randomHook(random);
			writeHook(join(agentDir, "hooks"), "hostile.mjs", source);
			await driver.client.call("prompt", { message: "/reload" });
			// A handler may refuse or abort the prompt, but it ends.
			await driver.ask("go").catch((error: unknown) => expect(driver.hasExited(), `${error}\n${source}`).toBe(false));
			rmSync(path);
			await driver.client.call("prompt", { message: "/reload" });
			await driver.ask("again");
			expect(await driver.client.call("get_last_assistant_text"), source).toEqual({ text: "Fine." });
			expect(driver.strayLines(), source).toEqual([]);
			expect(provider.violations, source).toEqual([]);
		}
		driver.end();
		expect(await driver.exited).toEqual({ code: 0, signal: null });
	},
);

const REBUILDING = `let runs = 0;
export default (pi) => {
	pi.on("context", async (event, ctx) => { runs++; await ctx.rebuildContext(); });
	pi.command("rebuild", { handler: async (ctx) => {
		const before = runs;
		await Promise.all([1, 2, 3, 4].map(() => ctx.rebuildContext()));
		await ctx.saveEntry({ type: "test_runs", runs: runs - before });
	} });
};`;

test("hooks: rebuildContext in a context handler is an error, and calls that overlap share a run", async () => {
	const provider = await startProvider();
	provider.on(() => "Fine.");
	const agentDir = agentDirFor(provider, { hooks: { "rebuilds.ts": REBUILDING } });
	const driver = drive([], { agentDir });
	await driver.ask("go");
	expect(await driver.client.call("get_last_assistant_text")).toEqual({ text: "Fine." });
	const errors = driver.events.filter(({ type }) => type === "hook_error");
	expect(errors.length).toBeGreaterThan(0);
	expect(JSON.stringify(errors)).toContain("rebuilds.ts");
	await driver.client.call("prompt", { message: "/rebuild" });
	const saved = acknowledgedBy(driver.events).at(-1)?.content;
	// One that runs, and one for all calls that came after its start.
	expect(saved).toMatchObject({ type: "test_runs", runs: expect.toSatisfy((runs: number) => runs >= 1 && runs <= 2) });
	driver.end();
	expect(await driver.exited).toEqual({ code: 0, signal: null });
	expect(provider.violations).toEqual([]);
});
