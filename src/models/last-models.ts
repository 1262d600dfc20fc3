import { realpathSync } from "node:fs";
import { readJsonObject, updateJsonFile } from "../config/json-file.js";
import { THINKING_LEVEL_NAMES } from "../config/settings-schema.js";
import { isRecord } from "../util/is-record.js";

/** The model and thinking level that a directory's sessions used last. */
export interface LastModel {
	provider: string;
	modelId: string;
	thinkingLevel: (typeof THINKING_LEVEL_NAMES)[number];
}

/** Maximum number of directories in the file; the least recently used ones are dropped. */
const MAX_PROJECTS = 500;

/** Reads the model last used in `cwd`. Never throws: null if none is stored or the file is invalid. */
export function readLastModel(path: string, cwd: string): LastModel | null {
	try {
		const stored = projectsOf(readJsonObject(path))[keyOf(cwd)];
		if (!isRecord(stored)) return null;
		const { provider, modelId } = stored;
		const thinkingLevel = THINKING_LEVEL_NAMES.find((level) => level === stored.thinkingLevel);
		if (typeof provider !== "string" || typeof modelId !== "string" || !thinkingLevel) return null;
		return { provider, modelId, thinkingLevel };
	} catch {
		return null; // only a convenience: the default model is used instead
	}
}

/** Stores the model last used in `cwd`. @throws PiError `config_write_failed` */
export async function saveLastModel(path: string, cwd: string, used: LastModel): Promise<void> {
	const key = keyOf(cwd);
	// Most runs use the same model again, and need not wait for the lock and the disk.
	if (isLast(path, key, used)) return;
	await updateJsonFile(path, (current) => {
		const { [key]: _, ...others } = projectsOf(current);
		// The order of keys is the order of use.
		const kept = Object.entries(others).slice(-(MAX_PROJECTS - 1));
		return { ...current, version: 1, projects: { ...Object.fromEntries(kept), [key]: used } };
	});
}

/** True if a directory was the last to store a model, and stored this one. */
function isLast(path: string, key: string, used: LastModel): boolean {
	try {
		const [last, stored] = Object.entries(projectsOf(readJsonObject(path))).at(-1) ?? [];
		return last === key && JSON.stringify(stored) === JSON.stringify(used);
	} catch {
		return false; // it is written again
	}
}

function projectsOf(file: unknown): { [cwd: string]: unknown } {
	return isRecord(file) && isRecord(file.projects) ? file.projects : {};
}

function keyOf(cwd: string): string {
	try {
		return realpathSync.native(cwd);
	} catch {
		return cwd;
	}
}
