import { join } from "node:path";
import type { SettingsStore } from "../config/settings-store.js";
import { onOneLine } from "../log/session-summary.js";
import type { News } from "../modes/interactive/interactive-options.js";
import { compareVersions, loadChangelog, newerThan } from "../resources/changelog.js";

/** Dependencies of `whatsNew`. */
export interface WhatsNewOptions {
	settings: Pick<SettingsStore, "current" | "isFileValid" | "list" | "set">;
	version: string;
	/** Directory of CHANGELOG.md. */
	packageDir: string;
}

/** Maximum number of items on the first screen; `/changelog` shows the rest. */
const MAX_ITEMS = 6;
const MAX_ITEM_LENGTH = 72;

/**
 * Changes since the last version whose news were shown. Shown once: the version is saved in the user's settings.json.
 * @returns `first` at the very first start of a user without settings; null when nothing is new
 */
export async function whatsNew({ settings, version, packageDir }: WhatsNewOptions): Promise<News | "first" | null> {
	const before = settings.current.lastChangelogVersion;
	// A file that the user must correct stays where it is.
	if (before === version || !settings.isFileValid) return null;
	const isFirst = before === undefined && settings.list().every(({ source }) => source !== "user");
	try {
		await settings.set("lastChangelogVersion", version);
	} catch {
		return null; // without a saved version, the news would appear at every start
	}
	if (isFirst) return "first";
	if (before === undefined || compareVersions(version, before) <= 0) return null;
	if (settings.current.collapseChangelog) return { version, lines: [] };
	const sections = newerThan(await loadChangelog(join(packageDir, "CHANGELOG.md")), before);
	const items = sections.flatMap((section) => itemsOf(section.lines));
	const more = items.length > MAX_ITEMS ? [`… and ${items.length - MAX_ITEMS} more`] : [];
	return { version, lines: [...items.slice(0, MAX_ITEMS), ...more] };
}

/** Items of Markdown lists, each joined to one line. */
function itemsOf(lines: readonly string[]): string[] {
	const items: string[] = [];
	for (const line of lines) {
		if (/^- /.test(line)) items.push(line);
		else if (/^ +\S/.test(line) && items.length > 0) items.push(`${items.pop()} ${line.trim()}`);
	}
	return items.map((item) => onOneLine(item, MAX_ITEM_LENGTH));
}
