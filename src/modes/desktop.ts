// The programs of the desktop: its clipboard and its browser.
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
/** The variables that say whether this machine has a screen. */
export interface ScreenVariables {
	DISPLAY?: string;
	WAYLAND_DISPLAY?: string;
	SSH_CONNECTION?: string;
}

/**
 * Opens an address in the user's browser.
 * @param platform as `process.platform`
 * @returns false where nothing can be opened: without a screen, over ssh, or without a program for it
 */
export function openLink(
	address: string,
	env: ScreenVariables,
	platform: NodeJS.Platform = process.platform,
): Promise<boolean> {
	const program = openerOf(env, platform);
	if (program === null) return Promise.resolve(false);
	const [command, ...args] = program;
	return new Promise((resolve) => {
		const child = spawn(command, [...args, address], { stdio: "ignore", detached: true });
		child.once("error", () => resolve(false));
		child.once("spawn", () => {
			child.unref();
			resolve(true);
		});
	});
}

function openerOf(env: ScreenVariables, platform: NodeJS.Platform): readonly [string, ...string[]] | null {
	if (env.SSH_CONNECTION) return null;
	if (platform === "darwin") return ["open"];
	// Starts no shell, unlike `start`, which would read `&` in an address as the end of a command.
	if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
	return env.DISPLAY || env.WAYLAND_DISPLAY ? ["xdg-open"] : null;
}
