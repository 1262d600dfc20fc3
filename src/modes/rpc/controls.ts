import type { Api, Model } from "@mariozechner/pi-ai";
import type { AppMessage } from "../../log/entry.js";

/** What clients may look at and change besides what every mode does. The session has it. */
export interface SessionControls {
	/** The messages that the model sees next. */
	readonly messages: readonly AppMessage[];
	/** Whether waiting prompts are delivered one in each turn or all at once; for this session, nothing is saved. */
	queueMode: "one-at-a-time" | "all";
	/** Whether failed requests are sent again; for this session, nothing is saved. */
	autoRetry: boolean;
	/** Models for which a key is known, those of servers on this machine among them. */
	availableModels(): Promise<Model<Api>[]>;
	/** Stops the user's shell command; nothing happens when none runs. */
	abortBash(): void;
	/** Resolves when no run is on: some time after `agent_end`, for a run is over when all of it is on the disk. */
	idle(): Promise<void>;
}
