import type { Api, Model } from "@mariozechner/pi-ai";
import type { ThinkingLevel } from "../../log/entry.js";

/** The session uses another model. Also runs after a switch to a session that used another one. */
export interface ModelChangedEvent {
	type: "model_changed";
	readonly model: Model<Api> | null;
	readonly previousModel: Model<Api> | null;
}

/** The session uses another thinking level. */
export interface ThinkingLevelChangedEvent {
	type: "thinking_level_changed";
	readonly level: ThinkingLevel;
	readonly previousLevel: ThinkingLevel;
}

/** The session has a name, or another one. */
export interface SessionNamedEvent {
	type: "session_named";
	readonly name: string;
}

/** A run is over and no prompt is queued. pi waits for the handlers before it starts the next run. */
export interface AgentSettledEvent {
	type: "agent_settled";
}

/** A provider has answered a request with headers; the reply follows. Runs for each attempt, failed ones included. */
export interface ResponseEvent {
	type: "response";
	/** HTTP status. */
	readonly status: number;
	/** By lower-case name, without cookies and credentials. */
	readonly headers: Readonly<Record<string, string>>;
}
