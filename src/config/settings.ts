import { join } from "node:path";
import type { ModelThinkingLevel } from "@mariozechner/pi-ai";
import { describeError } from "../errors.js";
import { nearest } from "../util/nearest.js";
import { isJsonObject, type JsonObject, readJsonObject, updateJsonFile } from "./json-file.js";

/** What users can set, defaults filled in. Names are those of settings.json. */
export interface Settings {
	/** Unset: light or dark as the terminal is. */
	theme: string | undefined;
	defaultProvider: string | undefined;
	defaultModel: string | undefined;
	defaultThinkingLevel: ModelThinkingLevel;
	queueMode: "one-at-a-time" | "all";
	/** Unset: the user's shell. */
	shellPath: string | undefined;
	hideThinkingBlock: boolean;
	collapseChangelog: boolean;
	quietStartup: boolean;
	lastChangelogVersion: string | undefined;
	compaction: { enabled: boolean; reserveTokens: number; keepRecentTokens: number };
	retry: { enabled: boolean; maxRetries: number; baseDelayMs: number };
	terminal: { showImages: boolean };
	skills: { enabled: boolean };
	/** Hook files as written; see `resolveUserPath`, base is the agent directory. */
	hooks: string[];
	/** ms a handler may take. */
	hookTimeout: number;
	/** Hook path or file name → handles it may use. */
	hookGrants: Record<string, string[]>;
	customTools: string[];
	/** ms without content after which a stream counts as stalled; 0 never. */
	streamIdleTimeoutMs: number;
	features: { tasks: boolean };
	/** Provider → key. Still read; new keys go to auth.json. */
	apiKeys: Record<string, string>;
	/** The column that shows what is in the context. */
	gutter: boolean;
}

/** A change to settings.json. A key that is there with `undefined` is removed. */
export type SettingsPatch = {
	[K in keyof Settings]?: Settings[K] extends boolean | unknown[] | Record<string, string> | Record<string, string[]>
		? Settings[K]
		: Settings[K] extends object
			? Partial<Settings[K]>
			: Settings[K];
};

/** Settings and what is wrong with their files, a line each. */
export interface LoadedSettings {
	settings: Settings;
	warnings: string[];
	/** The files as read; give them back on reload so that a file that broke meanwhile keeps its last good values. */
	layers: SettingsLayers;
}

export interface SettingsLayers {
	user: JsonObject;
	project: JsonObject;
}

/** Where settings are read. */
export interface SettingsSource {
	agentDir: string;
	cwd: string;
	previous?: SettingsLayers;
}

/** Levels as settings and the command line write them, least first. */
export const THINKING_LEVEL_NAMES: readonly ModelThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "xhigh"];

/** Keys that a project may set: none of them runs code, moves traffic or touches keys. */
const INERT_KEYS: ReadonlySet<string> = new Set([
	"theme",
	"defaultThinkingLevel",
	"hideThinkingBlock",
	"queueMode",
	"compaction",
	"retry",
	"terminal.showImages",
	"collapseChangelog",
	"quietStartup",
	"gutter",
]);

/** A kind of value: what it is called in a warning, and how it is recognised. */
interface Kind<T> {
	name: string;
	read(value: unknown): T | undefined;
}

const flag: Kind<boolean> = {
	name: "true or false",
	read: (value) => (typeof value === "boolean" ? value : undefined),
};
const text: Kind<string> = {
	name: "a text",
	read: (value) => (typeof value === "string" && value !== "" ? value : undefined),
};
const textList: Kind<string[]> = { name: "a list of texts", read: readTextList };
const textMap: Kind<Record<string, string>> = {
	name: "an object of texts",
	read: (value) => readMap(value, text.read),
};
const textListMap: Kind<Record<string, string[]>> = {
	name: "an object of lists of texts",
	read: (value) => readMap(value, readTextList),
};

function wholeNumber(max: number): Kind<number> {
	return {
		name: `a whole number from 0 to ${max}`,
		read: (value) =>
			typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= max ? value : undefined,
	};
}

