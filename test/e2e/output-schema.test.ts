import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { RpcClient } from "../../src/modes/rpc/client.js";
import { checkClientEvents } from "../helpers/event-schema.js";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { piPlace, piProgram } from "../helpers/pi-environment.js";
import { runPi } from "../helpers/run-pi.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor } from "./support.js";

const CITY = {
	type: "object",
	properties: { city: { type: "string" } },
	required: ["city"],
	additionalProperties: false,
};
const PARIS = { city: "Paris" };

test("pi -p prints the JSON alone, the session verifies, and goes on without the schema", async () => {
	const provider = await startProvider();
	provider.reply([toolCall("ls", {})], "It is Paris.", [toolCall("answer", PARIS)]);
	const [agentDir, cwd, sessionDir] = [agentDirFor(provider), tempDir(), tempDir()];
	writeFiles(cwd, { "city.json": CITY });
	const place = { agentDir, cwd };
	const args = ["-p", "--session-dir", sessionDir];
	const asked = await runPi([...args, "--output-schema", "city.json", "which city?"], place);
	expect(asked).toEqual({ code: 0, signal: null, stdout: '{"city":"Paris"}\n', stderr: "ls .\nanswer city=Paris\n" });
	provider.reply("You are welcome.");
	expect(await runPi([...args, "--continue", "thanks"], place)).toMatchObject({
		code: 0,
		stdout: "You are welcome.\n",
	});
	const tools = provider.requests.map(({ body }) => JSON.stringify(body.tools).includes('"answer"'));
	expect(tools).toEqual([true, true, true, false]);
	const file = join(sessionDir, readdirSync(sessionDir)[0] ?? "");
	const verified = await runPi(["context", "--verify", "--session", file], place);
	expect(verified).toMatchObject({ code: 0, stdout: "All 4 requests match the recorded ones\n" });
	const checked = await runPi(["sessions", "check", file], place);
	expect(checked).toMatchObject({ code: 0 });
});

test("with the format of the provider, three wrong answers end the run, and the session verifies", async () => {
	const provider = await startProvider();
	provider.reply("Paris", '{"city":1}', '{"city":"Paris","people":2}');
	const models = provider.modelsJson({ compat: { supportsJsonSchema: true } });
	const [agentDir, sessionDir] = [tempAgentDir({ models }), tempDir()];
	const args = ["-p", "--model", "loopback/scripted", "--session-dir", sessionDir];
	const run = await runPi([...args, "--output-schema", JSON.stringify(CITY), "which city?"], { agentDir });
	expect(run).toMatchObject({ code: 1, stdout: "", stderr: "No answer in 3 tries: /people: is not allowed\n" });
	const file = join(sessionDir, readdirSync(sessionDir)[0] ?? "");
	const verified = await runPi(["context", "--verify", "--session", file], { agentDir });
	expect(verified).toMatchObject({ code: 0, stdout: "All 3 requests match the recorded ones\n" });
});

test.each([
	[["--output-schema", "lost.json"], "--output-schema lost.json: "],
	[["--output-schema", '{"type": }'], "--output-schema: 1:10: "],
	[["--output-schema", '{"type":"strin"}'], "--output-schema: no JSON Schema: /type: "],
	[["--output-schema", "list.json"], "--output-schema list.json: no JSON Schema: /: must be an object"],
])("%j is an argument error before any request", async (args, message) => {
	const provider = await startProvider();
	const cwd = tempDir();
	writeFiles(cwd, { "list.json": [] });
	const run = await runPi(["-p", ...args, "go"], { agentDir: agentDirFor(provider), cwd });
	expect(run).toMatchObject({ code: 2, stdout: "" });
	expect(run.stderr).toContain(message);
	expect(run.stderr.trimEnd().split("\n")).toHaveLength(1);
	expect(provider.requests).toHaveLength(0);
});

test("a prompt of RPC mode has a schema", async () => {
	const provider = await startProvider();
	const agentDir = tempAgentDir({ models: provider.modelsJson() });
	const { env, cwd } = piPlace({ agentDir });
	const args = ["--model", "loopback/scripted", "--offline", "--no-session"];
	const client = RpcClient.spawn({ entry: piProgram(), args, cwd, env, onStderr: () => {} });
	onTestFinished(() => client.close());
	checkClientEvents(client);
	await expect(client.call("prompt", { message: "go", outputSchema: { type: 1 } })).rejects.toThrow(
		"outputSchema is no JSON Schema: /type: ",
	);
	provider.reply([toolCall("answer", PARIS)]);
	const end = client.nextEvent(({ type }) => type === "agent_end");
	await client.call("prompt", { message: "go", outputSchema: CITY });
	expect(await end).toMatchObject({ structured: PARIS });
});
