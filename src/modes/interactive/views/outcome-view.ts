import type { AssistantMessage } from "@mariozechner/pi-ai";
import { cleanLine, clipLine, styled, wrapLines } from "../lines.js";
import { type Look, View } from "./view.js";

/** How a reply ended when it did not end well: an error with what to do next, a stop, a cut. */
export class OutcomeView extends View {
	#retried = false;

	constructor(
		look: Look,
		private readonly message: AssistantMessage,
	) {
		super(look);
	}

	/** The request was sent again: one quiet line is enough. */
	retried(): void {
		this.#retried = true;
		this.changed();
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
		const text = cleanLine(errorMessage ?? "the request failed", 1000) || "the request failed";
		if (this.#retried) return [theme.dim(clipLine(`✗ ${text} · sent again`, width))];
		const room = Math.max(1, width - 2);
		const said = wrapLines([text], room).map((line, row) => (row === 0 ? `✗ ${line}` : `  ${line}`));
		const next = wrapLines([nextStep(text)], room).map((line) => `  ${line}`);
		return [...styled(said, theme.error), ...styled(next, theme.dim)].map((line) => clipLine(line, width));
	}
}

/** True for a reply whose end needs a word. */
export function endedBadly(message: AssistantMessage): boolean {
	return message.stopReason === "error" || message.stopReason === "aborted" || message.stopReason === "length";
}

const NEXT_STEPS: readonly [RegExp, string][] = [
	[/^40[13]\b|api key|unauthori[sz]ed|authentication|permission/i, "/login sets the key · /model picks another model"],
	[/context|too long|too large|maximum.*tokens|^413\b/i, "/compact makes room · /new starts over"],
	[/^429\b|rate limit|quota|billing|credit/i, "wait and send again · /model picks another model"],
	[/^404\b|not found|unknown model/i, "/model picks another model"],
	[/^5\d\d\b|overloaded|unavailable/i, "the provider has trouble: send again in a while · /model picks another model"],
	[
		/connect|network|fetch|timed? ?out|terminated|ECONN|ENOTFOUND|ended before/i,
		"check the connection, then send again",
	],
];

function nextStep(text: string): string {
	return NEXT_STEPS.find(([pattern]) => pattern.test(text))?.[1] ?? "send again to retry · /model picks another model";
}
