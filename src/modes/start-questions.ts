import type { GrantAnswer, GrantRequest, HostHandleName } from "../hooks/handles.js";
import type { SessionUI } from "../hooks/session-ui.js";
import type { TrustAnswer } from "../trust/gate.js";
import type { ProjectSet } from "../trust/store.js";

/** User interaction during the start of a session. */
export interface StartQuestions {
	ui: SessionUI;
	/** Asks whether the project's code may run, and shows it. */
	askTrust(set: ProjectSet): Promise<TrustAnswer>;
	/** Asks whether to grant a hook the handle it requires. */
	askGrant(request: GrantRequest): Promise<GrantAnswer>;
	/** Control sequences that restore the terminal, for code that exits the program without the mode. */
	lastBytes: string;
}

/** Explains to the user what each handle allows. */
export const HANDLE_MEANINGS: Readonly<Record<HostHandleName, string>> = {
	systemItems: "it lets the hook add notes for the model. Each note is also shown in the transcript.",
};
