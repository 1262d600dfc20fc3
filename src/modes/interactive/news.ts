import type { Transcript } from "./transcript.js";

/** What an update brought. */
export interface News {
	version: string;
	/** What changed since the version before, as Markdown lines; empty for one line that names the command. */
	lines: readonly string[];
}

/** Says once, below the header, that pi is another version now. */
export function tell({ version, lines }: News, transcript: Pick<Transcript, "notice" | "page">): void {
	if (lines.length === 0) transcript.notice("info", `updated to ${version} · /changelog`);
	else transcript.page(`Updated to ${version} · /changelog shows all`, lines);
}
