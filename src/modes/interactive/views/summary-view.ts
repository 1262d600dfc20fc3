import { drawMarkdown } from "../../../tui/draw-markdown.js";
import { stripAll } from "../../../util/sanitize.js";
import { bareSummary, formatTokens, plural } from "../../format.js";
import { cleanLine, styled, wrapLines } from "../clean-text.js";
import { transcriptKey } from "../transcript-hint.js";
import { StaticView } from "./view.js";

/** A message that replaces entries in the context. */
export interface ContextSummary {
	/** The text that the model reads. */
	text: string;
	/** `compaction`, `freeze`, or the name of the hook that created it. */
	by: string;
	/** Number of messages it replaces; 0 when unknown. */
	messages: number;
	tokensBefore: number;
	tokens: number;
}

/** Lines of a collapsed summary. */
const MAX_LINES = 6;

/** A summary: its text, then the number of replaced messages and the saved tokens. */
export class SummaryView extends StaticView<ContextSummary> {
	protected override draw(width: number): string[] {
		const { theme, expanded } = this.style;
		const { text, by, messages, tokensBefore, tokens } = this.data;
		const lines = drawMarkdown(stripAll(bareSummary(text)), width, theme);
		const shown = expanded || lines.length <= MAX_LINES + 1 ? lines : lines.slice(0, MAX_LINES);
		const facts = [
			messages > 0 ? `replaces ${plural(messages, "message")}` : "",
			tokensBefore > 0 && messages > 0 ? `${formatTokens(tokensBefore)} → ${formatTokens(tokens)} tokens` : "",
			messages > 0 ? "" : `${formatTokens(tokens)} tokens`,
			cleanLine(by, 40),
			shown.length < lines.length
				? [plural(lines.length - shown.length, "more line"), transcriptKey(this.style)].filter(Boolean).join(": ")
				: "",
		];
		return [...shown, ...styled(wrapLines([facts.filter(Boolean).join(" · ")], width), theme.dim)];
	}
}

/** One row for a run of entries that are not in the context. */
export class HiddenRunView extends StaticView<Pick<ContextSummary, "messages" | "tokens" | "by">> {
	protected override draw(width: number): string[] {
		const { messages, tokens, by } = this.data;
		const text = `… ${plural(messages, "message")}, ${formatTokens(tokens)} tokens, hidden by ${cleanLine(by, 40)}`;
		return wrapLines([text], width);
	}
}
