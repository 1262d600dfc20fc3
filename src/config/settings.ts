import { join } from "node:path";
import type { ModelThinkingLevel } from "@mariozechner/pi-ai";
import { describeError } from "../errors.js";
import { nearest } from "../util/nearest.js";
import { isJsonObject, type JsonObject, readJsonObject, updateJsonFile } from "./json-file.js";
import { SETTING_ROWS, SETTINGS, type SettingRow } from "./settings-table.js";

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
	terminal: {
		showImages: boolean;
		/** Whether the window's title names session and directory. */
		title: boolean;
		/** Whether the window shows that something goes on, where it can. */
		progress: boolean;
		/** How a user who looks elsewhere hears that a long run has ended or that pi asks something. */
		notify: "auto" | "bell" | "off";
	};
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
	/** Lines in place of the screen, as `--plain`. */
	plain: boolean;
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

export { THINKING_LEVEL_NAMES } from "./settings-table.js";

/** What a project may set, and the groups that hold some of it. */
const INERT_PATHS: ReadonlySet<string> = new Set(
	SETTING_ROWS.flatMap(({ path, isInert }) => (isInert ? [path, path.split(".")[0] ?? path] : [])),
);

function readSettings(pick: <T, D extends T | undefined>(row: SettingRow<T, D>) => T | D): Settings {
	const { compaction, retry, terminal } = SETTINGS;
	return {
		theme: pick(SETTINGS.theme),
		defaultProvider: pick(SETTINGS.defaultProvider),
		defaultModel: pick(SETTINGS.defaultModel),
		defaultThinkingLevel: pick(SETTINGS.defaultThinkingLevel),
		queueMode: pick(SETTINGS.queueMode),
		shellPath: pick(SETTINGS.shellPath),
		hideThinkingBlock: pick(SETTINGS.hideThinkingBlock),
		collapseChangelog: pick(SETTINGS.collapseChangelog),
		quietStartup: pick(SETTINGS.quietStartup),
		lastChangelogVersion: pick(SETTINGS.lastChangelogVersion),
		compaction: {
			enabled: pick(compaction.enabled),
			reserveTokens: pick(compaction.reserveTokens),
			keepRecentTokens: pick(compaction.keepRecentTokens),
		},
		retry: {
			enabled: pick(retry.enabled),
			maxRetries: pick(retry.maxRetries),
			baseDelayMs: pick(retry.baseDelayMs),
		},
		terminal: {
			showImages: pick(terminal.showImages),
			title: pick(terminal.title),
			progress: pick(terminal.progress),
			notify: pick(terminal.notify),
		},
		skills: { enabled: pick(SETTINGS.skills.enabled) },
		hooks: pick(SETTINGS.hooks),
		hookTimeout: pick(SETTINGS.hookTimeout),
		hookGrants: pick(SETTINGS.hookGrants),
		customTools: pick(SETTINGS.customTools),
		streamIdleTimeoutMs: pick(SETTINGS.streamIdleTimeoutMs),
		features: { tasks: pick(SETTINGS.features.tasks) },
		apiKeys: pick(SETTINGS.apiKeys),
		gutter: pick(SETTINGS.gutter),
		plain: pick(SETTINGS.plain),
	};
}

