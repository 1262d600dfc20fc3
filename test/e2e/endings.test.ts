import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import type { PiTerminal } from "../helpers/pty.js";
import { spawnPi } from "../helpers/run-pi.js";
import { tempDir } from "../helpers/temp.js";
import { agentDirFor, modesLeftOn, openPi, submit, untilGone } from "./support.js";

/** A reply that runs a command which writes its process id, then runs forever and ignores TERM, HUP and INT. */
const ENDLESS = [
	toolCall("bash", { command: "trap '' TERM HUP INT; echo $$ > pid; echo started; while :; do sleep 0.1; done" }),
];

test.each([
	["SIGTERM", 143],
	["SIGHUP", 129],
	["SIGINT", 130],
] as const)("%s ends the program with the terminal restored and no child left", async (signal, code) => {
	const { pi, child } = await runningBash();
	pi.kill(signal);
	expect(await pi.exited).toEqual({ code, signal: 0 });
	expect(modesLeftOn(pi.output())).toEqual([25]);
	await untilGone(child);
});

test("kill -9 leaves no child of a running tool behind", async () => {
	const { pi, child } = await runningBash();
	pi.kill("SIGKILL");
	expect((await pi.exited).signal).toBe(9);
	await untilGone(child);
});

test("kill -9 during a reply keeps the prompt, and the session can be continued", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider);
	const cwd = tempDir();
	provider.reply({ content: [{ type: "text", text: "Half of" }], hold: new Promise(() => {}) });
	const pi = await openPi({ agentDir, cwd });
	await submit(pi, "remember me");
	await pi.waitForText("Half of");
	pi.kill("SIGKILL");
	await pi.exited;
	provider.reply("I do.");
	const next = spawnPi(["-p", "--continue", "do you?"], { agentDir, cwd });
	next.end();
	expect(await next.exited).toMatchObject({ code: 0, stdout: "I do.\n" });
	expect(provider.requests[1]?.messages.filter(({ role }) => role === "user").map(({ text }) => text)).toEqual([
		"remember me",
		"do you?",
	]);
});

test.each([
	["SIGINT", 130],
	["SIGTERM", 143],
] as const)("%s ends print mode without an answer and without children", async (signal, code) => {
	const provider = await startProvider();
	const cwd = tempDir();
	provider.reply(ENDLESS);
	const pi = spawnPi(["-p", "go"], { agentDir: agentDirFor(provider), cwd });
	pi.end();
	const child = await pidIn(cwd);
	pi.kill(signal);
	expect(await pi.exited).toMatchObject({ code, signal: null, stdout: "" });
	await untilGone(child);
});

async function runningBash(): Promise<{ pi: PiTerminal; child: number }> {
	const provider = await startProvider();
	const pi = await openPi({ agentDir: agentDirFor(provider) });
	provider.reply(ENDLESS);
	await submit(pi, "go");
	// Wait for the command's output: the command line contains the same word and is shown before it runs.
	await pi.waitForText(/│ started/);
	return { pi, child: await pidIn(pi.cwd) };
}

/** The number in the file `pid` of a directory, once the file exists. */
async function pidIn(dir: string): Promise<number> {
	const read = () => {
		try {
			return Number(readFileSync(join(dir, "pid"), "utf8"));
		} catch {
			return 0;
		}
	};
	await expect.poll(read, { timeout: 10_000, interval: 20 }).toBeGreaterThan(0);
	return read();
}
