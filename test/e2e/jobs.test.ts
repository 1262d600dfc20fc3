import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import type { PiTerminal } from "../helpers/pty.js";
import { spawnPi } from "../helpers/run-pi.js";
import { tempDir } from "../helpers/temp.js";
import { agentDirFor, openPi, submit, submitIdle, untilGone } from "./support.js";

/** Two processes that write their ids, ignore every signal but KILL and never end. */
const TREE =
	"trap '' TERM HUP INT; sh -c 'trap \"\" TERM HUP INT; echo $$ > grandchild; while :; do sleep 0.1; done' & echo $$ > child; while :; do sleep 0.1; done";
const START = [toolCall("bash", { command: TREE, background: true })];
/** All processes are gone this long after the end of pi. */
const LIMIT_MS = 2000;

test.each<[string, (pi: PiTerminal) => unknown]>([
	["kill -9", (pi) => pi.kill("SIGKILL")],
	["SIGTERM", (pi) => pi.kill("SIGTERM")],
	["SIGHUP", (pi) => pi.kill("SIGHUP")],
	["/quit", (pi) => submit(pi, "/quit")],
])("after %s no process of a background command is left", async (_, end) => {
	const { pi, pids } = await running();
	await end(pi);
	await pi.exited;
	const endedAt = performance.now();
	for (const pid of pids) await untilGone(pid);
	expect(performance.now() - endedAt).toBeLessThan(LIMIT_MS);
});

test("a background command survives Escape and ends with its session, and the screen says so", async () => {
	const { pi, pids, provider } = await running();
	provider.reply([toolCall("jobs", { action: "wait", id: "job-1" })]);
	await submit(pi, "wait for it");
	await pi.waitForText(/jobs wait job-1 · \d+ s · esc stops/);
	await pi.press("escape");
	await pi.waitForGone("esc stops");
	await submit(pi, "/jobs");
	await pi.waitForText(/→ job-1 · trap.* running for/);
	await pi.press("escape");
	await pi.waitForGone("→ job-1");
	await submitIdle(pi, "/new");
	await pi.waitForText("Ended 1 background command with the session: job-1");
	for (const pid of pids) await untilGone(pid);
	await pi.waitForGone("1 job");
});

test("pi -p ends background commands when it has its answer, and says so in one line on stderr", async () => {
	const provider = await startProvider();
	const cwd = tempDir();
	provider.reply(START, "Started it.");
	const pi = spawnPi(["-p", "go"], { agentDir: agentDirFor(provider), cwd });
	pi.end();
	const { code, stdout, stderr } = await pi.exited;
	expect([code, stdout]).toEqual([0, "Started it.\n"]);
	const lines = stderr.split("\n").filter((line) => line.includes("background"));
	expect(lines).toEqual([expect.stringMatching(/^Ended 1 background command with the session: job-1 \(trap/)]);
	if (existsSync(join(cwd, "child"))) for (const pid of await pidsIn(cwd)) await untilGone(pid);
});

test("RPC clients receive the events of background commands, and their number", async () => {
	const provider = await startProvider();
	provider.reply([toolCall("bash", { command: "echo hi; sleep 0.5; exit 2", background: true })], "ok");
	const pi = spawnPi(["--mode", "rpc"], { agentDir: agentDirFor(provider) });
	pi.write('{"id":1,"type":"prompt","message":"go"}\n');
	await pi.waitFor(({ stdout }) => stdout.includes('"job_start"'));
	pi.write('{"id":2,"type":"get_state"}\n');
	await pi.waitFor(({ stdout }) => stdout.includes('"jobCount":1'));
	await pi.waitFor(({ stdout }) => stdout.includes('"job_end"'));
	pi.write('{"id":3,"type":"get_state"}\n');
	await pi.waitFor(({ stdout }) => stdout.includes('"jobCount":0'));
	const end =
		pi
			.stdout()
			.split("\n")
			.find((line) => line.includes('"job_end"')) ?? "";
	expect(JSON.parse(end)).toMatchObject({ job: { id: "job-1", exitCode: 2, isRunning: false, lastLine: "hi" } });
	pi.end();
	await pi.exited;
});

async function running() {
	const provider = await startProvider();
	const pi = await openPi({ agentDir: agentDirFor(provider) });
	provider.reply(START, "It runs.");
	await submit(pi, "go");
	await pi.waitForText("▎ It runs.");
	await pi.waitForText("1 job");
	return { pi, provider, pids: await pidsIn(pi.cwd) };
}

/** The ids in the files of `TREE`, once they are written. */
async function pidsIn(dir: string): Promise<number[]> {
	const read = (name: string) => {
		const path = join(dir, name);
		return existsSync(path) ? Number(readFileSync(path, "utf8")) : 0;
	};
	await expect.poll(() => read("child") > 0 && read("grandchild") > 0, { timeout: 5000 }).toBe(true);
	return [read("child"), read("grandchild")];
}

test("ctrl+b moves the running command to the background: the run goes on, and quitting names what it ends", async () => {
	const provider = await startProvider();
	const [agentDir, cwd] = [agentDirFor(provider), tempDir()];
	const build = "echo step one; until [ -e go ]; do sleep 0.05; done; echo step two";
	provider.reply([toolCall("bash", { command: build })], "It builds meanwhile.");
	const pi = await openPi({ agentDir, cwd, columns: 100 });
	await submit(pi, "build it");
	await pi.waitForText("step one");
	await pi.waitForText(/ctrl\+b background/);
	await pi.press("ctrl+b");
	await pi.waitForText("It builds meanwhile.");
	await pi.waitForText("moved to job-1");
	await pi.waitForText("1 job");
	await pi.waitForGone("esc stops");

	await submit(pi, "!echo mine; sleep 1000");
	await pi.waitForText(/│ mine/);
	await pi.press("ctrl+b");
	await pi.waitForText("moved to job-2");
	await pi.waitForText("2 jobs");
	writeFileSync(join(cwd, "go"), "");
	await pi.waitForText(/job-1: exit code 0 after/);
	await submit(pi, "/jobs");
	await pi.waitForText("job-2");
	await pi.press("escape");
	await pi.waitForGone("→ job-");
	await submitIdle(pi, "/quit");
	expect((await pi.exited).code).toBe(0);
	expect((await pi.screen()).replaceAll("\n", "")).toContain(
		"Ended 1 background command with the session: job-2 (echo mine; sleep 1000)",
	);
});
