import { isRecord } from "../util/is-record.js";
import { BASE_THEMES, type Background, type BaseTheme, builtInStyles } from "./built-in.js";
import { parseColor } from "./color.js";
import { isRole, STYLE_ATTRIBUTES, type StyleSpec, type ThemeRole, type ThemeStyles } from "./roles.js";

/** A theme of a user: the changes to the theme that it extends. */
export interface ThemeFile {
	/** Shown in the picker next to the file name. */
	title?: string;
	/** Default: light or dark, depending on the terminal. */
	base?: BaseTheme;
	colors: Partial<Record<ThemeRole, StyleSpec>>;
}

/** The valid part of a theme, and one sentence for each problem that names the key. */
export interface CheckedTheme {
	theme: ThemeFile;
	problems: string[];
}

/** The formats of a color, for messages. */
const COLOR_FORMS = "#rrggbb, 0 to 255, default, or a name such as red or brightRed";
const KEYS = ["$schema", "name", "base", "colors"];
const STYLE_KEYS: readonly string[] = ["color", "background", ...STYLE_ATTRIBUTES];

/** Reads a theme from parsed JSON. Reports and ignores invalid values and unknown keys; the rest applies. */
export function checkTheme(value: Readonly<Record<string, unknown>>): CheckedTheme {
	const problems: string[] = [];
	const theme: ThemeFile = { colors: {} };
	const unknown = Object.keys(value).filter((key) => !KEYS.includes(key));
	if (value.$schema !== undefined && typeof value.$schema !== "string") problems.push("$schema must be a string");
	if (typeof value.name === "string" && value.name !== "") theme.title = value.name;
	else if (value.name !== undefined) problems.push("name must be a string");
	const base = BASE_THEMES.find((name) => name === value.base);
	if (base !== undefined) theme.base = base;
	else if (value.base !== undefined) problems.push(`base must be one of ${BASE_THEMES.join(", ")}`);
	if (isRecord(value.colors)) {
		for (const [key, spec] of Object.entries(value.colors)) {
			if (isRole(key)) {
				const style = checkStyle(spec, `colors.${key}`, problems, unknown);
				if (style) theme.colors[key] = style;
			} else unknown.push(`colors.${key}`);
		}
	} else if (value.colors !== undefined) problems.push("colors must be an object");
	if (unknown.length > 0) problems.push(`unknown ${unknown.map((key) => JSON.stringify(key)).join(", ")}; ignored`);
	return { theme, problems };
}

/** The styles of all roles: those of the theme, else those of the theme that it extends. */
export function themeStyles({ base, colors }: ThemeFile, background: Background): ThemeStyles {
	return { ...builtInStyles(base ?? background, background), ...colors };
}

/** Reads a color, or an object of colors and attributes. @returns null if it is neither */
function checkStyle(value: unknown, path: string, problems: string[], unknown: string[]): StyleSpec | null {
	if (!isRecord(value)) {
		if (isColor(value)) return { color: value };
		problems.push(`${path} must be a color (${COLOR_FORMS}) or an object of color, background and attributes`);
		return null;
	}
	const style: StyleSpec = {};
	for (const key of ["color", "background"] as const) {
		const color = value[key];
		if (isColor(color)) style[key] = color;
		else if (color !== undefined) problems.push(`${path}.${key} must be a color (${COLOR_FORMS})`);
	}
	for (const attribute of STYLE_ATTRIBUTES) {
		const isOn = value[attribute];
		if (typeof isOn === "boolean") style[attribute] = isOn;
		else if (isOn !== undefined) problems.push(`${path}.${attribute} must be true or false`);
	}
	for (const key of Object.keys(value)) if (!STYLE_KEYS.includes(key)) unknown.push(`${path}.${key}`);
	return style;
}

function isColor(value: unknown): value is string | number {
	return parseColor(value) !== null;
}
