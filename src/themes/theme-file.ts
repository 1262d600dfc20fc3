import { BASE_THEMES, type Background, type BaseTheme, builtInStyles } from "./built-in.js";
import { parseColour } from "./colour.js";
import { isRole, STYLE_ATTRIBUTES, type StyleSpec, type ThemeRole, type ThemeStyles } from "./roles.js";

/** A theme that someone wrote: what it changes of the one it builds on. */
export interface ThemeFile {
	/** What the picker shows beside the file's name. */
	title?: string;
	/** Absent: light or dark, as the terminal is. */
	base?: BaseTheme;
	colors: Partial<Record<ThemeRole, StyleSpec>>;
}

/** What was read of a file, and what is wrong with it, a sentence each that names the key. */
export interface CheckedTheme {
	theme: ThemeFile;
	problems: string[];
}

/** What a style and a colour look like, for messages. */
const COLOUR_FORMS = "#rrggbb, 0 to 255, default, or a name such as red or brightRed";
const KEYS = ["$schema", "name", "base", "colors"];
const STYLE_KEYS: readonly string[] = ["color", "background", ...STYLE_ATTRIBUTES];

/**
 * Reads a theme from parsed JSON. What is wrong is named and left out, so that the rest still counts; unknown keys are
 * named too.
 */
export function checkTheme(value: Readonly<Record<string, unknown>>): CheckedTheme {
	const problems: string[] = [];
	const theme: ThemeFile = { colors: {} };
	const unknown = Object.keys(value).filter((key) => !KEYS.includes(key));
	if (value.$schema !== undefined && typeof value.$schema !== "string") problems.push("$schema must be a text");
	if (typeof value.name === "string" && value.name !== "") theme.title = value.name;
	else if (value.name !== undefined) problems.push("name must be a text");
	const base = BASE_THEMES.find((name) => name === value.base);
	if (base !== undefined) theme.base = base;
	else if (value.base !== undefined) problems.push(`base must be one of ${BASE_THEMES.join(", ")}`);
	if (isObject(value.colors)) {
		for (const [key, spec] of Object.entries(value.colors)) {
			if (isRole(key)) {
				const style = checkStyle(spec, `colors.${key}`, problems, unknown);
				if (style) theme.colors[key] = style;
			} else unknown.push(`colors.${key}`);
		}
	} else if (value.colors !== undefined) problems.push("colors must be an object");
	if (unknown.length > 0) problems.push(`unknown ${unknown.map((key) => JSON.stringify(key)).join(", ")}; not used`);
	return { theme, problems };
}

/** How every role is drawn: as the theme says, else as the one that it builds on. */
export function themeStyles({ base, colors }: ThemeFile, background: Background): ThemeStyles {
	return { ...builtInStyles(base ?? background, background), ...colors };
}

/** A colour alone, or an object of colours and attributes. @returns null when nothing of it can be used */
function checkStyle(value: unknown, path: string, problems: string[], unknown: string[]): StyleSpec | null {
	if (!isObject(value)) {
		if (isColour(value)) return { color: value };
		problems.push(`${path} must be a colour (${COLOUR_FORMS}) or an object of color, background and attributes`);
		return null;
	}
	const style: StyleSpec = {};
	for (const key of ["color", "background"] as const) {
		const colour = value[key];
		if (isColour(colour)) style[key] = colour;
		else if (colour !== undefined) problems.push(`${path}.${key} must be a colour (${COLOUR_FORMS})`);
	}
	for (const attribute of STYLE_ATTRIBUTES) {
		const isOn = value[attribute];
		if (typeof isOn === "boolean") style[attribute] = isOn;
		else if (isOn !== undefined) problems.push(`${path}.${attribute} must be true or false`);
	}
	for (const key of Object.keys(value)) if (!STYLE_KEYS.includes(key)) unknown.push(`${path}.${key}`);
	return style;
}

function isColour(value: unknown): value is string | number {
	return parseColour(value) !== null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
