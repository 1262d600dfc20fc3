import type { SessionComponents } from "../session/session-components.js";
import { operation } from "./operation.js";

/**
 * Replaces everything before the last reply with the context of its request.
 * @throws PiError `command_failed` when the log does not record that context
 */
export const freezeContext = operation({
	request: null,
	run: (session: SessionComponents): Promise<void> => session.lifecycle.freezeContext(),
});
