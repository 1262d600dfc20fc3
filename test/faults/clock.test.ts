import { join } from "node:path";
import { expect, test } from "vitest";
import { agentDirFor } from "../e2e/support.js";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { drive, faultEnv } from "./driver.js";
import { acknowledgedBy, expectNoStack, lostEntries } from "./judge.js";

const [HOUR, YEAR] = [3_600_000, 31_536_000_000];

test("clock: while the clock jumps, runs, retries and time limits work, and entries keep their order", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider, { settings: { retry: { baseDelayMs: 20 } } });
	const file = join(agentDir, "session.jsonl");
	const env = faultEnv({ under: "/nowhere", clock: [0, YEAR, -HOUR, HOUR, -20 * YEAR, 0] });
	provider
		.reply([toolCall("bash", { command: "sleep 30", timeout: 0.3 })])
		.reply({ fault: { kind: "http", status: 503, message: "busy" } }, "One.");
	const startedAt = performance.now();
	const driver = drive(["--session", file], { agentDir, env });
	await driver.ask("prompt 1");
	expect(await driver.client.call("get_last_assistant_text")).toEqual({ text: "One." });
	const acknowledged = acknowledgedBy(driver.events);
	expect(acknowledged.map(({ content }) => content.role)).toEqual(
		expect.arrayContaining(["user", "assistant", "toolResult"]),
	);
	expect(acknowledged.map(({ entryIndex }) => entryIndex)).toEqual(
		acknowledged.map(({ entryIndex }) => entryIndex).sort((a, b) => a - b),
	);
	expect(lostEntries(file, acknowledged)).toEqual([]);
	// The lock of a running process does not look old to another one.
	const second = await runPi(["-p", "--session", file, "go on"], { agentDir, env });
	expect(second).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(`${driver.pid}`) });
	driver.end();
	expect(await driver.exited).toEqual({ code: 0, signal: null });
	provider.reply("Two.");
	const run = await runPi(["-p", "--session", file, "prompt 2"], { agentDir, env });
	expect(run).toMatchObject({ code: 0, stdout: "Two.\n" });
	expectNoStack(driver.stderr() + run.stderr);
	const said = provider.requests.at(-1)?.messages.filter(({ role }) => role === "user");
	expect(said?.map(({ text }) => text)).toEqual(["prompt 1", "prompt 2"]);
	expect(performance.now() - startedAt).toBeLessThan(20_000);
	expect(provider.violations).toEqual([]);
});
