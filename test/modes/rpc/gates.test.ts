import { expect, test } from "vitest";
import { toolCall } from "../../helpers/loopback-provider.js";
import { serve } from "./serve.js";

const GATE = `export default (pi) => {
	pi.on("prompt", ({ text, source }) => text === "ping" ? { handled: true } : text === "no" ? { stop: "not via " + source } : undefined);
	pi.on("tool_call", ({ input }) => input.command === "ask" ? { ask: "Run it?" } : { block: true, reason: "no" });
	pi.on("user_bash", ({ command }) => command === "no" ? { block: true, reason: "not here" } : { result: { output: "far", exitCode: 7 } });
	pi.command("mode", { handler: (ctx) => ({ status: ctx.mode + " " + ctx.quit() }) });
};`;

test("prompts are handled or refused, and answers of user_bash reach the client", async () => {
	const { client } = await serve({ hooks: { "gate.ts": GATE } });
	expect(await client.call("prompt", { message: "ping" })).toEqual({ outcome: "handled", hook: "gate" });
	await expect(client.call("prompt", { message: "no" })).rejects.toThrow("Hook gate refused the prompt: not via rpc");
	await expect(client.call("bash", { command: "no" })).rejects.toThrow("Hook gate blocked the shell command: not here");
	expect(await client.call("bash", { command: "ls" })).toMatchObject({ output: "far", exitCode: 7 });
	expect(await client.call("prompt", { message: "/mode" })).toEqual({ outcome: "command", status: "rpc false" });
});

test("ask is a confirm dialog, and blocked calls name the hook", async () => {
	const { client, provider, events } = await serve({ hooks: { "gate.ts": GATE } });
	client.onDialog(() => true);
	provider.reply([toolCall("bash", { command: "ask" }), toolCall("bash", { command: "other" })], "done");
	const end = client.nextEvent(({ type }) => type === "agent_end");
	await client.call("prompt", { message: "go" });
	await end;
	expect(events("hook_ui_request")).toMatchObject([
		{ hook: "gate", method: "confirm", title: "Run it?", message: "bash: ask" },
	]);
	const ends = events("tool_execution_end");
	expect(ends.map((event) => "blockedBy" in event && event.blockedBy)).toEqual([false, "gate"]);
});
