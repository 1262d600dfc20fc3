import type { XStatic } from "typebox/schema";
import type { Filled, Schema } from "./json-schema.js";

/** Thinking levels in settings and on the command line, lowest first. */
export const THINKING_LEVEL_NAMES = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

/** Who can answer a web search. */
export const WEB_SEARCH_ENGINES = ["auto", "provider", "searxng", "brave", "tavily", "exa"] as const;

/** Maximum delay of a timer. */
const MAX_MS = 2_147_483_647;
const MAX_TOKENS = 100_000_000;

const LIVE = { "x-live": true } as const;
const PROJECT = { "x-project": true } as const;
/** Not for people to set in `/settings`. */
const UNLISTED = { "x-unlisted": true } as const;
const LIVE_PROJECT = { ...LIVE, ...PROJECT } as const;

const flag = <const D extends boolean, const X extends object>(fallback: D, description: string, marks: X) =>
	({ type: "boolean", default: fallback, description, ...marks }) as const;

const count = <const X extends object>(fallback: number, maximum: number, description: string, marks: X) =>
	({ type: "integer", minimum: 0, maximum, default: fallback, description, ...marks }) as const;

const dollars = (description: string) => ({ type: "number", minimum: 0, default: 0, description, ...LIVE }) as const;

/** Longer than any path, source or name. */
const MAX_TEXT = 4096;

const text = <const X extends object>(description: string, marks: X) =>
	({ type: "string", minLength: 1, maxLength: MAX_TEXT, description, ...marks }) as const;

const choice = <const N extends readonly string[], const X extends object>(
	names: N,
	fallback: N[number],
	description: string,
	marks: X,
) => ({ type: "string", enum: names, default: fallback, description, ...marks }) as const;

const texts = (description: string) =>
	({
		type: "array",
		items: { type: "string", maxLength: MAX_TEXT },
		default: [] as readonly string[],
		description,
	}) as const;

/** A rule of the guard: a tool, or a tool and a pattern in parentheses. */
const RULE = /^[\w-]+(?:\([\s\S]+\))?$/.source;

const rules = <const X extends object>(description: string, marks: X) =>
	({
		type: "array",
		items: {
			type: "string",
			maxLength: MAX_TEXT,
			pattern: RULE,
			"x-expected": "a tool, or a tool with a pattern in parentheses, such as bash(git push *)",
		},
		"x-expected": "a list of rules, such as bash(git push *)",
		default: [] as readonly string[],
		description,
		...marks,
	}) as const;

const patterns = { type: "array", items: { type: "string", maxLength: MAX_TEXT } } as const;

const group = <const P extends object>(properties: P) =>
	({ type: "object", properties, additionalProperties: false, default: {} }) as const;

/** The first setting of a group, or the first group of members, with the title of the group. */
const section = <const S extends object>(title: string, schema: S) => ({ ...schema, "x-group": title }) as const;

/**
 * Every setting, in display order: each section begins a group of settings. The types, checks and defaults of settings.json, `/settings`, the table in
 * docs/usage.md and schemas/settings.json are derived from it.
 */
