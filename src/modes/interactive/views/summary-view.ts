import { drawMarkdown } from "../../../tui/draw-markdown.js";
import { stripAll } from "../../../util/sanitize.js";
import { formatTokens, plural } from "../../format.js";
import { cleanLine, styled, wrapLines } from "../lines.js";
import { View, type ViewStyle } from "./view.js";

/** A message that stands in the context in place of entries. */
export interface StandIn {
	/** What the model reads. */
	text: string;
	/** `compaction`, `freeze`, or the name of the hook that made it. */
	by: string;
	/** Messages it stands for; 0 when that is not known. */
	messages: number;
	tokensBefore: number;
	tokens: number;
}

/** Lines of a summary that are shown unless everything is expanded. */
const MAX_LINES = 6;
/** Longer lines than this take too long to lay out. */
const MAX_LINE_LENGTH = 2000;

/** A summary in place of entries: its text, then what it replaced and what that saves. */
export class SummaryView extends View {
	constructor(
		style: ViewStyle,
		private readonly standIn: StandIn,
	) {
		super(style);
	}

	protected override draw(width: number): string[] {
		const { theme, expanded, keymap } = this.style;
		const { text, by, messages, tokensBefore, tokens } = this.standIn;
		const lines = drawMarkdown(stripAll(bare(text), { maxLineLength: MAX_LINE_LENGTH }), width, theme);
		const shown = expanded || lines.length <= MAX_LINES + 1 ? lines : lines.slice(0, MAX_LINES);
		const facts = [
			messages > 0 ? `stands for ${plural(messages, "message")}` : "",
			tokensBefore > 0 && messages > 0 ? `${formatTokens(tokensBefore)} → ${formatTokens(tokens)} tokens` : "",
			messages > 0 ? "" : `${formatTokens(tokens)} tokens`,
			cleanLine(by, 40),
			shown.length < lines.length
				? `${plural(lines.length - shown.length, "line")} more: ${keymap.keyOf("app.expandTools")}`
				: "",
		];
		return [...shown, ...styled(wrapLines([facts.filter(Boolean).join(" · ")], width), theme.dim)];
	}
}

/** Entries that are not in the context, in a few words. */
export class HiddenRunView extends View {
	constructor(
		style: ViewStyle,
		private readonly run: { messages: number; tokens: number; by: string },
	) {
		super(style);
	}

	protected override draw(width: number): string[] {
		const { messages, tokens, by } = this.run;
		const text = `… ${plural(messages, "message")}, ${formatTokens(tokens)} tokens, hidden by ${cleanLine(by, 40)}`;
		return wrapLines([text], width);
	}
}

/** Takes off what the core and hooks wrap a summary in: the lead-in of a compaction and its tags, `[Summary]`. */
function bare(text: string): string {
	const tagged = /<summary>\s*([\s\S]*?)\s*<\/summary>/.exec(text);
	return (tagged?.[1] ?? text).replace(/^\s*\[summary\]:?\s*/i, "").trim();
}
