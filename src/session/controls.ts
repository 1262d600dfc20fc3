import type { Api, Model } from "@mariozechner/pi-ai";
import type { AppMessage } from "../log/entry.js";
import type { QueueMode } from "./prompt-queue.js";
import type { SessionContext } from "./session-context.js";
import type { SessionParts } from "./session-parts.js";
import type { SessionRunner } from "./session-run.js";
import type { UserShell } from "./user-bash.js";

/** What programs that drive a session may look at and change besides what every mode does. */
export interface SessionControls {
	/** The messages that the model sees next. */
	readonly messages: readonly AppMessage[];
	/** Whether waiting prompts are delivered one in each turn or all at once; for this session, nothing is saved. */
	queueMode: QueueMode;
	/** Whether failed requests are sent again; for this session, nothing is saved. */
	autoRetry: boolean;
	/** Models for which a key is known, those of servers on this machine among them. */
	availableModels(): Promise<Model<Api>[]>;
	/** Stops the user's shell command; nothing happens when none runs. */
	abortBash(): void;
	/** Resolves when no run is on: some time after `agent_end`, for a run is over when all of it is on the disk. */
	idle(): Promise<void>;
}

/** What the controls act on. */
export interface ControlledParts {
	parts: SessionParts;
	context: SessionContext;
	runner: SessionRunner;
	userShell: UserShell;
}

export function createControls({ parts, context, runner, userShell }: ControlledParts): SessionControls {
	const { settings } = parts;
	return {
		get messages() {
			return context.messages;
		},
		get queueMode() {
			return settings.current.queueMode;
		},
		set queueMode(mode) {
			settings.override("queueMode", mode);
		},
		get autoRetry() {
			return settings.current.retry.enabled;
		},
		set autoRetry(enabled) {
			settings.override("retry.enabled", enabled);
		},
		availableModels: () => parts.models.available(),
		abortBash: () => userShell.abort(),
		idle: () => runner.idle(),
	};
}
