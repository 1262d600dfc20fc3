import { expect, test } from "vitest";
import { RPC_COMMANDS } from "../../src/modes/rpc/protocol.js";
import { agentDirFor } from "../e2e/support.js";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { spawnPi } from "../helpers/run-pi.js";
import { expectNoStack } from "./judge.js";
import type { Random } from "./random.js";
import { faultTest } from "./rounds.js";

const LINES = 150;
const VALUES = [null, true, 7, -1, 1e99, "", "text", "\u2028\ud800", [], {}, [[]], "x".repeat(10_000), "/no/such"];
/** These write files, run programs, or end the session. */
const EXCLUDED = ["bash", "export_html", "follow_up", "prompt", "queue_message"];

function randomLine(random: Random): string {
	const types = Object.keys(RPC_COMMANDS).filter((name) => !EXCLUDED.includes(name));
	const fields = ["message", "level", "enabled", "mode", "entryIndex", "sessionPath", "provider", "modelId", "images"];
	const command: Record<string, unknown> = { type: random.pick([...types, "", "no_such", "hook_ui_answer"]) };
	if (random.chance(0.7)) command.id = random.pick(VALUES);
	for (const field of random.some(fields, 0.2)) command[field] = random.pick(VALUES);
	if (random.chance(0.1)) command.type = random.pick(VALUES);
	const line = JSON.stringify(command);
	if (random.chance(0.7)) return line;
	return random.pick([
		line.slice(0, random.below(line.length)),
		`${line}}`,
		"null",
		"[]",
		"7",
		'"x"',
		"{",
		"\u0000",
		"\ufffd",
	]);
}

faultTest(
	"streams",
	`RPC mode answers each of ${LINES} random lines once`,
	{ short: 1, long: 30 },
	async ({ random }) => {
		const provider = await startProvider();
		provider.on(() => "Fine.");
		const pi = spawnPi(["--mode", "rpc"], { agentDir: agentDirFor(provider) });
		const lines = Array.from({ length: LINES }, () => randomLine(random)).filter((line) => line.trim() !== "");
		for (const line of lines) pi.write(`${line}\n`);
		pi.write('{"type":"get_state","id":"last"}\n{"type":"prompt","id":"say","message":"go"}\n');
		await pi.waitFor(({ stdout }) => stdout.includes('"type":"agent_end"'), 20_000);
		pi.end();
		const run = await pi.exited;
		expect(run.code).toBe(0);
		expectNoStack(run.stderr);
		const answers = run.stdout.split("\n").filter((line) => line.includes('"type":"response"'));
		expect(answers).toHaveLength(lines.length + 2);
		expect(answers.find((line) => line.includes('"id":"last"'))).toContain('"success":true');
	},
);

faultTest(
	"streams",
	"a reader that closes stdout at any byte ends the program silently",
	{ short: 1, long: 40 },
	async ({ random }) => {
		const provider = await startProvider();
		provider.reply([toolCall("bash", { command: "seq 1 5000; sleep 0.05" })]);
		provider.on(() => ({ content: [{ type: "text", text: "Word. ".repeat(400) }], delayMs: random.pick([0, 1]) }));
		const pi = spawnPi(
			random.pick([
				["-p", "go"],
				["--mode", "json", "go"],
			]),
			{ agentDir: agentDirFor(provider) },
		);
		pi.end();
		const bytes = 1 + random.below(3000);
		await pi.waitFor(({ stdout }) => stdout.length >= bytes).catch(() => {}); // it wrote less
		pi.closeStdout();
		const run = await pi.exited;
		expect([0, 141]).toContain(run.code);
		expectNoStack(run.stderr);
		expect(run.stderr).not.toMatch(/EPIPE/);
	},
);

test("streams: a pipe on stdin that stays open and silent does not keep pi from answering", async () => {
	const provider = await startProvider();
	provider.on(() => "Fine.");
	const { code, stdout } = await spawnPi(["-p", "go"], { agentDir: agentDirFor(provider) }).exited;
	expect({ code, stdout }).toEqual({ code: 0, stdout: "Fine.\n" });
});
