import { join } from "node:path";
import { piProgram } from "../helpers/pi-environment.js";
import { type PiTerminal, startPi } from "../helpers/pty.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { submit } from "./support.js";

/** Runs a shell with job control on the test's terminal. */
const SHELL = `
const { spawn } = require("node:child_process");
spawn("sh", ["-i"], { stdio: "inherit" }).on("exit", (code) => process.exit(code ?? 1));
`;
/** Shell command that starts pi and writes its process id to the file `pid`. */
export const START_PI = `sh -c 'echo $$ > pid; exec "$NODE" $NODE_FLAGS "$PI"'`;

/** A shell with job control in a terminal. */
export async function openShell(agentDir: string, env: Record<string, string> = {}): Promise<PiTerminal> {
	const dir = tempDir();
	writeFiles(dir, { "shell.cjs": SHELL });
	const shell = startPi({
		entry: join(dir, "shell.cjs"),
		agentDir,
		env: { NODE: process.execPath, NODE_FLAGS: "", PI: piProgram(), PS1: "shell> ", ...env },
	});
	await shell.waitForText("shell>");
	return shell;
}

/** Resolves with the screen once the shell waits for a command. */
export function untilPrompt(shell: PiTerminal): Promise<string> {
	return shell.waitForScreen((screen) => screen.trimEnd().endsWith("shell>"), "the shell's prompt");
}

let asked = 0;

/** Runs a command of the shell. @returns its output, with wrapped lines joined */
export async function ask(shell: PiTerminal, command: string): Promise<string> {
	const [begin, end] = ["begin", "end"].map((mark) => `${mark}-${++asked}`);
	await submit(
		shell,
		`c=$?; echo ${begin?.replace("-", "''-")}; (exit $c); ${command}; echo ${end?.replace("-", "''-")}`,
	);
	await shell.waitForText(new RegExp(`^${end}$`, "m"));
	const lines = (await untilPrompt(shell)).split("\n");
	return lines.slice(lines.indexOf(begin ?? "") + 1, lines.indexOf(end ?? "")).join("");
}
