import { expect, test } from "vitest";
import { isObject, parseJson } from "../helpers/json.js";
import { startProvider, text, toolCall } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { agentDirFor } from "./support.js";

test.each([[["--mode", "json", "look"]], [["-p", "--mode", "json", "look"]]])(
	"every line of JSON mode is an event, from the session header to the end of the run: %j",
	async (args) => {
		const provider = await startProvider();
		provider.reply([text("Let me see."), toolCall("bash", { command: "echo a tool" })]).reply("Done.");
		const run = await runPi(args, { agentDir: agentDirFor(provider) });
		expect(run).toMatchObject({ code: 0, stderr: "" });
		expect(run.stdout.endsWith("\n")).toBe(true);
		const events = run.stdout.trimEnd().split("\n").map(parseJson).filter(isObject);
		expect(events).toHaveLength(run.stdout.trimEnd().split("\n").length);
		expect(events[0]).toMatchObject({ type: "session", version: 1, cwd: expect.any(String) });
		const documented = [
			"agent_start",
			"turn_start",
			"message_start",
			"message_update",
			"message_end",
			"tool_execution_start",
			"tool_execution_end",
			"turn_end",
			"agent_end",
		];
		const types = events.map(({ type }) => type);
		expect(documented.filter((type) => !types.includes(type))).toEqual([]);
		expect(events.find(({ type }) => type === "tool_execution_start")).toMatchObject({
			toolName: "bash",
			args: { command: "echo a tool" },
			toolCallId: expect.any(String),
		});
		expect(events.find(({ type }) => type === "tool_execution_end")).toMatchObject({
			isError: false,
			result: { content: [{ type: "text", text: expect.stringContaining("a tool") }] },
		});
		expect(
			events.filter(({ type }) => type === "message_end").map(({ message }) => isObject(message) && message.role),
		).toEqual(["user", "assistant", "toolResult", "assistant"]);
		const end = events.findLast(({ type }) => type === "agent_end");
		expect(end?.messages).toHaveLength(4);
	},
);

test("a failure in JSON mode is an event, and the exit code is 1", async () => {
	const provider = await startProvider();
	provider.reply({ fault: { kind: "http", status: 400, message: "no such thing" } });
	const run = await runPi(["--mode", "json", "hi"], { agentDir: agentDirFor(provider) });
	expect(run.code).toBe(1);
	const events = run.stdout.trimEnd().split("\n").map(parseJson).filter(isObject);
	expect(events.findLast(({ type }) => type === "error")).toMatchObject({ message: expect.stringContaining("400") });
});

test("errors of session handlers at the start and at the end are events between the header and the last line", async () => {
	const provider = await startProvider();
	provider.reply("Done.");
	const broken = `export default (pi) => pi.on("session", ({ reason }) => { throw new Error("broke at " + reason); });`;
	const agentDir = agentDirFor(provider, { hooks: { "broken.ts": broken } });
	const run = await runPi(["--mode", "json", "hi"], { agentDir });
	expect(run.code).toBe(0);
	const events = run.stdout.trimEnd().split("\n").map(parseJson).filter(isObject);
	const error = (reason: string) =>
		expect.objectContaining({ type: "hook_error", event: "session", error: `broke at ${reason}`, line: 1 });
	expect([events[0], events[1], events.at(-1)]).toEqual([
		expect.objectContaining({ type: "session" }),
		error("start"),
		error("shutdown"),
	]);
	expect(events.filter(({ type }) => type === "hook_error")).toHaveLength(2);
	expect(run.stderr.trimEnd().split("\n")).toEqual(
		["start", "shutdown"].map((reason) => expect.stringMatching(`failed on session: broke at ${reason}$`)),
	);
});
