import type { Environment } from "./paths.js";

/** What a terminal's window can be told besides its text, as far as the environment says. */
export interface WindowTraits {
	/** Whether it shows progress (OSC 9;4). Others would show the sequence as a message. */
	progress: boolean;
	/** How it shows a message; `bell`: it cannot, but it rings. */
	notification: "osc9" | "osc777" | "bell";
}

/** Knows nothing of the terminal: what works everywhere. */
export const PLAIN_WINDOW: WindowTraits = { progress: false, notification: "bell" };

/**
 * Tells terminals apart by the variables that they set. Inside tmux and screen, which swallow these sequences, it is
 * the plain window.
 * @see https://conemu.github.io/en/AnsiEscapeCodes.html for OSC 9;4
 */
export function windowTraits(env: Environment): WindowTraits {
	if (env.TMUX || env.STY || /^(tmux|screen)/.test(env.TERM ?? "")) return PLAIN_WINDOW;
	const program = env.TERM_PROGRAM ?? "";
	if (program === "ghostty") return { progress: true, notification: "osc9" };
	if (program === "iTerm.app") {
		return { progress: isAtLeast(env.TERM_PROGRAM_VERSION ?? "", [3, 6, 6]), notification: "osc9" };
	}
	if (program === "WezTerm" || env.KITTY_WINDOW_ID) return { progress: false, notification: "osc9" };
	if (env.WT_SESSION || env.ConEmuANSI === "ON") return { progress: true, notification: "bell" };
	if (/^(foot|rxvt-unicode)/.test(env.TERM ?? "")) return { progress: false, notification: "osc777" };
	return PLAIN_WINDOW;
}

function isAtLeast(version: string, least: readonly number[]): boolean {
	const parts = version.split(".").map((part) => Number.parseInt(part, 10) || 0);
	for (const [at, wanted] of least.entries()) {
		const part = parts[at] ?? 0;
		if (part !== wanted) return part > wanted;
	}
	return true;
}
