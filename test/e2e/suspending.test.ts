import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { PI } from "../helpers/pi-environment.js";
import { type PiTerminal, startPi } from "../helpers/pty.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor, modesLeftOn, submit } from "./support.js";

/** Runs a shell with job control on the test's terminal. */
const SHELL = `
const { spawn } = require("node:child_process");
spawn("sh", ["-i"], { stdio: "inherit" }).on("exit", (code) => process.exit(code ?? 1));
`;
const START = `sh -c 'echo $$ > pid; exec "$NODE" "$PI"'`;

test.each(["kill -TSTP", "ctrl+z"])(
	"%s stops the program with the terminal in order, and fg brings its screen back",
	async (way) => {
		const provider = await startProvider();
		const pi = await openShell(agentDirFor(provider));
		await submit(pi, START);
		await pi.waitForText("/ commands");
		provider.reply("Here.");
		await submit(pi, "are you there?");
		await pi.waitForText("Here.");
		pi.type("a draft");
		await pi.waitForText("a draft");
		if (way === "ctrl+z") await pi.press("ctrl+z");
		else process.kill(Number(readFileSync(join(pi.cwd, "pid"), "utf8")), "SIGTSTP");
		await untilPrompt(pi);
		expect(modesLeftOn(pi.output())).toEqual([25]);
		await submit(pi, "fg");
		// The screen goes on below the shell's.
		await pi.waitForText(/shell> fg[\s\S]*^▎ Here\.[\s\S]*^ a draft *$/m);
		await pi.press("ctrl+c");
		provider.reply("Still here.");
		await submit(pi, "and now?");
		await pi.waitForText("Still here.");
		await submit(pi, "/quit");
		await untilPrompt(pi);
		expect(modesLeftOn(pi.output())).toEqual([25]);
	},
);

test.each(["a start", "a resize", "ctrl+z and fg"])(
	"what the terminal showed before pi is still there after %s",
	async (what) => {
		const provider = await startProvider();
		const pi = await openShell(agentDirFor(provider));
		await submit(pi, "echo from be''fore");
		await pi.waitForText("from before");
		await submit(pi, START);
		await pi.waitForText(/Scripted$/m);
		if (what === "a resize") {
			pi.resize(60, 24);
			await pi.waitForText(/^─{60}$/m);
		} else if (what === "ctrl+z and fg") {
			await pi.press("ctrl+z");
			await untilPrompt(pi);
			await submit(pi, "fg");
			await pi.waitForText(/Scripted$/m);
		}
		expect(await pi.scrollback()).toContain("from before");
	},
);

/** A shell with job control in a terminal. */
async function openShell(agentDir: string): Promise<PiTerminal> {
	const dir = tempDir();
	writeFiles(dir, { "shell.cjs": SHELL });
	const env = { NODE: process.execPath, PI, PS1: "shell> " };
	const shell = startPi({ entry: join(dir, "shell.cjs"), agentDir, env });
	await shell.waitForText("shell>");
	return shell;
}

async function untilPrompt(shell: PiTerminal): Promise<void> {
	await shell.waitForScreen((screen) => screen.trimEnd().endsWith("shell>"), "the shell's prompt");
}
