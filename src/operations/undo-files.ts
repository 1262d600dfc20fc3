import { PiError } from "../errors.js";
import { holdClocks } from "../hooks/hook-call.js";
import { type EntryRange, isIndex, type UndoneFiles } from "../log/entry.js";
import type { AskToRestore } from "../session/files/restore-files.js";
import type { SessionComponents } from "../session/session-components.js";
import { isRecord } from "../util/is-record.js";
import { NO_INPUT } from "./input.js";
import { operation } from "./operation.js";

const RESTORE = "Restore it anyway";
const LEAVE = "Leave it";

/**
 * Restores the files that tool calls changed. The user is asked about each file that something else changed since.
 * @param range entries whose changes are restored. Default: those of the last prompt whose changes were not restored
 * @returns null if nothing is left to restore
 * @throws PiError `session_busy`, `log_read_only`
 */
export const undoFiles = operation({
	request: "undo",
	run: (session: SessionComponents, range?: EntryRange): Promise<UndoneFiles | null> =>
		session.files.undo(range, askUser(session)),
	ctx: {
		member: "undo",
		callers: "commands",
		returns: "promise",
		async call(run, _, call, range) {
			checkRange(range);
			// It may wait for the user.
			const release = holdClocks(call);
			try {
				return await run(range);
			} finally {
				release();
			}
		},
	},
	rpc: {
		command: "undo",
		concurrency: "conversation",
		input: NO_INPUT,
		answer: (run) => run(),
	},
});

/** null if nobody can answer. Escape cancels the undo. */
function askUser({ surface, activity, ended }: SessionComponents): AskToRestore | null {
	if (!surface.hasUI) return null;
	return async (path, diff) => {
		const signal = activity.signal ?? ended.signal;
		const lines = diff.length > 0 ? diff : ["(its content cannot be shown as text)"];
		const title = [`${path} changed since. Undoing would change it so:`, ...lines].join("\n");
		const chosen = await surface.ui.select(title, [LEAVE, RESTORE], { signal });
		return chosen === null ? null : chosen === RESTORE;
	};
}

function checkRange(range: unknown): void {
	if (range === undefined || (isRecord(range) && isIndex(range.from) && isIndex(range.to))) return;
	throw new PiError("bad_arguments", "ctx.undo expects { from, to } with indices of entries");
}
