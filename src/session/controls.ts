import type { Api, Model } from "@mariozechner/pi-ai";
import type { AppMessage } from "../log/entry.js";
import type { SessionActivity } from "./activity.js";
import type { QueueMode } from "./prompt-queue.js";
import type { SessionContext } from "./session-context.js";
import type { SessionSetup } from "./session-setup.js";

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
}

/** What the controls act on. */
export interface ControlledParts {
	setup: SessionSetup;
	context: SessionContext;
	activity: SessionActivity;
}

export function createControls({ setup, context, activity }: ControlledParts): SessionControls {
	const { settings } = setup;
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
		availableModels: () => setup.models.available(),
		abortBash: () => activity.abort("shell"),
	};
}
