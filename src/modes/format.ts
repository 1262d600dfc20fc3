import { sep } from "node:path";
import type { ImageOmissionEntry, SystemItemEntry } from "../log/entry.js";
import { homePath } from "../util/home-path.js";

export { formatCost, formatTokens } from "../util/format-amounts.js";
export { homePath } from "../util/home-path.js";

/** A duration: `0.4 s`, `12 s`, `3 min 05 s`, `2 h 10 min`. Integer seconds from 10 s. */
export function formatDuration(ms: number): string {
	const seconds = Math.max(0, ms) / 1000;
	if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
	const whole = Math.round(seconds);
	if (whole < 60) return `${whole} s`;
	if (whole < 3600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
	return `${Math.floor(whole / 3600)} h ${two(Math.floor((whole % 3600) / 60))} min`;
}

/** A running duration in integer seconds, because changing fractions distract. */
export function formatElapsed(ms: number): string {
	const seconds = Math.floor(Math.max(0, ms) / 1000);
	return seconds < 60 ? `${seconds} s` : formatDuration(seconds * 1000);
}

/** `1 line`, `80 lines`. */
export function plural(count: number, noun: string, nouns = `${noun}s`): string {
	return `${count} ${count === 1 ? noun : nouns}`;
}

/** A path relative to `cwd` if it is inside, otherwise with `~`. */
export function displayPath(path: string, { cwd, home }: { cwd: string; home: string }): string {
	if (path === cwd) return ".";
	const base = cwd.endsWith(sep) ? cwd : cwd + sep;
	return path.startsWith(base) ? path.slice(base.length) : homePath(path, home);
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

function two(value: number): string {
	return String(value).padStart(2, "0");
}

/** What an omission of images did, and how to undo it. The provider's words are untrusted. */
export function describeOmission({ images, provider, reason }: ImageOmissionEntry): string {
	const what = images.length === 1 ? "image" : `${images.length} images`;
	const them = images.length === 1 ? "it" : "them";
	return `${what} omitted from the context, because ${provider} refused ${them}: ${reason} · /uncompact sends ${them} again`;
}
