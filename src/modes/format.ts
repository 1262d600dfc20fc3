import type { ImageOmissionEntry, SystemItemEntry } from "../log/entry.js";
import { formatDuration, plural } from "../util/format-amounts.js";
import { displayPath } from "../util/home-path.js";

export { formatCost, formatDuration, formatTokens, plural } from "../util/format-amounts.js";
export { displayPath, homePath } from "../util/home-path.js";

/** A running duration in integer seconds, because changing fractions distract. */
export function formatElapsed(ms: number): string {
	const seconds = Math.floor(Math.max(0, ms) / 1000);
	return seconds < 60 ? `${seconds} s` : formatDuration(seconds * 1000);
}

/** Names a context file that joined the context; null for other items. The path is untrusted. */
export function describeContextFile(
	{ source, item }: SystemItemEntry,
	place: { cwd: string; home: string },
): string | null {
	if (item.kind !== "context_file") return null;
	const lines = plural(item.text.split("\n").length, "line");
	return `${displayPath(source, place)} ${item.changed ? "changed and joined" : "joined"} the context · ${lines}`;
}

/** What an omission of images did, and how to undo it. The provider's words are untrusted. */
export function describeOmission({ images, provider, reason }: ImageOmissionEntry): string {
	const what = images.length === 1 ? "image" : `${images.length} images`;
	const them = images.length === 1 ? "it" : "them";
	return `${what} omitted from the context, because ${provider} refused ${them}: ${reason} · /uncompact sends ${them} again`;
}

/** Removes what compaction and hooks put around a summary: introduction, `<summary>` tags, `[Summary]`. */
export function bareSummary(text: string): string {
	const tagged = /<summary>\s*([\s\S]*?)\s*<\/summary>/.exec(text);
	return (tagged?.[1] ?? text).replace(/^\s*\[summary\]:?\s*/i, "").trim();
}
