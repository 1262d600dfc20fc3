import { expect, test } from "vitest";
import { estimateAll } from "../../src/context/tokens.js";
import { startSession } from "../helpers/session.js";

/** `/forget` removes everything except the last turn from the context. */
const FORGET = `export default (pi) => {
	let forgets = false;
	pi.on("context", ({ messages }) => (forgets ? { messages: messages.slice(-2) } : undefined));
	pi.command("forget", { handler: async (ctx) => { forgets = true; await ctx.rebuildContext(); } });
};`;

test("a session without messages has 0 context tokens", async () => {
	const { session } = await startSession();
	expect(session.contextUsage().tokens).toBe(0);
});

test("the estimate includes system prompt and tools when the provider's count no longer applies", async () => {
	const { session, provider } = await startSession({ hooks: { "forget.ts": FORGET } });
	provider.reply("yes").reply({ content: [{ type: "text", text: "still" }], usage: { input: 1500, output: 10 } });
	await session.prompt("are you there?");
	await session.prompt("and now?");
	expect(session.contextUsage().tokens).toBe(1510);
	await session.prompt("/forget");
	const { preamble } = (await session.inspector.inspectContext()).context;
	expect(preamble.tokens).toBeGreaterThan(1000);
	const estimate = preamble.tokens + estimateAll(session.context.messages.map(({ message }) => message));
	// The count of the last request calibrates the estimate.
	const { tokens } = session.contextUsage();
	expect(tokens).not.toBe(estimate);
	expect(tokens).toBeGreaterThan(estimate * 0.7);
	expect(tokens).toBeLessThan(estimate * 1.4);
});
