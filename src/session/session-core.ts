import type { BuiltContext } from "../context/context-message.js";
import type { HookRunner } from "../hooks/runner.js";
import type { SessionEntry } from "../log/entry.js";
import type { SessionServices } from "../services/service-types.js";
import type { SessionActivity } from "./activity.js";
import type { AgentSessionEvent } from "./events.js";
import type { PastRequest, SessionContext } from "./session-context.js";
import type { SessionState } from "./session-state.js";

/** The components and functions that most parts of a session work with. */
export interface SessionCore extends SessionServices {
	activity: SessionActivity;
	state: SessionState;
	context: SessionContext;
	/** The runner of the hooks loaded now. */
	hooks(): HookRunner;
	/**
	 * Computes a context apart from the session's own: records no figures and reports nothing.
	 * @param past the request is one that was sent, computed with this. Absent: a trial with what the next one is computed with,
	 * see `ContextEvent.trial`
	 */
	tryContext(entries: readonly SessionEntry[], signal: AbortSignal, past?: PastRequest): Promise<BuiltContext>;
	emit(event: AgentSessionEvent): void;
	/** Aborted when the session ends. */
	ended: AbortSignal;
}
