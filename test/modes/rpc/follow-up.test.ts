import { expect, test } from "vitest";
import type { RpcEvent } from "../../../src/modes/rpc/protocol.js";
import { text, toolCall } from "../../helpers/loopback-provider.js";
import { serve } from "./serve.js";

const ended = (event: RpcEvent) => event.type === "agent_end";

test("a follow-up is sent after the run, what steers it after its tool calls, and either at once without a run", async () => {
	const { client, provider } = await serve();
	let release = () => {};
	const hold = new Promise<void>((resolve) => {
		release = resolve;
	});
	provider.reply("alone", { content: [text("working"), toolCall("ls", {})], hold }, "first done", "second done");
	const alone = client.nextEvent(ended);
	expect(await client.call("follow_up", { message: "/not a command" })).toEqual({ outcome: "started" });
	await alone;
	const end = client.nextEvent(ended);
	await client.call("prompt", { message: "work" });
	expect(await client.call("follow_up", { message: "then commit" })).toEqual({ outcome: "queued" });
	expect(await client.call("queue_message", { message: "faster" })).toEqual({ outcome: "queued" });
	release();
	await end;
	expect(provider.requests.map(({ messages }) => messages.at(-1)?.text)).toEqual([
		"/not a command",
		"work",
		"faster",
		"then commit",
	]);
});
