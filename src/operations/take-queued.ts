import type { SessionComponents } from "../session/session-components.js";
import { operation } from "./operation.js";

/** Removes the queued prompt that would be sent last, for the editor. @returns null if none is queued */
export const takeQueued = operation({
	request: null,
	run: (session: SessionComponents): { text: string; isFollowUp: boolean } | null => session.runner.queue.takeLast(),
});
