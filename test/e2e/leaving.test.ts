import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import type { PiTerminal } from "../helpers/pty.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { ask, openShell, START_PI, untilPrompt } from "./shell.js";
import { agentDirFor, answer, modesLeftOn, openPi, submit, untilGone } from "./support.js";

/** Loaded before pi: throws an error on command. */
const ACCIDENTS = `
process.on("SIGUSR2", () => { throw new Error("an accident"); });
process.on("SIGWINCH", () => {
	if (require("node:fs").existsSync("reject")) Promise.reject(new Error("an accident"));
});
`;

const signal = (name: NodeJS.Signals) => (_: PiTerminal, pid: number) => void process.kill(pid, name);

test.each<[string, number, (pi: PiTerminal, pid: number) => unknown]>([
	["/quit", 0, (pi) => submit(pi, "/quit")],
	["ctrl+d", 0, (pi) => pi.press("ctrl+d")],
	[
		"ctrl+c twice",
		0,
		async (pi) => {
			await pi.press("ctrl+c");
			await pi.waitForText("again to quit");
			await pi.press("ctrl+c");
		},
	],
	["SIGINT from outside", 130, signal("SIGINT")],
	["SIGTERM", 143, signal("SIGTERM")],
	["SIGHUP", 129, signal("SIGHUP")],
	["SIGQUIT", 131, signal("SIGQUIT")],
	["an uncaught error", 1, signal("SIGUSR2")],
	[
		"an unhandled rejection",
		1,
		(pi, pid) => {
			writeFiles(pi.cwd, { reject: "" });
			process.kill(pid, "SIGWINCH");
		},
	],
])("after %s the terminal is restored, and the last screen remains above the shell's prompt", async (_, code, end) => {
	const provider = await startProvider();
	const dir = tempDir();
	writeFiles(dir, { "accidents.cjs": ACCIDENTS });
	const pi = await openShell(agentDirFor(provider), { NODE_FLAGS: `--require ${join(dir, "accidents.cjs")}` });
	const before = await ask(pi, "stty -g");
	await submit(pi, START_PI);
	await pi.waitForText(/Scripted$/m);
	provider.reply("The last answer.");
	await submit(pi, "the last question");
	await pi.waitForText("The last answer.");
	await pi.waitForGone("esc stops");
	await end(pi, Number(readFileSync(join(pi.cwd, "pid"), "utf8")));
	await untilPrompt(pi);
	const output = pi.output();
	expect(modesLeftOn(output)).toEqual([25]);
	expect(keyReportsLeftOn(output)).toEqual([]);
	const lines = (await pi.scrollback()).split("\n");
	const answer = lines.lastIndexOf("▎ The last answer.");
	const footer = lines.findIndex((line, row) => row > answer && line.startsWith("context "));
	expect([answer > 0, footer > answer, lines.length - 1 > footer]).toEqual([true, true, true]);
	const { row } = await pi.cursor();
	expect((await pi.screen()).split("\n")[row]).toMatch(/^shell>/);
	expect(await ask(pi, "echo $?")).toBe(String(code));
	expect(await ask(pi, "stty -g")).toBe(before);
});

test("ctrl+c stops the run and keeps pi open; ctrl+d asks before it ends one, and the last lines say what ended", async () => {
	const provider = await startProvider();
	const pi = await openPi({ agentDir: agentDirFor(provider) });
	const run = toolCall("bash", { command: "sleep 1000" });
	provider.reply([run], [toolCall("bash", { command: "sleep 2000", background: true })], [run]);
	await submit(pi, "go");
	await pi.waitForText("bash sleep 1000 ·");
	await pi.press("ctrl+c");
	await pi.waitForText("press ctrl+c again to quit");
	await pi.waitForGone("esc stops");
	await submit(pi, "again");
	await pi.waitForText("bash sleep 1000 ·");
	await pi.press("ctrl+d");
	const question = await pi.waitForText("Quit pi?");
	expect(question).toContain("This ends the run and 1 background command.");
	expect(question).toContain("job-1  sleep 2000");
	await pi.press("escape");
	await pi.waitForText("bash sleep 1000 ·");
	await pi.press("ctrl+d");
	await pi.waitForText("Quit pi?");
	await answer(pi, "y");
	expect(await pi.exited).toMatchObject({ code: 0 });
	const last = (await pi.scrollback()).split("\n").slice(-3);
	expect(last).toEqual([
		"Stopped the run",
		"Ended 1 background command with the session: job-1 (sleep 2000)",
		expect.stringMatching(/^Resume this session with pi --session /),
	]);
});

test("pi exits when the terminal is closed", async () => {
	const provider = await startProvider();
	const pi = await openPi({ agentDir: agentDirFor(provider) });
	pi.hangUp();
	expect(await pi.exited).toEqual({ code: 0, signal: 1 });
});

test("pi exits when the terminal is closed without a signal, as for a program of another session", async () => {
	const provider = await startProvider();
	const shell = await openShell(agentDirFor(provider));
	await submit(shell, `trap '' HUP; setsid sh -c 'echo $$ > pid; "$NODE" "$PI"; echo $? > code'`);
	await shell.waitForText(/Scripted$/m);
	const pid = Number(readFileSync(join(shell.cwd, "pid"), "utf8"));
	shell.hangUp();
	await untilGone(pid);
	expect(readFileSync(join(shell.cwd, "code"), "utf8")).toBe("129\n");
});

test("400 resizes in a row leave one screen of the last size", async () => {
	const provider = await startProvider();
	const pi = await openPi({ agentDir: agentDirFor(provider) });
	await pi.waitForText(/Scripted$/m);
	pi.type("a draft");
	await pi.waitForText("a draft");
	for (let count = 0; count < 400; count++) pi.resize(20 + ((count * 37) % 100), 8 + ((count * 13) % 30));
	pi.resize(64, 22);
	await pi.waitForText(/^─{64}\n a draft *\n─{64}$/m);
	provider.reply("Still here.");
	await pi.press("enter");
	await pi.waitForText("Still here.");
});

/** Key reporting modes that were turned on and not off: Kitty's and xterm's. */
function keyReportsLeftOn(output: string): string[] {
	const left = [
		["Kitty", output.split("\x1b[>7u").length - output.split("\x1b[<u").length],
		["modifyOtherKeys", output.lastIndexOf("\x1b[>4;2m") - output.lastIndexOf("\x1b[>4;0m")],
	] as const;
	return left.filter(([, difference]) => difference > 0).map(([name]) => name);
}
