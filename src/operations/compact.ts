import type { CompactionTokens } from "../commands/compaction-request.js";
import { PiError } from "../errors.js";
import { holdClocks } from "../hooks/hook-call.js";
import { isCompactionEntry } from "../log/entry.js";
import type { SessionComponents } from "../session/session-components.js";
import { isRecord } from "../util/is-record.js";
import { NO_INPUT, TEXT } from "./input.js";
import { operation } from "./operation.js";

/** Replaces earlier messages with a summary. @throws PiError `compaction_failed`, `session_busy`, `model_missing` */
export const compact = operation({
	request: "compact",
	run: (session: SessionComponents, focus?: string, signal?: AbortSignal): Promise<CompactionTokens> =>
		session.compaction.run({ focus, ...(signal ? { signal } : {}) }),
	ctx: {
		member: "compact",
		callers: "all",
		returns: "promise",
		async call(run, { activity, runner }, call, options) {
			const focus = readFocus(options);
			// It may ask a model, and wait for the end of a turn.
			const release = holdClocks(call);
			try {
				const done = activity.has("run") ? runner.compact(focus, call) : run(focus, call.signal);
				const { tokensBefore, tokensAfter } = await done;
				return { tokensBefore, tokensAfter };
			} finally {
				release();
			}
		},
	},
	rpc: {
		command: "compact",
		concurrency: "conversation",
		input: { ...NO_INPUT, properties: { customInstructions: TEXT } },
		async answer(run, { customInstructions }, { session }) {
			const tokens = await run(customInstructions);
			const entry = session.state.log.entries.findLast(isCompactionEntry);
			return { summary: entry?.summary ?? "", ...tokens };
		},
	},
});

function readFocus(options: unknown): string | undefined {
	if (options === undefined) return undefined;
	const focus = isRecord(options) ? options.focus : null;
	if (focus === undefined || typeof focus === "string") return focus;
	throw new PiError("bad_arguments", "ctx.compact expects { focus } with a text");
}
