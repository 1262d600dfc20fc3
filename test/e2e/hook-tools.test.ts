import { expect, onTestFinished, test } from "vitest";
import { RpcClient } from "../../src/modes/rpc/client.js";
import type { RpcEvent } from "../../src/modes/rpc/protocol.js";
import { checkClientEvents } from "../helpers/event-schema.js";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { piPlace, piProgram } from "../helpers/pi-environment.js";
import { runPi } from "../helpers/run-pi.js";
import { tempAgentDir } from "../helpers/temp.js";
import { agentDirFor } from "./support.js";

const ASK = `import { Type } from "typebox";
export default (pi) => {
	pi.tool({
		name: "ask", description: "Asks", parameters: Type.Object({ question: Type.String() }),
		async run({ question }, { ctx, onUpdate }) {
			onUpdate({ content: [{ type: "text", text: "asking" }] });
			const answer = await ctx.ui.confirm("The agent asks", question);
			pi.events.emit("answered", answer);
			return { content: [{ type: "text", text: answer ? "yes" : "no" }] };
		},
	});
};`;
const NOTE = `export default (pi) => pi.events.on("answered", async (answer, ctx) => {
	await ctx.saveEntry({ type: "answer", answer });
});`;
const hooks = { "ask.ts": ASK, "note.ts": NOTE };

test("in print mode the model calls a tool of a hook, which --tools names, and hooks pass events", async () => {
	const provider = await startProvider();
	provider.reply([toolCall("ask", { question: "Blue?" })]).reply("Done.");
	const agentDir = agentDirFor(provider, { hooks });
	const run = await runPi(["-p", "go", "--tools", "ask"], { agentDir });
	expect(run).toMatchObject({ code: 0, stdout: "Done.\n" });
	expect(provider.requests[1]?.messages.at(-1)?.text).toBe("no");
	expect(JSON.stringify(provider.requests[0]?.body.tools).match(/"function":\{"name":"\w+"/g)).toHaveLength(1);
	const wrong = await runPi(["-p", "go", "--tools", "aks"], { agentDir });
	expect(wrong.code).not.toBe(0);
	expect(wrong.stderr).toContain('There is no tool "aks" · did you mean ask?');
});

test("over RPC a tool of a hook asks the client, reports partial results, and other hooks save what they hear", async () => {
	const provider = await startProvider();
	provider.reply([toolCall("ask", { question: "Blue?" })], "Done.");
	const { env, cwd } = piPlace({ agentDir: tempAgentDir({ models: provider.modelsJson(), hooks }) });
	const args = ["--model", "loopback/scripted", "--no-session", "--offline"];
	let stderr = "";
	const onStderr = (text: string) => {
		stderr += text;
	};
	const client = RpcClient.spawn({ entry: piProgram(), args, cwd, env, onStderr });
	onTestFinished(() => client.close());
	checkClientEvents(client);
	// Updates are sent at intervals: answer only when it has arrived.
	const update = client.nextEvent(({ type }) => type === "tool_execution_update");
	client.onDialog(async () => (await update) !== undefined);
	const events: RpcEvent[] = [];
	client.subscribe((event) => events.push(event));
	const end = client.nextEvent(({ type }) => type === "agent_end");
	await client.call("prompt", { message: "go" });
	await end;
	expect(provider.requests[1]?.messages.at(-1)?.text).toBe("yes");
	expect(await update).toMatchObject({
		toolName: "ask",
		partialResult: { content: [{ type: "text", text: "asking" }] },
	});
	expect(events).toContainEqual(
		expect.objectContaining({
			type: "entry_appended",
			entry: expect.objectContaining({ type: "answer", answer: true }),
		}),
	);
	expect(stderr).toBe("");
});