export const SETTINGS_SCHEMA = {
	type: "object",
	properties: {
		defaultProvider: section("Model", text("provider to start with", {})),
		defaultModel: text("model to start with", {}),
		defaultThinkingLevel: choice(THINKING_LEVEL_NAMES, "medium", "how much the model thinks", LIVE_PROJECT),
		rememberModel: flag(
			true,
			"start with the model and thinking level last used in this directory, unless the settings name others",
			LIVE,
		),
		models: group({
			update: choice(
				["never", "weekly"],
				"never",
				"ask the providers for new models in the background when the list is older than a week, in the interactive mode",
				{},
			),
			catalog: {
				type: "string",
				pattern: "^[hH][tT][tT][pP][sS]?://",
				format: "uri",
				default: "https://models.dev/api.json",
				description: "address from which updates of the models read windows, prices and release dates",
				"x-expected": "an http or https address",
			},
		}),
		compaction: section(
			"Context and compaction",
			group({
				enabled: flag(true, "compact automatically when the context is nearly full", LIVE_PROJECT),
				reserveTokens: count(16_384, MAX_TOKENS, "tokens kept free for the answer", LIVE_PROJECT),
				keepRecentTokens: count(20_000, MAX_TOKENS, "tokens of recent messages kept verbatim", LIVE_PROJECT),
				model: text("model that writes summaries, as `provider/id`; default: the model of the session", LIVE),
			}),
		),
		cacheRetention: {
			type: "string",
			enum: ["none", "short", "long"],
			description: "how long providers keep the start of a request in their cache; unset: short",
			...LIVE,
		},
		queueMode: section(
			"Session",
			choice(
				["one-at-a-time", "all"],
				"one-at-a-time",
				"send queued messages one per turn, or all at once",
				LIVE_PROJECT,
			),
		),
		titleModel: text(
			"model that writes a title for a new session after its first run, as `provider/id`; unset: a session without a name is listed by its first prompt",
			LIVE,
		),
		undo: group({
			enabled: flag(true, "keep what tools change in files, for `/undo`", LIVE),
		}),
		features: group({
			tasks: flag(
				false,
				"a task list that the model maintains, shown above the editor and by `/tasks`, with reminders",
				{},
			),
		}),
		theme: section(
			"Screen",
			text("name of a theme that `/theme` lists; unset: light or dark, like the terminal", LIVE_PROJECT),
		),
		hideThinkingBlock: flag(
			false,
			"true hides thinking behind one line, false shows a preview; Ctrl+T changes it for the session",
			LIVE_PROJECT,
		),
		gutter: flag(true, "show the column that marks the contents of the context", LIVE_PROJECT),
		plain: flag(false, "line-by-line output instead of the screen, as with `--plain`", {}),
		quietStartup: flag(false, "show only warnings at startup", PROJECT),
		collapseChangelog: flag(false, "after an update, show one line instead of the changes", PROJECT),
		lastChangelogVersion: text("version whose changes were last shown; pi writes it", UNLISTED),
		editor: group({
			vim: flag(false, "the keys of vim in the prompt's editor", LIVE),
		}),
		terminal: group({
			showImages: flag(true, "draw images if the terminal supports them", PROJECT),
			title: flag(true, "show session and directory in the window title", LIVE_PROJECT),
			progress: flag(true, "show progress in the window if the terminal supports it", LIVE_PROJECT),
			mouse: flag(
				false,
				"click choices and links, and scroll, in dialogs and the pager; text is then selected with Shift",
				LIVE,
			),
			notify: choice(
				["auto", "bell", "off"],
				"auto",
				"notify when a long run ends unseen: a message or the bell, the bell only, or nothing",
				LIVE_PROJECT,
			),
		}),
		shellPath: section(
			"Tools and machines",
			text("path of the shell that the bash tool runs; unset: bash", {
				...LIVE,
				"x-expected": "the absolute path of a shell, such as /bin/bash",
			}),
		),
		on: text(
			"where tools run: `sandbox:`, `ssh:host`, `docker:name`, `podman:name`, `kubectl:pod`, `local`; `--on` overrides it",
			{},
		),
		onTimeout: count(20_000, MAX_MS, "maximum time to reach the machine of `on` or `--on`, in ms; 0: unlimited", LIVE),
		permissions: group({
			allow: rules(
				"tool calls that the guard hooks allow without a question, such as `bash(npm test)`; `/permissions` lists them",
				LIVE,
			),
			ask: rules("tool calls that the guard hooks ask about; `ask` wins over `allow`", {
				...LIVE_PROJECT,
				"x-joined": true,
			}),
			deny: rules("tool calls that the guard hooks block; `deny` wins over `ask` and `allow`", {
				...LIVE_PROJECT,
				"x-joined": true,
			}),
			projects: {
				type: "object",
				additionalProperties: {
					type: "object",
					properties: { allow: rules("", {}), ask: rules("", {}), deny: rules("", {}) },
					additionalProperties: false,
					default: {},
				},
				default: {},
				description: "the same lists for single projects, by the path of their directory",
				...LIVE,
				...UNLISTED,
			},
		}),
		webSearch: group({
			engine: {
				type: "string",
				enum: WEB_SEARCH_ENGINES,
				description:
					"who answers `web_search`, a tool of the bundled hook `web`; `auto`: the provider of the model if it can, else a search engine; unset: the tool is off",
			},
			url: {
				type: "string",
				pattern: "^[hH][tT][tT][pP][sS]?://",
				format: "uri",
				description: "address of the SearXNG server that answers `web_search`",
				"x-expected": "an http or https address",
			},
		}),
		customTools: texts("tool files to load in addition to the tools directories"),
		hooks: section(
			"Hooks and packages",
			texts(
				"hook files to load in addition to the hooks directories; `pi:name` turns a bundled hook on, `-pi:name` off",
			),
		),
		shadowHooks: {
			...texts(
				"hooks that are off and of which `/hooks` shows what they would have sent and cost, by name or path, such as `pi:clear`",
			),
			...LIVE,
		},
		hookTimeout: count(30_000, MAX_MS, "maximum duration of a hook handler in ms", LIVE),
		hookGrants: {
			type: "object",
			additionalProperties: { type: "array", items: { type: "string" } },
			default: {},
			description:
				'hook path or file name (of a project or package: its path), and the host handles the hook may use, such as `["systemItems"]`',
		},
		commands: group({
			replace: texts(
				"built-in commands that commands of hooks may replace, by name, such as `tools`; `/pi:tools` is then the built-in one",
			),
		}),
		packages: {
			type: "array",
			items: {
				type: ["string", "object"],
				maxLength: MAX_TEXT,
				properties: {
					source: { type: "string", minLength: 1, maxLength: MAX_TEXT },
					hooks: patterns,
					extensions: patterns,
					tools: patterns,
					agents: patterns,
					skills: patterns,
					prompts: patterns,
					themes: patterns,
				},
				required: ["source"],
				additionalProperties: false,
				"x-expected": "a source, or an object with a source",
			},
			default: [],
			description:
				"packages to load: `npm:name@version`, `git:url@ref` or a path, or an object with it as `source` and filters; see `pi install`",
			"x-joined": true,
			...PROJECT,
		},
		skills: group({ enabled: flag(true, "look for skills", {}) }),
		retry: section(
			"Network",
			group({
				enabled: flag(true, "retry requests after overload and lost connections", LIVE_PROJECT),
				maxRetries: count(10, 100, "maximum number of retries", LIVE_PROJECT),
				baseDelayMs: count(
					2000,
					600_000,
					"delay before the first retry in ms; doubled each time, up to a minute",
					LIVE_PROJECT,
				),
			}),
		),
		streamIdleTimeoutMs: count(180_000, MAX_MS, "retry a reply that is silent for this long, in ms; 0: never", LIVE),
		budget: section(
			"Cost and privacy",
			group({
				perSession: dollars("US dollars after which pi asks before the next request of a session; 0: never"),
				perDay: dollars("US dollars after which pi asks before the next request of any session of the day; 0: never"),
			}),
		),
		telemetry: group({
			otel: flag(
				false,
				"export spans of runs, requests and tool calls with OpenTelemetry, if `OTEL_EXPORTER_OTLP_ENDPOINT` is set; see docs/telemetry.md",
				{},
			),
		}),
		apiKeys: {
			type: "object",
			additionalProperties: { type: "string", minLength: 1 },
			default: {},
			description: "provider and API key; prefer `auth.json`",
			...UNLISTED,
		},
	},
	additionalProperties: false,
	default: {},
} as const satisfies Schema;

