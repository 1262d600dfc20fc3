import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { systemReason } from "../errors.js";
import { draftPath, keepDraft, newDraftPath, takeDraft } from "../log/drafts.js";
import type { AgentSession } from "../sdk/agent-session.js";

type DraftOwner = Pick<AgentSession, "sessionFile" | "sessionArgument" | "isReadOnly">;

/**
 * Keeps what the user typed and the session did not send, for the editor when the session is opened again; for a session without
 * a file, when the next one starts in its directory. A session in memory keeps nothing.
 * @param texts in the order in which they return
 * @returns a line for the user; null if nothing was kept. Not safe for a terminal
 */
export function keepUnsent(session: DraftOwner, texts: readonly string[]): string | null {
	const { sessionFile } = session;
	// The images end with the session, so their markers could refer to other images.
	const text = texts
		.filter((part) => part.trim() !== "")
		.join("\n\n")
		.replace(/\[image #\d+\]/g, "[image]");
	if (sessionFile === null || text === "") return null;
	const hasFile = hasOwnDraft(session, sessionFile);
	try {
		keepDraft(hasFile ? draftPath(sessionFile) : newDraftPath(dirname(sessionFile)), text);
	} catch (error) {
		return `What was not sent could not be kept: ${systemReason(error)}`;
	}
	return `What was not sent is in the editor ${hasFile ? "when you resume this session" : "when you start pi here again"}`;
}

/**
 * Removes the text that was kept for a session that is opened.
 * @param isStart whether pi starts with it, and also shows what was typed before the first prompt of a session
 * @returns empty if nothing was kept
 */
export function takeUnsent(session: DraftOwner, isStart: boolean): string {
	const { sessionFile } = session;
	if (sessionFile === null) return "";
	const isNew = sessionFile !== session.sessionArgument;
	const kept = [
		session.isReadOnly ? "" : takeDraft(draftPath(sessionFile)),
		isStart && isNew ? takeDraft(newDraftPath(dirname(sessionFile))) : "",
	];
	return kept.filter((text) => text !== "").join("\n\n");
}

/** False for a session that another pi may write, and for one that would have another path the next time. */
function hasOwnDraft({ sessionArgument, isReadOnly }: DraftOwner, sessionFile: string): boolean {
	return !isReadOnly && (existsSync(sessionFile) || sessionArgument === sessionFile);
}
