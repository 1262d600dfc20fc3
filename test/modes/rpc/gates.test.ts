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

test("ask is a select dialog, and blocked calls name the hook", async () => {
	const { client, provider, events } = await serve({ hooks: { "gate.ts": GATE } });
	client.onDialog(() => "Yes, once");
	provider.reply([toolCall("bash", { command: "ask" }), toolCall("bash", { command: "other" })], "done");
	const end = client.nextEvent(({ type }) => type === "agent_end");
	await client.call("prompt", { message: "go" });
	await end;
	expect(events("hook_ui_request")).toMatchObject([
		{
			hook: "gate",
			method: "select",
			title: "Run it?\n\nbash: ask",
			options: ["Yes, once", "No", "No, and tell the model"],
			initial: ["No"],
			filter: false,
		},
	]);
	const ends = events("tool_execution_end");
	expect(ends.map((event) => "blockedBy" in event && event.blockedBy)).toEqual([false, "gate"]);
});

const CHOICES = `export default (pi) => {
	const rules = [];
	pi.on("tool_call", ({ input }) => ({ ask: { question: "Run it?", choices: [{ label: "Yes, always", rule: "echo *", chosen: (rule) => { rules.push(rule); } }] } }));
	pi.command("rules", { handler: () => ({ status: JSON.stringify(rules) }) });
};`;

test("the choices of a question are options with their rules, and a refusal can tell the model why", async () => {
	const { client, provider, events } = await serve({ hooks: { "gate.ts": CHOICES } });
	const answers = ["Yes, always: echo *", "No, and tell the model", "use printf"];
	client.onDialog(() => answers.shift() ?? null);
	provider.reply(
		[toolCall("bash", { command: "echo one" }), toolCall("bash", { command: "echo two" })],
		"I use printf.",
	);
	const end = client.nextEvent(({ type }) => type === "agent_end");
	await client.call("prompt", { message: "go" });
	await end;
	expect(await client.call("prompt", { message: "/rules" })).toMatchObject({ status: '["echo *"]' });
	expect(events("hook_ui_request").map((event) => "method" in event && event.method)).toEqual([
		"select",
		"select",
		"input",
	]);
	const texts = provider.requests.at(-1)?.messages.map(({ role, text }) => `${role}: ${text}`) ?? [];
	expect(texts).toContain("tool: The user refused this call and says: use printf");
	expect(texts.at(-1)).toBe("user: use printf");
});
