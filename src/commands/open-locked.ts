import type { SessionUI } from "../hooks/session-ui.js";

/** How a saved session is opened: for writing, as a new session with its entries, or for reading. */
export type OpenAs = "original" | "copy" | "readOnly";

/** Asks how to open a session that another pi has open. @returns null if the user declines */
export function askHowToOpen(ui: Pick<SessionUI, "select">): Promise<Exclude<OpenAs, "original"> | null> {
	return ui.select("Another pi has that session open", [
		{ label: "Continue in a copy", value: "copy", description: "with all its entries" },
		{ label: "Read it", value: "readOnly", description: "nothing can be sent" },
	]);
}
