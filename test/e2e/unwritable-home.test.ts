import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type LoopbackProvider, startProvider, toolCall } from "../helpers/loopback-provider.js";
import { piProgram } from "../helpers/pi-environment.js";
import { runPi, spawnPi } from "../helpers/run-pi.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor, answer, openPi, submit, submitIdle } from "./support.js";

/** Ways to make an agent directory unwritable, as commands of a shell in its own mount namespace. */
const MOUNTS = {
	"read-only": 'mount --bind "$D" "$D" && mount -o remount,ro,bind "$D"',
	full: 'mount -t tmpfs -o size=16k tmpfs "$D/sessions" && (cat /dev/zero > "$D/sessions/ballast" || true) 2>&-',
};
const canMount = spawnSync("unshare", ["-m", "true"]).status === 0;

type Obstacle = keyof typeof MOUNTS | "not a directory";

const OBSTACLES: Obstacle[] = canMount ? ["read-only", "full", "not a directory"] : ["not a directory"];

/** An agent directory that pi cannot save sessions in, and the program that starts pi with it. */
function unwritable(obstacle: Obstacle, provider: LoopbackProvider): { agentDir: string; entry: string } {
	if (obstacle === "not a directory") {
		// Files in place of the directories, because no permission stops the superuser.
		const files = { sessions: "in the way", tmp: "in the way", cache: "in the way" };
		return { agentDir: agentDirFor(provider, { files }), entry: piProgram() };
	}
	const agentDir = agentDirFor(provider);
	mkdirSync(join(agentDir, "sessions"));
	const dir = tempDir();
	const command = `${MOUNTS[obstacle]} && exec "$@"`;
	writeFiles(dir, {
		"start.cjs": `
			const { spawnSync } = require("node:child_process");
			process.env.D = process.env.PI_CODING_AGENT_DIR;
			const program = [process.execPath, ${JSON.stringify(piProgram())}, ...process.argv.slice(2)];
			const run = spawnSync("unshare", ["-m", "sh", "-c", ${JSON.stringify(command)}, "sh", ...program], { stdio: "inherit" });
			process.exit(run.status ?? 1);
		`,
	});
	return { agentDir, entry: join(dir, "start.cjs") };
}

const NOTICE = /^Cannot save the session to [^\n]+ · the session continues in memory[^\n]*\n$/;

describe.each(OBSTACLES)("a home that cannot be written to (%s) costs one line and no answer", (obstacle) => {
	test("in print mode", async () => {
		const provider = await startProvider();
		provider.reply([toolCall("bash", { command: "seq 1 30000" })]).reply("One.", "Two.");
		const run = await runPi(["-p", "first question", "/new", "second question"], unwritable(obstacle, provider));
		expect(run).toMatchObject({ code: 0, stdout: expect.stringMatching(/^One\.\n.*\nTwo\.\n$/) });
		expect(run.stderr.replace("bash seq 1 30000\n", "")).toMatch(NOTICE);
		const result = provider.requests[1]?.messages.at(-1)?.text;
		// The complete output of a command needs a directory too: another one is used.
		expect(result).toMatch(/Full output: \S+\.log/);
	});

	test("in JSON mode", async () => {
		const provider = await startProvider();
		provider.reply("One.", "Two.");
		const run = await runPi(["--mode", "json", "the first", "the second"], unwritable(obstacle, provider));
		expect(run).toMatchObject({ code: 0, stderr: expect.stringMatching(NOTICE) });
		const events = run.stdout
			.trim()
			.split("\n")
			.map((line) => JSON.parse(line));
		expect(events.filter(({ type }) => type === "notice")).toHaveLength(1);
		expect(events.filter(({ type }) => type === "agent_end")).toHaveLength(2);
	});

	test("in RPC mode", async () => {
		const provider = await startProvider();
		provider.reply("One.", "Two.");
		const pi = spawnPi(["--mode", "rpc"], unwritable(obstacle, provider));
		for (const [at, message] of ["first", "second"].entries()) {
			pi.write(`${JSON.stringify({ type: "prompt", message })}\n`);
			await pi.waitFor(({ stdout }) => stdout.split('"type":"agent_end"').length === at + 2);
		}
		pi.end();
		expect(await pi.exited).toMatchObject({ code: 0, stderr: expect.stringMatching(NOTICE) });
	});

	test.each([40, 80, 120])("in the shell, %i columns wide", async (columns) => {
		const provider = await startProvider();
		provider.reply("One.", "Two.");
		const pi = await openPi({ ...unwritable(obstacle, provider), columns, rows: 40 });
		const noticed = async () => {
			const text = (await pi.scrollback()).replace(/\s+/g, " ");
			return text.match(/Cannot save|Cannot write|EROFS|ENOSPC|not a directory/g) ?? [];
		};
		await submit(pi, "first");
		await pi.waitForText("One.");
		expect(await noticed()).toEqual([
			"Cannot save",
			{ "read-only": "EROFS", full: "ENOSPC", "not a directory": obstacle }[obstacle],
		]);
		// A new session begins with an empty screen, and its failed writes are not reported again.
		await submitIdle(pi, "/new");
		await pi.waitForText("Start a new session?");
		await answer(pi, "y");
		await pi.waitForText("New session");
		await submit(pi, "second");
		await pi.waitForText("Two.");
		expect(await noticed()).toEqual([]);
	});
});
