import type { RunOutcome } from "../agent/loop.js";

/** What became of a prompt. */
export type PromptOutcome =
	| { kind: "run"; outcome: RunOutcome }
	/** The agent was running: the prompt waits. */
	| { kind: "queued" }
	| { kind: "command"; status: string | null };

/** What is loaded, for the header. */
export interface LoadedSummary {
	hooks: { path: string; name: string; scope: string }[];
	skills: string[];
	templates: string[];
	contextFiles: string[];
	/** What went wrong while loading, one line each. */
	warnings: string[];
}