/** Settings of someone who has set nothing. */
export function defaultSettings(): Settings {
	return readSettings((row) => structuredClone(row.default));
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
	const settings = readSettings(
		(row) =>
			(row.isInert ? readValue(project, row, projectFile, warnings) : undefined) ??
			readValue(user, row, userFile, warnings) ??
			structuredClone(row.default),
	);
	warnUnknown(user, userFile, warnings);
	warnIgnored(project, projectFile, warnings);
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

/**
 * Sets one setting in the user's settings.json; other keys stay as they are.
 * @param value undefined takes it out
 * @returns where an unreadable file was kept, if there was one
 * @throws PiError `config_write_failed`
 */
export async function saveSetting(agentDir: string, path: string, value: unknown): Promise<{ keptAside?: string }> {
	const [key = "", inner] = path.split(".");
	const change: [string, unknown] = [key, inner === undefined ? value : { [inner]: value }];
	return updateJsonFile(join(agentDir, "settings.json"), (current) => merge(current, [change]));
}

/** Where the value of a setting comes from. */
export type SettingSource = "project" | "user" | "default";

/** Which of the files that were read a setting is from. */
export function settingSource({ path, kind, isInert }: SettingRow, { user, project }: SettingsLayers): SettingSource {
	const isIn = (layer: JsonObject) => kind.read(valueAt(layer, path)) !== undefined;
	if (isInert && isIn(project)) return "project";
	return isIn(user) ? "user" : "default";
}

/** The value at a path such as `retry.enabled`. */
export function valueAt(settings: object, path: string): unknown {
	const [key = "", inner] = path.split(".");
	const outer: unknown = Object.hasOwn(settings, key) ? Reflect.get(settings, key) : undefined;
	return inner === undefined ? outer : isJsonObject(outer) ? outer[inner] : undefined;
}

const KNOWN: ReadonlySet<string> = new Set(SETTING_ROWS.map(({ path }) => path));
const GROUPS: ReadonlySet<string> = new Set(
	SETTING_ROWS.flatMap(({ path }) => (path.includes(".") ? [path.split(".")[0] ?? ""] : [])),
);

/** Objects of which a change names only what it changes. */
const MERGED: ReadonlySet<string> = new Set([...GROUPS, "hookGrants"]);

function merge(current: JsonObject, changes: [string, unknown][]): JsonObject {
	const next = { ...current };
	for (const [key, value] of changes) {
		const before = current[key];
		if (value === undefined) delete next[key];
		else if (MERGED.has(key) && isJsonObject(value)) {
			next[key] = merge(isJsonObject(before) ? before : {}, Object.entries(value));
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

function readValue<T>(
	layer: JsonObject,
	{ path, kind }: SettingRow<T>,
	file: string,
	warnings: string[],
): T | undefined {
	const [key = "", inner] = path.split(".");
	const outer = Object.hasOwn(layer, key) ? layer[key] : undefined;
	if (outer !== undefined && inner !== undefined && !isJsonObject(outer)) {
		const warning = `${file}: ${key} must be an object; it is ignored`;
		if (!warnings.includes(warning)) warnings.push(warning);
		return undefined;
	}
	const value = valueAt(layer, path);
	if (value === undefined) return undefined;
	const accepted = kind.read(value);
	if (accepted === undefined) warnings.push(`${file}: ${path} must be ${kind.name}; it is ignored`);
	return accepted;
}

/** The keys of a layer as paths; groups by their inner keys. */
function layerPaths(layer: JsonObject): string[] {
	return Object.entries(layer).flatMap(([key, value]) =>
		!KNOWN.has(key) && GROUPS.has(key) && isJsonObject(value)
			? Object.keys(value).map((inner) => `${key}.${inner}`)
			: [key],
	);
}

function warnUnknown(layer: JsonObject, file: string, warnings: string[]): void {
	const unknown = layerPaths(layer).filter((path) => !KNOWN.has(path) && !GROUPS.has(path));
	if (unknown.length === 0) return;
	const meant = unknown.length === 1 ? nearest(unknown[0] ?? "", KNOWN, 1)[0] : undefined;
	const names = unknown.map((path) => JSON.stringify(path)).join(", ");
	warnings.push(`${file}: unknown ${names}; kept and not used${meant ? ` · did you mean ${meant}?` : ""}`);
}

function warnIgnored(layer: JsonObject, file: string, warnings: string[]): void {
	const ignored = layerPaths(layer).filter((path) => !INERT_PATHS.has(path));
	if (ignored.length === 0) return;
	const names = ignored.map((path) => JSON.stringify(path)).join(", ");
	warnings.push(`${file}: a project cannot set ${names}; ignored · set it in the user's settings.json`);
}
