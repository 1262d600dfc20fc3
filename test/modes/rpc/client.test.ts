import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { RpcClient } from "../../../src/modes/rpc/client.js";
import { startProvider } from "../../helpers/loopback-provider.js";
import { piPlace } from "../../helpers/pi-environment.js";
import { spawnPi } from "../../helpers/run-pi.js";
import { tempAgentDir } from "../../helpers/temp.js";
import { serve } from "./serve.js";

const ENTRY = fileURLToPath(new URL("serve-process.mjs", import.meta.url));
const OPTIONS = JSON.stringify({ model: "loopback/scripted", offline: true, session: { kind: "memory" } });

describe("a client", () => {
	test("asks, answers a dialog and reads the answer", async () => {
		const { client, provider } = await serve({
			hooks: {
				"gate.ts": `export default (pi) => pi.on("tool_call", async ({ input }, ctx) =>
	(await ctx.ui.confirm("Run it?", input.command)) ? undefined : { block: true, reason: "no" });`,
			},
		});
		provider.reply([{ type: "toolCall", name: "bash", arguments: { command: "echo hi" } }], "it said hi");
		const printed: string[] = [];
		const confirm = (question: string) => question === "echo hi";
		const print = (text: string) => printed.push(text);
		client.subscribe((event) => {
			if (event.type === "tool_execution_start") print(`runs ${event.toolName}`);
		});
		client.onDialog((dialog) => (dialog.method === "confirm" ? confirm(dialog.message) : null));

		const end = client.nextEvent((event) => event.type === "agent_end");
		await client.call("prompt", { message: "What does `echo hi` say?" });
		await end;
		const { text } = await client.call("get_last_assistant_text");
		print(text ?? "no answer");
		expect(printed).toEqual(["runs bash", "it said hi"]);
	});

	test("that answers no dialogs closes them, and so does one whose answer fails", async () => {
		const { client } = await serve({
			hooks: {
				"q.ts": `export default (pi) => pi.command("q", { handler: async (ctx) => ({ status: String(await ctx.ui.input("?")) }) });`,
			},
		});
		expect(await client.call("prompt", { message: "/q" })).toMatchObject({ status: "null" });
	});

	test("hears when the server ends: what waits is refused", async () => {
		const { client } = await serve();
		const waiting = client.nextEvent(({ type }) => type === "agent_end");
		const refused = expect(waiting).rejects.toThrow("has ended");
		await client.close();
		await refused;
		await expect(client.call("get_state")).rejects.toThrow("has ended");
	});
});

describe("a program in RPC mode", () => {
	test("is started, driven and ended by a client", async () => {
		const provider = await startProvider();
		const { env, cwd } = piPlace({ agentDir: tempAgentDir({ models: provider.modelsJson() }) });
		provider.reply("hello from far");
		let stderr = "";
		const client = RpcClient.spawn({
			entry: ENTRY,
			args: [OPTIONS],
			cwd,
			env,
			onStderr: (text) => {
				stderr += text;
			},
		});
		onTestFinished(() => client.close());
		const end = client.nextEvent(({ type }) => type === "agent_end");
		await client.call("prompt", { message: "hi" });
		await end;
		expect(await client.call("get_last_assistant_text")).toEqual({ text: "hello from far" });
		await client.close();
		expect(stderr).toBe("");
	}, 60_000);

	test("answers what was piped in and exits with 0 at its end, and with 143 on SIGTERM", async () => {
		const provider = await startProvider();
		const agentDir = tempAgentDir({ models: provider.modelsJson() });
		const piped = spawnPi([OPTIONS], { entry: ENTRY, agentDir });
		piped.write('{"id":1,"type":"get_state"}\nnonsense\n{"id":2,"type":"get_commands"}');
		piped.end();
		const { code, stdout } = await piped.exited;
		expect(code).toBe(0);
		const answers = stdout.split("\n").flatMap((line) => (line.includes('"response"') ? [JSON.parse(line)] : []));
		expect(answers.map(({ id, success }) => [id, success])).toEqual([
			[undefined, false],
			[1, true],
			[2, true],
		]);

		const stopped = spawnPi([OPTIONS], { entry: ENTRY, agentDir });
		stopped.write('{"id":1,"type":"get_state"}\n');
		await stopped.waitFor((run) => run.stdout.includes('"response"'), 40_000);
		stopped.kill("SIGTERM");
		expect(await stopped.exited).toMatchObject({ code: 143, stderr: "" });
	}, 60_000);
});
