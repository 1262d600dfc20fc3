import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { assert, describe, expect, inject, onTestFinished, test } from "vitest";
import { RpcClient } from "../../src/modes/rpc/client.js";
import { checkClientEvents } from "../helpers/event-schema.js";
import { installPackage } from "../helpers/installed-package.js";
import { startProvider } from "../helpers/loopback-provider.js";
import { piPlace, piProgram } from "../helpers/pi-environment.js";
import { spawnPi } from "../helpers/run-pi.js";
import { tempAgentDir } from "../helpers/temp.js";

/** A program that starts pi with its arguments, and prints the answer to a prompt. */
const CLIENT = `
import { RpcClient } from "@mariozechner/pi-coding-agent";
const client = RpcClient.spawn({ args: process.argv.slice(2) });
const end = client.nextEvent(({ type }) => type === "agent_end");
await client.call("prompt", { message: "hi" });
await end;
console.log((await client.call("get_last_assistant_text")).text);
await client.close();
`;

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

	test.each([
		[
			"a model that does not exist",
			["--model", "zz/none"],
			undefined,
			/^The pi process has exited with code 2: pi: .*"?zz\/none/,
		],
		[
			"a directory that does not exist",
			[],
			"/nonexistent",
			/^The pi process cannot be started: there is no directory \/nonexistent$/,
		],
	])("that cannot start with %s says why", async (_, args, wrong, message) => {
		const provider = await startProvider();
		const { env, cwd } = piPlace({ agentDir: tempAgentDir({ models: provider.modelsJson() }) });
		const client = RpcClient.spawn({ entry: piProgram(), args, cwd: wrong ?? cwd, env, onStderr: () => {} });
		const waiting = client.nextEvent(() => false);
		for (const answer of [client.call("get_state"), waiting]) {
			await expect(answer).rejects.toMatchObject({ code: "command_failed", message: expect.stringMatching(message) });
		}
		await expect(client.call("get_state")).rejects.toThrow(message);
	});

	test("is started by the client of the installed package, which knows where the program is", async () => {
		const provider = await startProvider();
		provider.reply("hello from far");
		const { env, cwd } = piPlace({ agentDir: tempAgentDir({ models: provider.modelsJson() }) });
		const tarball = inject("installation")?.tarball;
		assert(tarball);
		installPackage(cwd, tarball);
		writeFileSync(join(cwd, "client.mjs"), CLIENT);
		const { stdout } = await promisify(execFile)(process.execPath, ["client.mjs", ...OPTIONS], { cwd, env });
		expect(stdout).toBe("hello from far\n");
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
