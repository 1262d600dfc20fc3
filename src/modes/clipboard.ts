import { spawn } from "node:child_process";

/** A program that takes the clipboard's text on standard input, with its arguments. */
export type ClipboardProgram = readonly [string, ...string[]];

/** A clipboard program that takes longer hangs on a display that is not there, ms. */
const CLIPBOARD_TIMEOUT_MS = 2000;

/**
 * Hands a text to the first program that takes it.
 * @param programs default: those of the platform
 * @returns whether one did
 */
export async function copyToClipboard(
	text: string,
	programs: readonly ClipboardProgram[] = platformPrograms(),
): Promise<boolean> {
	for (const program of programs) if (await pipeTo(program, text)) return true;
	return false;
}

function platformPrograms(): ClipboardProgram[] {
	switch (process.platform) {
		case "darwin":
			return [["pbcopy"]];
		case "win32":
			return [["clip"]];
		default:
			return [["wl-copy"], ["xclip", "-selection", "clipboard"]];
	}
}

/** @returns whether the program took the text; a program that is missing or fails is no error */
function pipeTo([command, ...args]: ClipboardProgram, text: string): Promise<boolean> {
	return new Promise((resolve) => {
		const child = spawn(command, args, { stdio: ["pipe", "ignore", "ignore"], timeout: CLIPBOARD_TIMEOUT_MS });
		child.once("error", () => resolve(false));
		child.once("exit", (code) => resolve(code === 0));
		child.stdin.on("error", () => {}); // it went away before it read all: the exit code says how it ended
		child.stdin.end(text);
	});
}
