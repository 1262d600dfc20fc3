import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type SettingsChange, SettingsStore } from "../../src/config/settings-store.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";

/** Settings of a user and a project, from files with these contents, and the changes that a subscriber gets. */
export function loadSettings(user?: unknown, project?: unknown) {
	const agentDir = tempAgentDir(user === undefined ? {} : { settings: user });
	const cwd = tempDir();
	if (project !== undefined) writeFiles(cwd, { ".pi/settings.json": project });
	const store = new SettingsStore({ agentDir, cwd });
	const changes: SettingsChange[] = [];
	store.subscribe((change) => changes.push(change));
	const userFile = join(agentDir, "settings.json");
	return {
		store,
		changes,
		userFile,
		projectFile: join(cwd, ".pi/settings.json"),
		agentDir,
		cwd,
		saved: (): unknown => JSON.parse(readFileSync(userFile, "utf8")),
	};
}
