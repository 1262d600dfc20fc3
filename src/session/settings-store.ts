import type { CommandSettings } from "../commands/pickers.js";
import { isJsonObject, type JsonObject } from "../config/json-file.js";
import { saveSetting, settingSource, valueAt } from "../config/settings.js";
import { SETTING_ROWS, type SettingRow } from "../config/settings-table.js";
import { PiError } from "../errors.js";
import { THINKING_LEVELS } from "../log/entry.js";
import type { AgentSession } from "./agent-session.js";
import type { SessionParts } from "./session-parts.js";

/** What the session asks its settings for each time it needs them. */
const LIVE = new Set([
	"compaction.reserveTokens",
	"compaction.keepRecentTokens",
	"retry.enabled",
	"retry.maxRetries",
	"retry.baseDelayMs",
	"streamIdleTimeoutMs",
	"shellPath",
	"hookTimeout",
]);

type SettableSession = Pick<AgentSession, "autoCompaction" | "setThinkingLevel" | "controls">;

/** The settings of a session: read from its files, saved to the user's, followed at once where that can be. */
export function createSettingsStore(session: SettableSession, parts: SessionParts): CommandSettings {
	let { user } = parts.settingsLayers;
	const { project } = parts.settingsLayers;
	const stateOf = (row: SettingRow) => {
		const source = settingSource(row, { user, project });
		const value = source === "default" ? row.default : valueAt(source === "user" ? user : project, row.path);
		return { row, value, source };
	};
	return {
		list: () => SETTING_ROWS.map(stateOf),
		async set(row, value) {
			if (value !== undefined && row.kind.read(value) === undefined) {
				throw new PiError("bad_arguments", `${row.path} must be ${row.kind.name}`);
			}
			await saveSetting(parts.agentDir, row.path, value);
			user = withValue(user, row.path, value);
			return follow(row, stateOf(row).value, session, parts.settings);
		},
	};
}

/** @returns whether the session goes by it now */
function follow({ path }: SettingRow, value: unknown, session: SettableSession, settings: object): boolean {
	const [key = "", inner] = path.split(".");
	const group: unknown = Reflect.get(settings, key);
	if (inner === undefined) Reflect.set(settings, key, value);
	else if (isJsonObject(group)) group[inner] = value;
	switch (path) {
		case "compaction.enabled":
			session.autoCompaction = value === true;
			return true;
		case "queueMode":
			session.controls.queueMode = value === "all" ? "all" : "one-at-a-time";
			return true;
		case "defaultThinkingLevel": {
			const level = THINKING_LEVELS.find((name) => name === value);
			if (level) session.setThinkingLevel(level);
			return true;
		}
		default:
			return LIVE.has(path);
	}
}

function withValue(layer: JsonObject, path: string, value: unknown): JsonObject {
	const [key = "", inner] = path.split(".");
	if (inner === undefined) return { ...layer, [key]: value };
	const group = layer[key];
	return { ...layer, [key]: { ...(isJsonObject(group) ? group : {}), [inner]: value } };
}
