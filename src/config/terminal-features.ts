import type { Environment } from "./paths.js";

/** What a terminal can show besides text and colours, as far as the environment tells. */
export interface TerminalFeatures {
	/** Text that leads somewhere when it is clicked (OSC 8). Elsewhere the address must be written out. */
	links: boolean;
	/** How it takes images; null: it shows none. */
	images: "kitty" | "iterm2" | null;
	/**
	 * Whether its window shows progress (OSC 9;4). Others would show the sequence as a message.
	 * @see https://conemu.github.io/en/AnsiEscapeCodes.html
	 */
	progress: boolean;
	/** How its window shows a message; `bell`: it cannot, but it rings. */
	notification: "osc9" | "osc777" | "bell";
}

/** Knows nothing of the terminal: text. */
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

/** By `TERM`, which alone comes along over ssh. */
const TERMS: readonly [RegExp, TerminalFeatures][] = [
	[/^xterm-kitty/, KITTY],
	[/ghostty/, GHOSTTY],
	[/^wezterm/, KITTY],
	[/^foot/, FOOT],
	[/^alacritty/, LINKS],
	[/^rxvt-unicode/, URXVT],
];

/** Variables that terminals set; programs started from them inherit these, so they count least. */
const VARIABLES: readonly [string, TerminalFeatures][] = [
	["KITTY_WINDOW_ID", KITTY],
	["GHOSTTY_RESOURCES_DIR", GHOSTTY],
	["WEZTERM_PANE", KITTY],
	["ITERM_SESSION_ID", ITERM],
	["WT_SESSION", WINDOWS],
	["ConEmuPID", CONEMU],
];

/** The first VTE, and with it GNOME's terminals, whose links work: 0.50.1. */
const FIRST_VTE_WITH_LINKS = 5001;
/** The first iTerm2 that takes progress for what it is. */
const FIRST_ITERM_WITH_PROGRESS = [3, 6, 6] as const;
/** The first tmux that hands links on, to terminals that it knows to take them. */
const FIRST_TMUX_WITH_LINKS = [3, 4] as const;

/**
 * Tells terminals apart by the variables that they set. An unknown one gets text: a link that it drops would take the
 * address with it. `FORCE_HYPERLINK` decides about links, 0 or 1.
 */
export function terminalFeatures(env: Environment): TerminalFeatures {
	const detected = detect(env);
	const hasProgress = detected === ITERM && isAtLeast(env.TERM_PROGRAM_VERSION, FIRST_ITERM_WITH_PROGRESS);
	const found = hasProgress ? { ...detected, progress: true } : detected;
	const forced = env.FORCE_HYPERLINK;
	return forced === undefined || forced === "" ? found : { ...found, links: forced !== "0" };
}

function detect(env: Environment): TerminalFeatures {
	const term = env.TERM ?? "";
	if (term === "dumb") return TEXT_ONLY;
	if (env.TMUX || env.STY || /^(tmux|screen)/.test(term)) return insideTmux(env) ? LINKS : TEXT_ONLY;
	return (
		PROGRAMS.get((env.TERM_PROGRAM ?? "").toLowerCase()) ??
		TERMS.find(([pattern]) => pattern.test(term))?.[1] ??
		VARIABLES.find(([name]) => env[name])?.[1] ??
		(Number(env.VTE_VERSION) >= FIRST_VTE_WITH_LINKS ? LINKS : TEXT_ONLY)
	);
}

/** True where tmux is new enough and stands in a terminal that it knows for its links. Images it never hands on. */
function insideTmux(env: Environment): boolean {
	if (env.TERM_PROGRAM !== "tmux" || !(env.LC_TERMINAL === "iTerm2" || env.ITERM_SESSION_ID)) return false;
	return isAtLeast(env.TERM_PROGRAM_VERSION, FIRST_TMUX_WITH_LINKS);
}

/** Compares versions such as `3.4` and `3.5a` number by number. */
function isAtLeast(version: string | undefined, least: readonly number[]): boolean {
	const parts = (version ?? "").split(".").map((part) => Number.parseInt(part, 10) || 0);
	for (const [at, wanted] of least.entries()) {
		const part = parts[at] ?? 0;
		if (part !== wanted) return part > wanted;
	}
	return true;
}
