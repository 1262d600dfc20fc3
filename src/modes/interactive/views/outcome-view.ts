import type { AssistantMessage } from "@mariozechner/pi-ai";
import { isEmptyReply } from "../../../log/entry.js";
import { nextStep, readableError } from "../../request-error.js";
import { clipLine, styled, wrapLines } from "../lines.js";
import { type Look, View } from "./view.js";

/** How a reply ended when it did not end well: an error with what to do next, a stop, a cut, or without a word. */
export class OutcomeView extends View {
	/** @param retried the request was sent again: one quiet line is enough */
	constructor(
		look: Look,
		private readonly message: Pick<AssistantMessage, "stopReason" | "errorMessage">,
		private readonly retried = false,
	) {
		super(look);
	}

	protected override draw(width: number): string[] {
		const { theme } = this.look;
		const { stopReason, errorMessage } = this.message;
		if (stopReason === "aborted") return [theme.dim(clipLine("stopped", width))];
		if (stopReason === "length") {
			return styled(
				wrapLines(["cut: the reply reached the model's output limit · say “go on” for the rest"], width),
				theme.warning,
			);
		}
		if (stopReason === "stop") return [theme.dim(clipLine("the model said nothing", width))];
		const text = readableError(errorMessage);
		if (this.retried) return [theme.dim(clipLine(`✗ ${text} · sent again`, width))];
		const room = Math.max(1, width - 2);
		const said = wrapLines([text], room).map((line, row) => (row === 0 ? `✗ ${line}` : `  ${line}`));
		const next = wrapLines([nextStep(text)], room).map((line) => `  ${line}`);
		return [...styled(said, theme.error), ...styled(next, theme.dim)].map((line) => clipLine(line, width));
	}
}

/** True for a reply whose end needs a word. */
export function endedBadly(message: AssistantMessage): boolean {
	return ["error", "aborted", "length"].includes(message.stopReason) || isEmptyReply(message);
}
