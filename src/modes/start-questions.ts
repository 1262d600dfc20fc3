import type { ProjectSet } from "../config/trust.js";
import type { GrantAnswer, GrantRequest, HostHandleName } from "../hooks/handles.js";
import type { HookUI } from "../hooks/types.js";
import type { TrustAnswer } from "../session/project-code.js";

/** What the start of a session may ask a person, and what it must know of the terminal for that. */
export interface StartQuestions {
	ui: HookUI;
	/** Shows the project's code and asks whether it may run. */
	askTrust(set: ProjectSet): Promise<TrustAnswer>;
	/** Asks whether a hook gets what it requires. */
	askGrant(request: GrantRequest): Promise<GrantAnswer>;
	/** Gives the terminal back, written by whoever ends the program in the place of the mode. */
	lastBytes: string;
}

/** What each handle lets a hook do, for a person who is to grant it. */
export const HANDLE_MEANINGS: Readonly<Record<HostHandleName, string>> = {
	systemItems: "with it the hook adds notes that the model reads. Each stands in the transcript, so you read it too.",
};
