import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PiError } from "../errors.js";
import type { LiveTUI } from "./live-tui.js";
import { outsideScreen } from "./terminal-guard.js";

/**
 * Lets the user write in a program of theirs; it has the terminal meanwhile.
 * @param command what `$VISUAL` or `$EDITOR` holds; may have arguments
 * @returns the text without the line end at its end, or null when the program failed and the text is to stay
 * @throws PiError `command_failed` when the program cannot be started
 */
export async function editInProgram(screen: LiveTUI, command: string, text: string): Promise<string | null> {
	const folder = await mkdtemp(join(tmpdir(), "pi-prompt-"));
	try {
		const file = join(folder, "prompt.md");
		await writeFile(file, text, { mode: 0o600 });
		const exitCode = await outsideScreen(screen, () => runOnTerminal(command, file));
		return exitCode === 0 ? (await readFile(file, "utf8")).replace(/\r?\n$/, "") : null;
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

/** The command is the user's own shell text, as in git; the file is an argument of it, never part of it. */
function runOnTerminal(command: string, file: string): Promise<number | null> {
	return new Promise((resolve, reject) => {
		const child =
			process.platform === "win32"
				? spawn(`${command} "${file}"`, { stdio: "inherit", shell: true })
				: spawn("/bin/sh", ["-c", `${command} "$1"`, command, file], { stdio: "inherit" });
		child.on("error", (cause) =>
			reject(
				new PiError("command_failed", `Cannot start the editor ${command}`, { cause, hint: "Set $VISUAL or $EDITOR" }),
			),
		);
		child.on("exit", (code) =>
			code === 127
				? reject(new PiError("command_failed", `There is no editor ${command}`, { hint: "Set $VISUAL or $EDITOR" }))
				: resolve(code),
		);
	});
}
