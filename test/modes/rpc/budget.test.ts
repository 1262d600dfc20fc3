import { expect, test } from "vitest";
import { toolCall } from "../../helpers/loopback-provider.js";
import { serve } from "./serve.js";

test.each([true, false])("the client is asked before the next request when a budget is spent: %s", async (answer) => {
	const { client, provider, events } = await serve({
		modelOptions: { cost: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 }, contextWindow: 1_000_000_000 },
		userSettings: { budget: { perSession: 2 } },
	});
	provider.reply({ content: [toolCall("ls", {})], usage: { input: 3_000_000, output: 0 } });
	if (answer) provider.reply("done");
	client.onDialog(() => answer);
	await client.call("prompt", { message: "go" });
	await expect.poll(() => events("agent_end").length).toBe(1);
	expect(events("hook_ui_request")).toEqual([
		{
			type: "hook_ui_request",
			id: expect.any(String),
			method: "confirm",
			title: "Continue over budget?",
			message: "This session has cost $3.00; the budget is $2.00. pi asks again at $4.00.",
		},
	]);
	expect(provider.requests.length).toBe(answer ? 2 : 1);
});
