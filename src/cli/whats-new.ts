import { join } from "node:path";
import { type Settings, saveSetting } from "../config/settings.js";
import { SETTINGS } from "../config/settings-table.js";
import type { News } from "../modes/interactive/news.js";
import { compareVersions, loadChangelog, newerThan } from "../resources/changelog.js";

/** What is known at a start. */
export interface WhatsNewOptions {
	settings: Pick<Settings, "collapseChangelog" | "lastChangelogVersion">;
	version: string;
	agentDir: string;
	/** Holds CHANGELOG.md. */
	packageDir: string;
}

/** Lines of news that are worth the screen; `/changelog` has the rest. */
const MAX_LINES = 20;

/**
 * What this version brought since the last one that was told of, once: the version is noted in the user's settings.json.
 * @returns null at the very first start, and when nothing is new
 */
export async function whatsNew({ settings, version, agentDir, packageDir }: WhatsNewOptions): Promise<News | null> {
	const before = settings.lastChangelogVersion;
	if (before === version) return null;
	try {
		await saveSetting(agentDir, SETTINGS.lastChangelogVersion.path, version);
	} catch {
		return null; // it could not be noted, and would be told at every start
	}
	if (before === undefined || compareVersions(version, before) <= 0) return null;
	if (settings.collapseChangelog) return { version, lines: [] };
	const sections = newerThan(await loadChangelog(join(packageDir, "CHANGELOG.md")), before);
	const lines = sections.flatMap((section) => section.lines.filter((line) => line.trim() !== ""));
	return { version, lines: lines.length > MAX_LINES ? [...lines.slice(0, MAX_LINES), "…"] : lines };
}
