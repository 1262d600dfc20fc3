/**
 * Compacts after a commit: what led to it is done, and a summary is enough from there on. When the model has committed and the
 * context fills more than half of the model's window, it is compacted at the end of the turn, before the next request.
 * `pi --commit-compact 30` chooses another share in percent. `/uncompact` restores the messages.
 */
import { type HookAPI, isBashToolResult } from "@mariozechner/pi-coding-agent/hooks";

const COMMIT = /\bgit\b[^|;&\n]*\scommit\b/;

export default function commitCompact(pi: HookAPI): void {
	pi.flag("commit-compact", {
		description: "Compact after a commit when the context fills more than this share of the window, in percent",
		type: "string",
		default: "50",
	});

	let hasCommitted = false;

	pi.on("tool_result", (event) => {
		if (isBashToolResult(event) && !event.isError && COMMIT.test(String(event.input.command))) hasCommitted = true;
	});

	// While a tool or its handlers run, the context cannot be compacted: its result would be missing.
	pi.on("turn_end", async (_, ctx) => {
		if (!hasCommitted) return;
		hasCommitted = false;
		const { percent } = ctx.usage;
		if (percent === null || percent <= Number(ctx.flags["commit-compact"])) return;
		// The session reports why a compaction failed.
		await ctx.compact({ focus: "what remains to be done after the commit" }).catch(() => {});
	});
}