type Properties = (typeof SETTINGS_SCHEMA)["properties"];

/** All settings, defaults filled in. Frozen; `SettingsStore` changes them. */
export type Settings = Filled<typeof SETTINGS_SCHEMA>;

/** Rules for tool calls. */
export type RuleLists = Settings["permissions"]["projects"][string];

/** What a settings.json may contain. */
export type SettingsFile = XStatic<typeof SETTINGS_SCHEMA>;

/** The name of a setting; a dot separates group and member: `retry.enabled`. */
export type SettingPath = {
	[K in keyof Properties]: Properties[K] extends { properties: infer G } ? `${K}.${keyof G & string}` : K;
}[keyof Properties];

/** The type of a setting's value. */
export type SettingValue<P extends SettingPath> = P extends keyof Settings
	? Settings[P]
	: P extends `${infer G extends keyof Settings}.${infer K}`
		? K extends keyof Settings[G]
			? Settings[G][K]
			: never
		: never;

/** A setting and its schema. */
export interface SettingRow {
	path: SettingPath;
	schema: Schema;
	/** Title of the group of settings to which it belongs; those of a group follow each other. */
	group: string;
}

/** Every setting with its path, in the order of the schema. */
export const SETTING_ROWS: readonly SettingRow[] = settingRows();

function settingRows(): SettingRow[] {
	let group = "";
	return Object.entries<Schema>(SETTINGS_SCHEMA.properties).flatMap(([key, schema]) => {
		group = schema["x-group"] ?? group;
		const members = schema.properties
			? Object.entries(schema.properties).map(([inner, member]) => ({ path: `${key}.${inner}`, schema: member }))
			: [{ path: key, schema }];
		return members.map((row) => ({ ...row, group }) as SettingRow);
	});
}

/** The settings that a project's .pi/settings.json may contain. */
export const PROJECT_SCHEMA: Schema = onlyProject(SETTINGS_SCHEMA);

function onlyProject(schema: Schema): Schema {
	const members = Object.entries(schema.properties ?? {}).flatMap(([name, member]): [string, Schema][] => {
		if (member.properties) return [[name, onlyProject(member)]];
		return member["x-project"] ? [[name, member]] : [];
	});
	return { ...schema, properties: Object.fromEntries(members) };
}
