import type { ModelThinkingLevel } from "@mariozechner/pi-ai";
import { flag, type Kind, oneOf, text, textList, textListMap, textMap, wholeNumber } from "./setting-kinds.js";

/** All that is known of a setting: this table is what reading, warnings, `/settings` and the documentation go by. */
export interface SettingRow<T = unknown, D extends T | undefined = T | undefined> {
	/** As in settings.json; a dot leads into a group. */
	path: string;
	kind: Kind<T>;
	default: D;
	/** What it does, in a few words. */
	means: string;
	/** True for what a project may set: it runs no code, moves no traffic, touches no keys. */
	isInert: boolean;
}

/** Levels as settings and the command line write them, least first. */
export const THINKING_LEVEL_NAMES: readonly ModelThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "xhigh"];

/** Longest time a timer takes. */
const MAX_MS = 2_147_483_647;
const MAX_TOKENS = 100_000_000;
const NO_TEXTS: string[] = [];

type Details<T, D> = Omit<SettingRow, "path" | "kind" | "default" | "isInert"> & {
	kind: Kind<T>;
	default?: D;
	isInert?: true;
};

function row<T, const D extends T | undefined = undefined>(path: string, details: Details<T, D>): SettingRow<T, D>;
function row<T>(path: string, { kind, means, isInert = undefined, ...given }: Details<T, T>): SettingRow<T> {
	return { path, kind, means, default: given.default, isInert: isInert === true };
}

/** Every setting, in the order in which they are shown. */
export const SETTINGS = {
	theme: row("theme", {
		kind: text,
		means: "a theme that /theme lists; unset: light or dark, as the terminal is",
		isInert: true,
	}),
	defaultProvider: row("defaultProvider", { kind: text, means: "the provider to start with" }),
	defaultModel: row("defaultModel", { kind: text, means: "the model to start with" }),
	defaultThinkingLevel: row("defaultThinkingLevel", {
		kind: oneOf(THINKING_LEVEL_NAMES),
		default: "medium",
		means: "how much a model thinks",
		isInert: true,
	}),
	queueMode: row("queueMode", {
		kind: oneOf<"one-at-a-time" | "all">(["one-at-a-time", "all"]),
		default: "one-at-a-time",
		means: "queued messages go one per turn, or all at once",
		isInert: true,
	}),
	shellPath: row("shellPath", { kind: text, means: "the shell of the bash tool; unset: yours" }),
	hideThinkingBlock: row("hideThinkingBlock", {
		kind: flag,
		default: false,
		means: "thinking starts folded",
		isInert: true,
	}),
	gutter: row("gutter", {
		kind: flag,
		default: true,
		means: "the column that shows what is in the context",
		isInert: true,
	}),
	plain: row("plain", { kind: flag, default: false, means: "lines in place of the screen, as --plain" }),
	quietStartup: row("quietStartup", {
		kind: flag,
		default: false,
		means: "no first line, only warnings",
		isInert: true,
	}),
	collapseChangelog: row("collapseChangelog", {
		kind: flag,
		default: false,
		means: "after an update one line, not what is new",
		isInert: true,
	}),
	lastChangelogVersion: row("lastChangelogVersion", { kind: text, means: "the version that pi last told of" }),
	terminal: {
		showImages: row("terminal.showImages", {
			kind: flag,
			default: true,
			means: "images are drawn, where the terminal can; from the next start on",
			isInert: true,
		}),
		title: row("terminal.title", {
			kind: flag,
			default: true,
			means: "the window's title names session and directory",
			isInert: true,
		}),
		progress: row("terminal.progress", {
			kind: flag,
			default: true,
			means: "the window shows that something runs, where it can",
			isInert: true,
		}),
		notify: row("terminal.notify", {
			kind: oneOf<"auto" | "bell" | "off">(["auto", "bell", "off"]),
			default: "auto",
			means: "a message or the bell when a long run ends unseen",
			isInert: true,
		}),
	},
	compaction: {
		enabled: row("compaction.enabled", {
			kind: flag,
			default: true,
			means: "compact by itself when the context is nearly full",
			isInert: true,
		}),
		reserveTokens: row("compaction.reserveTokens", {
			kind: wholeNumber(MAX_TOKENS),
			default: 16_384,
			means: "room that is left for the answer",
			isInert: true,
		}),
		keepRecentTokens: row("compaction.keepRecentTokens", {
			kind: wholeNumber(MAX_TOKENS),
			default: 20_000,
			means: "what stays as it is",
			isInert: true,
		}),
	},
	retry: {
		enabled: row("retry.enabled", {
			kind: flag,
			default: true,
			means: "try again after overload and lost connections",
			isInert: true,
		}),
		maxRetries: row("retry.maxRetries", {
			kind: wholeNumber(100),
			default: 3,
			means: "how often",
			isInert: true,
		}),
		baseDelayMs: row("retry.baseDelayMs", {
			kind: wholeNumber(600_000),
			default: 2000,
			means: "first pause, doubled each time",
			isInert: true,
		}),
	},
	streamIdleTimeoutMs: row("streamIdleTimeoutMs", {
		kind: wholeNumber(MAX_MS),
		default: 180_000,
		means: "a reply that is silent for so long is given up and asked for again; 0: never",
	}),
	skills: { enabled: row("skills.enabled", { kind: flag, default: true, means: "look for skills" }) },
	hooks: row("hooks", {
		kind: textList,
		default: NO_TEXTS,
		means: "hook files besides those in the hooks directories",
	}),
	hookTimeout: row("hookTimeout", {
		kind: wholeNumber(MAX_MS),
		default: 30_000,
		means: "ms that a handler may take",
	}),
	hookGrants: row("hookGrants", {
		kind: textListMap,
		default: {},
		means: 'hook path or file name, and the host handles that it may use, such as `["systemItems"]`',
	}),
	customTools: row("customTools", {
		kind: textList,
		default: NO_TEXTS,
		means: "tool files besides those in the tools directories",
	}),
	features: {
		tasks: row("features.tasks", {
			kind: flag,
			default: false,
			means: "a task list that the model keeps, `/tasks` to see it, and reminders",
		}),
	},
	apiKeys: row("apiKeys", { kind: textMap, default: {}, means: "provider and key; `auth.json` is the better place" }),
};

/** The rows of the table, groups opened. */
export const SETTING_ROWS: readonly SettingRow[] = Object.values(SETTINGS).flatMap((entry): SettingRow[] =>
	isRow(entry) ? [entry] : Object.values(entry),
);

function isRow(entry: object): entry is SettingRow {
	return "kind" in entry;
}
