import { spawn } from "node:child_process";

/** A program that copies stdin to the clipboard, with its arguments. */
export type ClipboardProgram = readonly [string, ...string[]];

/** ms. Without a display, clipboard programs hang. */
const CLIPBOARD_TIMEOUT_MS = 2000;

/**
 * Copies a text with the first program that works.
 * @param programs default: those of the platform
 * @returns whether one succeeded
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

/** @returns whether the program succeeded; false if it is missing or fails */
function pipeTo([command, ...args]: ClipboardProgram, text: string): Promise<boolean> {
	return new Promise((resolve) => {
		const child = spawn(command, args, { stdio: ["pipe", "ignore", "ignore"], timeout: CLIPBOARD_TIMEOUT_MS });
		child.once("error", () => resolve(false));
		child.once("exit", (code) => resolve(code === 0));
		child.stdin.on("error", () => {}); // the program exited early: its exit code decides
		child.stdin.end(text);
	});
}
