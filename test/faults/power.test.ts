import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { agentDirFor } from "../e2e/support.js";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir } from "../helpers/temp.js";
import { drive, faultEnv } from "./driver.js";
import { acknowledgedBy, bytesOf, expectNoStack, lostEntries } from "./judge.js";

const HOOK = `export default (pi) => pi.command("note", {
	handler: async (ctx) => { await ctx.saveEntry({ type: "test_note", text: ctx.argsRaw }); },
});`;

/** What the disk holds after a power loss: of the file, what was synced, if its directory was synced too. */
function survivor(synced: string, file: string): Buffer {
	const records = bytesOf(synced).toString().trim().split("\n");
	const known = records.filter((line) => line !== "").map((line): { path: string; size?: number } => JSON.parse(line));
	if (!known.some(({ path }) => path === dirname(file))) return Buffer.alloc(0);
	const size = known.filter(({ path }) => path === file).at(-1)?.size ?? 0;
	return readFileSync(file).subarray(0, size);
}

test("power: after a run, a compaction, a command of a hook and the end of pi, no entry is lost with the power", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider, {
		settings: { compaction: { keepRecentTokens: 1 } },
		hooks: { "note.ts": HOOK },
	});
	const file = join(agentDir, "sessions", "session.jsonl");
	mkdirSync(dirname(file));
	const [synced, copy] = [join(tempDir(), "synced"), join(agentDir, "sessions", "copy.jsonl")];
	provider.on(({ index }) => (index === 0 ? [toolCall("bash", { command: "echo one" })] : `Answer ${index}.`));
	const driver = drive(["--session", file], { agentDir, env: faultEnv({ under: dirname(file), synced }) });
	const expectSafe = (step: string) =>
		expect
			.poll(
				() => {
					writeFileSync(copy, survivor(synced, file));
					return lostEntries(copy, acknowledgedBy(driver.events));
				},
				{ message: step, timeout: 2000 },
			)
			.toEqual([]);
	await driver.ask("prompt 1");
	await expectSafe("a run");
	await driver.ask("prompt 2");
	await expectSafe("another run");
	await driver.client.call("compact");
	await expectSafe("a compaction");
	await driver.client.call("prompt", { message: "/note text" });
	expect(acknowledgedBy(driver.events).at(-1)?.content).toMatchObject({ type: "test_note", text: "text" });
	await expectSafe("a command");
	await driver.client.call("bash", { command: "echo two" });
	driver.end();
	await driver.exited;
	await expectSafe("the end");
	const run = await runPi(["-p", "--session", copy, "go on"], { agentDir });
	expect(run).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Answer \d\.\n$/) });
	expectNoStack(run.stderr);
	expect(provider.violations).toEqual([]);
});