function oneOf<T extends string>(options: readonly T[]): Kind<T> {
	return { name: `one of ${options.join(", ")}`, read: (value) => options.find((option) => option === value) };
}

function readTextList(value: unknown): string[] | undefined {
	return Array.isArray(value) && value.every((item): item is string => typeof item === "string") ? value : undefined;
}

function readMap<T>(value: unknown, read: (item: unknown) => T | undefined): Record<string, T> | undefined {
	if (!isJsonObject(value)) return undefined;
	const entries: [string, T][] = [];
	for (const [key, item] of Object.entries(value)) {
		const accepted = read(item);
		if (accepted === undefined) return undefined;
		entries.push([key, accepted]);
	}
	return Object.fromEntries(entries);
}

/** Longest time a timer takes. */
const MAX_MS = 2_147_483_647;
const MAX_TOKENS = 100_000_000;

function readSettings(pick: <T>(path: string, kind: Kind<T>) => T | undefined): Settings {
	return {
		theme: pick("theme", text),
		defaultProvider: pick("defaultProvider", text),
		defaultModel: pick("defaultModel", text),
		defaultThinkingLevel: pick("defaultThinkingLevel", oneOf(THINKING_LEVEL_NAMES)) ?? "medium",
		queueMode: pick("queueMode", oneOf(["one-at-a-time", "all"])) ?? "one-at-a-time",
		shellPath: pick("shellPath", text),
		hideThinkingBlock: pick("hideThinkingBlock", flag) ?? false,
		collapseChangelog: pick("collapseChangelog", flag) ?? false,
		quietStartup: pick("quietStartup", flag) ?? false,
		lastChangelogVersion: pick("lastChangelogVersion", text),
		compaction: {
			enabled: pick("compaction.enabled", flag) ?? true,
			reserveTokens: pick("compaction.reserveTokens", wholeNumber(MAX_TOKENS)) ?? 16_384,
			keepRecentTokens: pick("compaction.keepRecentTokens", wholeNumber(MAX_TOKENS)) ?? 20_000,
		},
		retry: {
			enabled: pick("retry.enabled", flag) ?? true,
			maxRetries: pick("retry.maxRetries", wholeNumber(100)) ?? 3,
			baseDelayMs: pick("retry.baseDelayMs", wholeNumber(600_000)) ?? 2000,
		},
		terminal: { showImages: pick("terminal.showImages", flag) ?? true },
		skills: { enabled: pick("skills.enabled", flag) ?? true },
		hooks: pick("hooks", textList) ?? [],
		hookTimeout: pick("hookTimeout", wholeNumber(MAX_MS)) ?? 30_000,
		hookGrants: pick("hookGrants", textListMap) ?? {},
		customTools: pick("customTools", textList) ?? [],
		streamIdleTimeoutMs: pick("streamIdleTimeoutMs", wholeNumber(MAX_MS)) ?? 180_000,
		features: { tasks: pick("features.tasks", flag) ?? false },
		apiKeys: pick("apiKeys", textMap) ?? {},
		gutter: pick("gutter", flag) ?? true,
	};
}

/** Settings of someone who has set nothing. */
export function defaultSettings(): Settings {
	return readSettings(() => undefined);
}

/**
 * Reads the user's settings and what the project may add to them. Never throws: a broken file or value is named in a
 * warning, and the value before it (`previous`, the user's, the default) is used.
 */
export function loadSettings({ agentDir, cwd, previous }: SettingsSource): LoadedSettings {
	const warnings: string[] = [];
	const userFile = join(agentDir, "settings.json");
	const projectFile = join(cwd, ".pi", "settings.json");
	const user = readLayer(userFile, previous?.user, warnings);
	// Started in the home directory with the agent directory there: one file, and it is the user's.
	const project = userFile === projectFile ? {} : readLayer(projectFile, previous?.project, warnings);
	const known = new Set<string>();
	const settings = readSettings((path, kind) => {
		known.add(path);
		return (
			(isInert(path) ? readValue(project, path, kind, projectFile, warnings) : undefined) ??
			readValue(user, path, kind, userFile, warnings)
		);
	});
	warnUnknown(user, known, userFile, warnings);
	warnIgnored(project, known, projectFile, warnings);
	return { settings, warnings, layers: { user, project } };
}

