import type { Background } from "../themes/built-in.js";
import { type ColorLevel, colorRgb, isLight, parseColor } from "../themes/color.js";
import type { Environment } from "./paths.js";

/** Colors of a terminal, as detected from the environment. */
export interface TerminalColors {
	level: ColorLevel;
	/** The variable and value that decided the level, for `pi doctor`. */
	reason: string;
	/** From `COLORFGBG`; null if unknown. */
	background: Background | null;
}

const TRUE_COLOR = /truecolor|24bit/i;
/** Terminals with true color, by `TERM` or `TERM_PROGRAM`. */
const TRUE_COLOR_TERMS = /-direct$|^(?:xterm-)?(?:kitty|ghostty|wezterm|alacritty|foot)/;
const TRUE_COLOR_PROGRAMS: ReadonlySet<string> = new Set(["iTerm.app", "WezTerm", "ghostty", "vscode"]);

/**
 * Detects the colors of the terminal. As in Node, `FORCE_COLOR` (0–3, empty is 1) overrides `NO_COLOR`; both override
 * the variables of the terminal.
 */
export function terminalColors(env: Environment, platform: NodeJS.Platform = process.platform): TerminalColors {
	return { ...colorLevel(env, platform), background: backgroundOf(env) };
}

function colorLevel(env: Environment, platform: NodeJS.Platform): { level: ColorLevel; reason: string } {
	const named = (level: ColorLevel, name: string) => ({ level, reason: `${name}=${env[name] ?? ""}` });
	const forced = forcedLevel(env.FORCE_COLOR);
	if (forced !== null) return named(forced, "FORCE_COLOR");
	if (env.NO_COLOR) return named(0, "NO_COLOR");
	const term = env.TERM ?? "";
	if (term === "dumb") return named(0, "TERM");
	if (TRUE_COLOR.test(env.COLORTERM ?? "")) return named(3, "COLORTERM");
	if (TRUE_COLOR_TERMS.test(term)) return named(3, "TERM");
	if (TRUE_COLOR_PROGRAMS.has(env.TERM_PROGRAM ?? "")) return named(3, "TERM_PROGRAM");
	if (env.WT_SESSION) return { level: 3, reason: "Windows Terminal" };
	if (platform === "win32") return { level: 3, reason: "Windows console" };
	return named(/256/.test(term) ? 2 : 1, "TERM");
}

function forcedLevel(value: string | undefined): ColorLevel | null {
	if (value === undefined) return null;
	if (value === "0" || value === "false") return 0;
	return value === "2" ? 2 : value === "3" ? 3 : 1;
}

/** `COLORFGBG` is `text;background`, two of the 16 color numbers; some terminals insert a word between them. */
function backgroundOf({ COLORFGBG }: Environment): Background | null {
	const last = COLORFGBG?.split(";").at(-1) ?? "";
	const color = /^\d{1,2}$/.test(last) ? parseColor(Number(last)) : null;
	if (color?.kind !== "named") return null;
	return isLight(colorRgb(color)) ? "light" : "dark";
}
