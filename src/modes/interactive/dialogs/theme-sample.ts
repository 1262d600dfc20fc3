import { drawMarkdown } from "../../../tui/draw-markdown.js";
import type { Theme } from "../../../tui/theme.js";
import { clipLine, spread } from "../lines.js";

const SUMMARY = "Fixed rounding in `price.ts`; see **AGENTS.md**";
const CODE = '```ts\nconst total = round(cents, "half-up"); // 10.13\n```';

/** A few lines of a session with everything that a theme colours. @returns lines of at most `width` columns */
export function themeSample(theme: Theme, width: number): string[] {
	const { addedWord, removedWord, dim } = theme;
	const room = Math.max(1, width - 2);
	const shown = theme.gutterIn("▎ ");
	const rail = shown + dim("│ ");
	return [
		theme.gutterOut("┆ ") + dim("… 9 messages, 14.2k tokens, hidden by stack"),
		...drawMarkdown(SUMMARY, room, theme).map((line) => theme.gutterSummary("◆ ") + line),
		shown + theme.userText("why does checkout round down?"),
		shown + theme.thinking("∴ The price code, then its test"),
		shown + spread(`${theme.bold("edit")}  src/price.ts`, dim("+1 −1"), room),
		rail + dim("14 ") + theme.removed(`− return Math.${removedWord("floor")}(cents) / 100`),
		rail + dim("14 ") + theme.added(`+ return Math.${addedWord("round")}(cents) / 100`),
		...drawMarkdown(CODE, room, theme).map((line) => shown + line),
		shown + [theme.success("exit 0"), theme.warning("! retry 2/3"), theme.error("✗ overloaded")].join(dim(" · ")),
		theme.thinkingBorder("medium")("─".repeat(width)),
		` ${theme.accent("/pop")} ${theme.muted("Pop to a previous turn")}`,
	].map((line) => clipLine(line, width));
}
