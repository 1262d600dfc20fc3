import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type LoopbackProvider, startProvider } from "../helpers/loopback-provider.js";
import type { PiTerminal } from "../helpers/pty.js";
import { type PiProcess, spawnPi } from "../helpers/run-pi.js";
import { tempDir } from "../helpers/temp.js";
import { agentDirFor, openPi, submit } from "./support.js";

/** Logs its start, and its shutdown in two steps with a wait between, like a hook that cleans up. */
const DIARY = `
import { appendFileSync } from "node:fs";
export default (pi) => pi.on("session", async ({ reason }, ctx) => {
	const note = (text) => appendFileSync(ctx.cwd + "/diary", text + "\\n");
	if (reason === "start") note("start");
	if (reason !== "shutdown") return;
	note("shutdown begins");
	await new Promise((resolve) => setTimeout(resolve, 100)); // the work that pi must wait for
	note("shutdown is over");
});`;
const COMPLETE = "start\nshutdown begins\nshutdown is over\n";

const diary = (cwd: string) => {
	try {
		return readFileSync(join(cwd, "diary"), "utf8");
	} catch {
		return "";
	}
};

/** State of the program at its end: idle, or waiting for the model's answer. */
async function place(isBusy: boolean): Promise<{ agentDir: string; cwd: string; provider: LoopbackProvider }> {
	const provider = await startProvider();
	if (isBusy) provider.reply({ content: [{ type: "text", text: "Half of" }], hold: new Promise(() => {}) });
	return { agentDir: agentDirFor(provider, { hooks: { "diary.ts": DIARY } }), cwd: tempDir(), provider };
}

async function untilStarted(cwd: string): Promise<void> {
	await expect.poll(() => diary(cwd), { timeout: 10_000, interval: 20 }).toContain("start");
}

/** The system decides which of two simultaneous signals arrives first. */
const EITHER = [143, 129];

const terminalEnds: [string, (pi: PiTerminal) => unknown, number | number[]][] = [
	["Ctrl+D", (pi) => pi.press("ctrl+d"), 0],
	["Ctrl+C twice", (pi) => pi.press("ctrl+c", "ctrl+c"), 0],
	["/quit", (pi) => submit(pi, "/quit"), 0],
	["SIGTERM", (pi) => pi.kill("SIGTERM"), 143],
	["SIGHUP", (pi) => pi.kill("SIGHUP"), 129],
	[
		"SIGTERM and SIGHUP at once",
		(pi) => {
			pi.kill("SIGTERM");
			pi.kill("SIGHUP");
		},
		EITHER,
	],
];

test.each(terminalEnds)("%s on the screen lets hooks finish their shutdown, once", async (_, end, code) => {
	const { agentDir, cwd } = await place(false);
	const pi = await openPi({ agentDir, cwd });
	await untilStarted(cwd);
	await end(pi);
	const exit = await pi.exited;
	expect(exit.signal).toBe(0);
	expect([code].flat()).toContain(exit.code);
	expect(diary(cwd)).toBe(COMPLETE);
});

test("SIGTERM while the user is quitting lets hooks finish their shutdown, once", async () => {
	const { agentDir, cwd } = await place(false);
	const pi = await openPi({ agentDir, cwd });
	await untilStarted(cwd);
	await submit(pi, "/quit");
	await expect.poll(() => diary(cwd), { timeout: 10_000, interval: 5 }).toContain("shutdown begins");
	pi.kill("SIGTERM");
	await pi.exited;
	expect(diary(cwd)).toBe(COMPLETE);
});

const pipeEnds: [string, string[], (pi: PiProcess) => void, number | number[]][] = [
	["the end of stdin in RPC mode", ["--mode", "rpc"], (pi) => pi.end(), 0],
	["SIGTERM in RPC mode", ["--mode", "rpc"], (pi) => pi.kill("SIGTERM"), 143],
	[
		"the end of stdin and SIGTERM in RPC mode",
		["--mode", "rpc"],
		(pi) => {
			pi.end();
			pi.kill("SIGTERM");
		},
		143,
	],
	["SIGTERM in print mode", ["-p", "go"], (pi) => pi.kill("SIGTERM"), 143],
	["SIGHUP in JSON mode", ["--mode", "json", "go"], (pi) => pi.kill("SIGHUP"), 129],
	[
		"SIGTERM and SIGHUP at once in print mode",
		["-p", "go"],
		(pi) => {
			pi.kill("SIGTERM");
			pi.kill("SIGHUP");
		},
		EITHER,
	],
];

test.each(pipeEnds)("%s lets hooks finish their shutdown, once", async (_, args, end, code) => {
	const { agentDir, cwd, provider } = await place(!args.includes("rpc"));
	const pi = spawnPi(args, { agentDir, cwd });
	if (!args.includes("rpc")) pi.end();
	await untilStarted(cwd);
	if (args.includes("go")) await expect.poll(() => provider.requests.length, { timeout: 10_000 }).toBe(1);
	end(pi);
	const exit = await pi.exited;
	expect(exit.signal).toBeNull();
	expect([code].flat()).toContain(exit.code);
	expect(diary(cwd)).toBe(COMPLETE);
});

test("the end of a print run lets hooks finish their shutdown, once", async () => {
	const { agentDir, cwd, provider } = await place(false);
	provider.reply("done");
	const pi = spawnPi(["-p", "go"], { agentDir, cwd });
	pi.end();
	expect(await pi.exited).toMatchObject({ code: 0, stdout: "done\n" });
	expect(diary(cwd)).toBe(COMPLETE);
});

test("a closed pipe lets hooks finish their shutdown, once", async () => {
	const { agentDir, cwd, provider } = await place(false);
	provider.reply("one", "two", "three");
	const pi = spawnPi(["-p", "step a", "step b", "step c"], { agentDir, cwd });
	pi.end();
	await untilStarted(cwd);
	pi.closeStdout();
	expect(await pi.exited).toMatchObject({ code: 141, signal: null, stderr: "" });
	expect(diary(cwd)).toBe(COMPLETE);
});
