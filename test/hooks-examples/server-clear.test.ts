import { expect, test } from "vitest";
import { isMessageEntry } from "../../src/log/entry.js";
import { run } from "../cli/subcommands/run.js";
import { startSession } from "../helpers/session.js";
import { example } from "./example.js";

const HOOK = example("server-clear.ts");

test("Claude is asked to clear old tool results; the reply records it, and a check finds out what is no longer asked", async () => {
	const model = "loopback-anthropic/scripted";
	const { session, provider, agentDir, cwd } = await startSession({
		hookFiles: [HOOK],
		session: { kind: "new" },
		model,
	});
	provider.reply("hello");
	await session.prompt("hi");
	const { body } = provider.requests[0] ?? {};
	expect(body?.context_management).toMatchObject({ edits: [{ type: "clear_tool_uses_20250919" }] });
	const header = String(provider.requests[0]?.headers["anthropic-beta"]);
	expect(header).toContain("context-management-2025-06-27");
	const reply = session.entries.find((entry) => isMessageEntry(entry) && entry.message.role === "assistant");
	expect(isMessageEntry(reply) && reply.context?.provider).toMatchObject({
		"anthropic-messages": { betas: [expect.any(String)] },
	});
	const path = session.sessionFile ?? "";
	await session.dispose();
	const place = { agentDir, cwd, session: path };
	const verified = await run({ name: "context", verify: true }, { ...place, hooks: [HOOK] });
	expect(verified.stdout).toBe("The request matches the recorded one\n");
	const without = await run({ name: "context", verify: true }, { ...place, hooks: [] });
	expect(without.code).toBe(1);
	expect(without.stdout).toContain("same request, but hooks asked something else of the provider");
});

test("other models are asked for nothing", async () => {
	const { session, provider } = await startSession({ hookFiles: [HOOK] });
	provider.reply("hello");
	await session.prompt("hi");
	expect(provider.requests[0]?.body).not.toHaveProperty("context_management");
});
