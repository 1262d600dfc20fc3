import type { Background } from "../themes/built-in.js";
import { type ColorLevel, colorRgb, isLight, parseColor } from "../themes/color.js";
import type { Environment } from "./paths.js";

/** What the environment says of a terminal's colours. */
export interface TerminalColours {
	level: ColorLevel;
	/** Why, for `pi doctor`: a variable and its value. */
	reason: string;
	/** As `COLORFGBG` tells; null when nothing does. */
	background: Background | null;
}

const ALL_COLOURS = /truecolor|24bit/i;
/** Terminals that have all colours, by `TERM` or `TERM_PROGRAM`. */
const ALL_COLOUR_TERMS = /-direct$|^(?:xterm-)?(?:kitty|ghostty|wezterm|alacritty|foot)/;
const ALL_COLOUR_PROGRAMS: ReadonlySet<string> = new Set(["iTerm.app", "WezTerm", "ghostty", "vscode"]);

/**
 * How many colours the terminal has. `FORCE_COLOR` (0–3, empty is 1) comes before `NO_COLOR`, as in Node itself; both
 * before what the terminal says.
 */
export function terminalColours(env: Environment, platform: NodeJS.Platform = process.platform): TerminalColours {
	return { ...colourLevel(env, platform), background: backgroundOf(env) };
}

function colourLevel(env: Environment, platform: NodeJS.Platform): { level: ColorLevel; reason: string } {
	const named = (level: ColorLevel, name: string) => ({ level, reason: `${name}=${env[name] ?? ""}` });
	const forced = forcedLevel(env.FORCE_COLOR);
	if (forced !== null) return named(forced, "FORCE_COLOR");
	if (env.NO_COLOR) return named(0, "NO_COLOR");
	const term = env.TERM ?? "";
	if (term === "dumb") return named(0, "TERM");
	if (ALL_COLOURS.test(env.COLORTERM ?? "")) return named(3, "COLORTERM");
	if (ALL_COLOUR_TERMS.test(term)) return named(3, "TERM");
	if (ALL_COLOUR_PROGRAMS.has(env.TERM_PROGRAM ?? "")) return named(3, "TERM_PROGRAM");
	if (env.WT_SESSION) return { level: 3, reason: "Windows Terminal" };
	if (platform === "win32") return { level: 3, reason: "Windows console" };
	return named(/256/.test(term) ? 2 : 1, "TERM");
}

function forcedLevel(value: string | undefined): ColorLevel | null {
	switch (value) {
		case undefined:
			return null;
		case "false":
		case "0":
			return 0;
		case "2":
			return 2;
		case "3":
			return 3;
		default:
			return 1;
	}
}

/** `COLORFGBG` is `text;background`, numbers of the sixteen; some terminals put a word between. */
function backgroundOf({ COLORFGBG }: Environment): Background | null {
	const last = COLORFGBG?.split(";").at(-1) ?? "";
	const colour = /^\d{1,2}$/.test(last) ? parseColor(Number(last)) : null;
	if (colour?.kind !== "named") return null;
	return isLight(colorRgb(colour)) ? "light" : "dark";
}
