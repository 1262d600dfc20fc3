import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { RpcClient } from "../../src/modes/rpc/client.js";
import { checkClientEvents } from "../helpers/event-schema.js";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { piPlace, piProgram } from "../helpers/pi-environment.js";
import { spawnPi } from "../helpers/run-pi.js";
import { tempAgentDir, tempDir, writeHook } from "../helpers/temp.js";

const LOOK = `export default (pi) => pi.on("context", ({ systemPrompt }) => ({
	tools: ["read", "ls"],
	systemPrompt: [...systemPrompt.filter(({ id }) => id !== "environment"), { id: "look:rule", text: "Only look." }],
}));`;

test("a hook changes the system prompt and tools of the program in RPC mode, and pi context verifies the session", async () => {
	const provider = await startProvider();
	const agentDir = tempAgentDir({ models: provider.modelsJson() });
	writeHook(join(agentDir, "hooks"), "look.ts", LOOK);
	const sessionDir = tempDir();
	const { env, cwd } = piPlace({ agentDir });
	const args = ["--model", "loopback/scripted", "--offline", "--session-dir", sessionDir];
	const client = RpcClient.spawn({ entry: piProgram(), args, cwd, env, onStderr: () => {} });
	onTestFinished(() => client.close());
	checkClientEvents(client);
	provider.reply([toolCall("bash", { command: "ls" })], "done");
	const end = client.nextEvent(({ type }) => type === "agent_end");
	await client.call("prompt", { message: "look around" });
	await end;
	expect(provider.requests[0]?.messages[0]?.text).toMatch(/Only look\.$/);
	expect(provider.requests[1]?.messages.at(-1)?.text).toBe('There is no tool "bash". The tools are: read, ls.');
	const hook = join(agentDir, "hooks", "look.ts");
	const report = await client.call("get_context");
	expect(report.tools.map(({ name }) => name)).toEqual(["read", "ls"]);
	expect(report.systemPrompt.map(({ id, origin }) => [id, origin])).toEqual([
		["base", { kind: "core" }],
		["tools", { kind: "core" }],
		["look:rule", { kind: "hook", hook }],
	]);
	const removed = report.removed.map((part) => ("id" in part ? part.id : part.name));
	expect(removed).toEqual(["environment", "bash", "edit", "write", "grep", "find", "jobs"]);
	const { sessionFile } = await client.call("get_state");
	await client.close();
	const verified = spawnPi(["context", "--verify", "--session", sessionFile ?? ""], { agentDir });
	const { code, stdout } = await verified.exited;
	expect({ code, stdout }).toEqual({ code: 0, stdout: "All 2 requests match the recorded ones\n" });
});
