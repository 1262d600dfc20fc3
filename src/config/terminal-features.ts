import type { Environment } from "./paths.js";

/** Features of a terminal other than text and colors, as detected from the environment. */
export interface TerminalFeatures {
	/** Clickable links (OSC 8). Without them the address must be printed. */
	links: boolean;
	/** Protocol for images; null: not supported. `tmux`: only tmux knows. */
	images: "kitty" | "iterm2" | "tmux" | null;
	/**
	 * Whether the window shows progress (OSC 9;4). Other terminals would show the sequence as a message.
	 * @see https://conemu.github.io/en/AnsiEscapeCodes.html
	 */
	progress: boolean;
	/** Protocol for desktop notifications; `bell`: not supported, but the bell is. */
	notification: "osc9" | "osc777" | "bell";
	/** Whether the shape of the cursor is always the same. */
	fixedCursor?: true;
}

/** Features of an unknown terminal. */
export const TEXT_ONLY: TerminalFeatures = { links: false, images: null, progress: false, notification: "bell" };

const LINKS: TerminalFeatures = { ...TEXT_ONLY, links: true };
const FOOT: TerminalFeatures = { ...LINKS, notification: "osc777" };
const KITTY: TerminalFeatures = { ...LINKS, images: "kitty", notification: "osc9" };
const GHOSTTY: TerminalFeatures = { ...KITTY, progress: true };
const ITERM: TerminalFeatures = { ...LINKS, images: "iterm2", notification: "osc9" };
const WINDOWS: TerminalFeatures = { ...LINKS, progress: true };
const CONEMU: TerminalFeatures = { ...TEXT_ONLY, progress: true };
const URXVT: TerminalFeatures = { ...TEXT_ONLY, notification: "osc777" };

/** By `TERM_PROGRAM`, in lower case. */
const PROGRAMS: ReadonlyMap<string, TerminalFeatures> = new Map([
	["kitty", KITTY],
	["ghostty", GHOSTTY],
	["wezterm", KITTY],
	["iterm.app", ITERM],
	["vscode", LINKS],
	["alacritty", LINKS],
	["apple_terminal", TEXT_ONLY],
]);

/** By `TERM`, the only variable that ssh passes on. */
const TERMS: readonly [RegExp, TerminalFeatures][] = [
	[/^xterm-kitty/, KITTY],
	[/ghostty/, GHOSTTY],
	[/^wezterm/, KITTY],
	[/^foot/, FOOT],
	[/^alacritty/, LINKS],
	[/^rxvt-unicode/, URXVT],
];

/** Variables that terminals set, checked last because other terminals started from them inherit these. */
const VARIABLES: readonly [string, TerminalFeatures][] = [
	["KITTY_WINDOW_ID", KITTY],
	["GHOSTTY_RESOURCES_DIR", GHOSTTY],
	["WEZTERM_PANE", KITTY],
	["ITERM_SESSION_ID", ITERM],
	["WT_SESSION", WINDOWS],
	["ConEmuPID", CONEMU],
];

/** Terminals, by `TERM`, without shapes of the cursor (DECSCUSR). */
const FIXED_CURSOR = /^(?:dumb|linux|ansi|vt\d+)$/;
/** VTE 0.50.1, the first version with working links; GNOME's terminals use VTE. */
const FIRST_VTE_WITH_LINKS = 5001;
/** Earlier versions of iTerm2 show progress as a message. */
const FIRST_ITERM_WITH_PROGRESS = [3, 6, 6] as const;
/** The first tmux that passes links on, to terminals that it knows to support them. */
const FIRST_TMUX_WITH_LINKS = [3, 4] as const;

/**
 * Detects a terminal by its environment variables. An unknown one gets no links: if it dropped the sequence, the address
 * would be lost. `FORCE_HYPERLINK` overrides `links`: `0` is off, other values are on.
 */
export function terminalFeatures(env: Environment): TerminalFeatures {
	const detected = detect(env);
	const hasProgress = detected === ITERM && isAtLeast(env.TERM_PROGRAM_VERSION, FIRST_ITERM_WITH_PROGRESS);
	const shown = hasProgress ? { ...detected, progress: true } : detected;
	const found = FIXED_CURSOR.test(env.TERM ?? "") ? { ...shown, fixedCursor: true as const } : shown;
	const forced = env.FORCE_HYPERLINK;
	return forced === undefined || forced === "" ? found : { ...found, links: forced !== "0" };
}

function detect(env: Environment): TerminalFeatures {
	const term = env.TERM ?? "";
	if (term === "dumb") return TEXT_ONLY;
	if (env.TMUX) return { ...(tmuxPassesLinks(env) ? LINKS : TEXT_ONLY), images: "tmux" };
	if (env.STY || /^(tmux|screen)/.test(term)) return tmuxPassesLinks(env) ? LINKS : TEXT_ONLY;
	return (
		PROGRAMS.get((env.TERM_PROGRAM ?? "").toLowerCase()) ??
		TERMS.find(([pattern]) => pattern.test(term))?.[1] ??
		VARIABLES.find(([name]) => env[name])?.[1] ??
		(Number(env.VTE_VERSION) >= FIRST_VTE_WITH_LINKS ? LINKS : TEXT_ONLY)
	);
}

/** Whether tmux passes links on: a recent version in a terminal that it knows to support them. */
function tmuxPassesLinks(env: Environment): boolean {
	if (env.TERM_PROGRAM !== "tmux" || !(env.LC_TERMINAL === "iTerm2" || env.ITERM_SESSION_ID)) return false;
	return isAtLeast(env.TERM_PROGRAM_VERSION, FIRST_TMUX_WITH_LINKS);
}

/** Compares versions such as `3.4` and `3.5a` numerically. */
function isAtLeast(version: string | undefined, least: readonly number[]): boolean {
	const numbers = (version ?? "").split(".").map((number) => Number.parseInt(number, 10) || 0);
	for (const [at, wanted] of least.entries()) {
		const actual = numbers[at] ?? 0;
		if (actual !== wanted) return actual > wanted;
	}
	return true;
}
