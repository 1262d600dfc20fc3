import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PiError } from "../../errors.js";

/** What a shell exits with when it does not find the program. */
const COMMAND_NOT_FOUND = 127;

/**
 * Lets the user write a text in a program of theirs, which has the terminal meanwhile.
 * @param command as in `$EDITOR`, arguments included
 * @returns the text as saved, without the line end that editors add; null when the program failed
 * @throws PiError `command_failed` when the program cannot be started
 */
export async function editExternally(text: string, command: string): Promise<string | null> {
	const folder = await mkdtemp(join(tmpdir(), "pi-prompt-"));
	try {
		const file = join(folder, "prompt.md");
		await writeFile(file, text, { mode: 0o600 });
		const code = await run(command, file);
		if (code === COMMAND_NOT_FOUND) {
			throw new PiError("command_failed", `There is no editor "${command}"`, { hint: "set $VISUAL or $EDITOR" });
		}
		return code === 0 ? (await readFile(file, "utf8")).replace(/\r?\n$/, "") : null;
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

/** The command is the user's own and may hold arguments: a shell takes it apart, the file's name stays out of its text. */
function run(command: string, file: string): Promise<number | null> {
	return new Promise((resolve, reject) => {
		const child =
			process.platform === "win32"
				? spawn(`${command} "${file}"`, { shell: true, stdio: "inherit" })
				: spawn("sh", ["-c", `${command} "$1"`, "sh", file], { stdio: "inherit" });
		child.once("exit", resolve);
		child.once("error", (cause) => {
			reject(new PiError("command_failed", `The editor cannot be started: ${command}`, { cause, hint: "set $EDITOR" }));
		});
	});
}