/**
 * Changes the user's settings.json; other keys stay as they are.
 * @returns where an unreadable file was kept, if there was one
 * @throws PiError `config_write_failed`
 */
export async function updateSettings(agentDir: string, patch: SettingsPatch): Promise<{ keptAside?: string }> {
	return updateJsonFile(join(agentDir, "settings.json"), (current) => merge(current, Object.entries(patch)));
}

const GROUPS: ReadonlySet<string> = new Set(["compaction", "retry", "terminal", "skills", "features"]);

/** Objects of which a change names only what it changes. */
const MERGED: ReadonlySet<string> = new Set([...GROUPS, "hookGrants"]);

function merge(current: JsonObject, changes: [string, unknown][]): JsonObject {
	const next = { ...current };
	for (const [key, value] of changes) {
		const before = current[key];
		if (value === undefined) delete next[key];
		else if (MERGED.has(key) && isJsonObject(value) && isJsonObject(before)) {
			next[key] = merge(before, Object.entries(value));
		} else next[key] = value;
	}
	return next;
}

function readLayer(path: string, previous: JsonObject | undefined, warnings: string[]): JsonObject {
	try {
		return readJsonObject(path) ?? {};
	} catch (error) {
		warnings.push(describeError(error));
		return previous ?? {};
	}
}

function readValue<T>(layer: JsonObject, path: string, kind: Kind<T>, file: string, warnings: string[]): T | undefined {
	const [key = "", inner] = path.split(".");
	const outer = Object.hasOwn(layer, key) ? layer[key] : undefined;
	if (outer === undefined) return undefined;
	if (inner !== undefined && !isJsonObject(outer)) {
		const warning = `${file}: ${key} must be an object; it is ignored`;
		if (!warnings.includes(warning)) warnings.push(warning);
		return undefined;
	}
	const value = inner !== undefined && isJsonObject(outer) ? outer[inner] : outer;
	if (value === undefined) return undefined;
	const accepted = kind.read(value);
	if (accepted === undefined) warnings.push(`${file}: ${path} must be ${kind.name}; it is ignored`);
	return accepted;
}

function isInert(path: string): boolean {
	return INERT_KEYS.has(path) || INERT_KEYS.has(path.split(".")[0] ?? "");
}

/** The keys of a layer as paths; groups by their inner keys. */
function layerPaths(layer: JsonObject, known: ReadonlySet<string>): string[] {
	return Object.entries(layer).flatMap(([key, value]) =>
		!known.has(key) && GROUPS.has(key) && isJsonObject(value)
			? Object.keys(value).map((inner) => `${key}.${inner}`)
			: [key],
	);
}

function warnUnknown(layer: JsonObject, known: ReadonlySet<string>, file: string, warnings: string[]): void {
	const unknown = layerPaths(layer, known).filter((path) => !known.has(path) && !GROUPS.has(path));
	if (unknown.length === 0) return;
	const meant = unknown.length === 1 ? nearest(unknown[0] ?? "", known, 1)[0] : undefined;
	const names = unknown.map((path) => JSON.stringify(path)).join(", ");
	warnings.push(`${file}: unknown ${names}; kept and not used${meant ? ` · did you mean ${meant}?` : ""}`);
}

function warnIgnored(layer: JsonObject, known: ReadonlySet<string>, file: string, warnings: string[]): void {
	const ignored = layerPaths(layer, known).filter((path) => !isInert(path));
	if (ignored.length === 0) return;
	const names = ignored.map((path) => JSON.stringify(path)).join(", ");
	warnings.push(`${file}: a project cannot set ${names}; ignored · set it in the user's settings.json`);
}
