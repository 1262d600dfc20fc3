/**
 * Lets Claude clear old tool results itself, on Anthropic's side (`clear_tool_uses`): pi sends the complete conversation, and the
 * provider leaves out results before the model reads it. Nothing changes in the session, and no other model notices.
 *
 * `clear` does this in pi, for every model, and only when it pays. Here the provider decides, with the limits below; what it clears
 * makes it process the rest again, so it clears many results at once.
 */
import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";

/** Input tokens from which results are cleared, and the fewest that it must free. */
const [TRIGGER, CLEAR_AT_LEAST] = [100_000, 30_000];
/** The last calls keep their results. */
const KEEP_CALLS = 10;

export default function serverClear(pi: HookAPI): void {
	pi.on("context", () => ({
		provider: {
			"anthropic-messages": {
				betas: ["context-management-2025-06-27"],
				context_management: {
					edits: [
						{
							type: "clear_tool_uses_20250919",
							trigger: { type: "input_tokens", value: TRIGGER },
							keep: { type: "tool_uses", value: KEEP_CALLS },
							clear_at_least: { type: "input_tokens", value: CLEAR_AT_LEAST },
						},
					],
				},
			},
		},
	}));
}
