import type { AssistantMessage } from "@mariozechner/pi-ai";
import { hasToolCalls } from "../../../log/entry.js";
import { clipLine } from "../../../tui/line.js";
import type { FAILURE_WORDS } from "../../request-error.js";
import { styled, wrapLines } from "../clean-text.js";
import { View, type ViewStyle } from "./view.js";

export type FailureWords = typeof FAILURE_WORDS;

/** How an incomplete reply ended: an error with the next step, stopped, truncated, or empty. */
export class ReplyEndView extends View {
	/** @param retried the request was retried: show one dim line */
	constructor(
		style: ViewStyle,
		private readonly message: Pick<AssistantMessage, "content" | "stopReason" | "errorMessage">,
		private readonly words: FailureWords,
		private readonly retried = false,
	) {
		super(style);
	}

	protected override draw(width: number): string[] {
		const { theme } = this.style;
		const { describeFailure, nextStep, stoppedText } = this.words;
		const { stopReason, errorMessage } = this.message;
		if (stopReason === "aborted") return styled(wrapLines([stoppedText(errorMessage)], width), theme.dim);
		if (stopReason === "length") {
			const next = hasToolCalls(this.message) ? "" : " · send “continue” for the rest";
			const truncated = `truncated: the reply reached the model's output limit${next}`;
			return styled(wrapLines([truncated], width), theme.warning);
		}
		if (stopReason === "stop") return [theme.dim(clipLine("the model returned an empty reply", width))];
		const text = describeFailure(errorMessage);
		if (this.retried) return [theme.dim(clipLine(`✗ ${text} · retried`, width))];
		const room = Math.max(1, width - 2);
		const problem = wrapLines([text], room).map((line, row) => (row === 0 ? `✗ ${line}` : `  ${line}`));
		const next = wrapLines([nextStep(text)], room).map((line) => `  ${line}`);
		return [...styled(problem, theme.error), ...styled(next, theme.dim)].map((line) => clipLine(line, width));
	}
}
