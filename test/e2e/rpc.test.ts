import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { RpcClient } from "../../src/modes/rpc/client.js";
import { checkClientEvents } from "../helpers/event-schema.js";
import { startProvider } from "../helpers/loopback-provider.js";
import { piPlace, piProgram } from "../helpers/pi-environment.js";
import { spawnPi } from "../helpers/run-pi.js";
import { tempAgentDir } from "../helpers/temp.js";

const OPTIONS = ["--model", "loopback/scripted", "--no-session", "--offline"];

describe("a program in RPC mode", () => {
	test("is started, driven and ended by a client", async () => {
		const provider = await startProvider();
		const { env, cwd } = piPlace({ agentDir: tempAgentDir({ models: provider.modelsJson() }) });
		provider.reply("hello from far");
		let stderr = "";
		const client = RpcClient.spawn({
			entry: piProgram(),
			args: OPTIONS,
			cwd,
			env,
			onStderr: (text) => {
				stderr += text;
			},
		});
		onTestFinished(() => client.close());
		checkClientEvents(client);
		const end = client.nextEvent(({ type }) => type === "agent_end");
		await client.call("prompt", { message: "hi" });
		await end;
		expect(await client.call("get_last_assistant_text")).toEqual({ text: "hello from far" });
		await client.close();
		expect(stderr).toBe("");
	});

	test("applies edits of settings.json while it runs, and reports a broken edit to the client", async () => {
		const provider = await startProvider();
		const agentDir = tempAgentDir({ models: provider.modelsJson() });
		const { env, cwd } = piPlace({ agentDir });
		const client = RpcClient.spawn({ entry: piProgram(), args: OPTIONS, cwd, env, onStderr: () => {} });
		onTestFinished(() => client.close());
		checkClientEvents(client);
		expect(await client.call("get_state")).toMatchObject({ queueMode: "one-at-a-time", autoRetryEnabled: true });
		await client.call("set_auto_retry", { enabled: false });
		writeFileSync(join(agentDir, "settings.json"), '{"queueMode": "all"}');
		await expect.poll(() => client.call("get_state")).toMatchObject({ queueMode: "all", autoRetryEnabled: false });
		const notice = client.nextEvent(({ type }) => type === "notice");
		writeFileSync(join(agentDir, "settings.json"), '{"queueMode": }');
		expect(await notice).toMatchObject({ message: expect.stringMatching(/settings\.json:1:15: /) });
		expect(await client.call("get_state")).toMatchObject({ queueMode: "all" });
	});

	test("answers piped input and exits with 0 at its end, and with 143 on SIGTERM", async () => {
		const provider = await startProvider();
		const agentDir = tempAgentDir({ models: provider.modelsJson() });
		const piped = spawnPi(["--mode", "rpc", ...OPTIONS], { agentDir });
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

		const stopped = spawnPi(["--mode", "rpc", ...OPTIONS], { agentDir });
		stopped.write('{"id":1,"type":"get_state"}\n');
		await stopped.waitFor((run) => run.stdout.includes('"response"'), 40_000);
		stopped.kill("SIGTERM");
		expect(await stopped.exited).toMatchObject({ code: 143, stderr: "" });
	});
});
