import { join } from "node:path";
import type { SettingsStore } from "../config/settings-store.js";
import { onOneLine } from "../log/session-summary.js";
import type { News } from "../modes/interactive/interactive-options.js";
import { compareVersions, loadChangelog, newerThan } from "../resources/changelog.js";

/** What is known at a start. */
export interface WhatsNewOptions {
	settings: Pick<SettingsStore, "current" | "set">;
	version: string;
	/** Holds CHANGELOG.md. */
	packageDir: string;
}

/** News that are worth the first screen; `/changelog` has the rest. */
const MAX_ITEMS = 6;
const MAX_ITEM_LENGTH = 72;

/**
 * What this version brought since the last one that was told of, once: the version is noted in the user's settings.json.
 * @returns null at the very first start, and when nothing is new
 */
export async function whatsNew({ settings, version, packageDir }: WhatsNewOptions): Promise<News | null> {
	const before = settings.current.lastChangelogVersion;
	if (before === version) return null;
	try {
		await settings.set("lastChangelogVersion", version);
	} catch {
		return null; // it could not be noted, and would be told at every start
	}
	if (before === undefined || compareVersions(version, before) <= 0) return null;
	if (settings.current.collapseChangelog) return { version, lines: [] };
	const sections = newerThan(await loadChangelog(join(packageDir, "CHANGELOG.md")), before);
	const items = sections.flatMap((section) => itemsOf(section.lines));
	const more = items.length > MAX_ITEMS ? [`… and ${items.length - MAX_ITEMS} more`] : [];
	return { version, lines: [...items.slice(0, MAX_ITEMS), ...more] };
}

/** The items of Markdown lists, each on one line. */
function itemsOf(lines: readonly string[]): string[] {
	const items: string[] = [];
	for (const line of lines) {
		if (/^- /.test(line)) items.push(line);
		else if (/^ +\S/.test(line) && items.length > 0) items.push(`${items.pop()} ${line.trim()}`);
	}
	return items.map((item) => onOneLine(item, MAX_ITEM_LENGTH));
}
