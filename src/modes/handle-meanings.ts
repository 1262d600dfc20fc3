import type { HostHandleName } from "../hooks/handles.js";

/** What each handle lets a hook do, for a person who is to grant it. */
export const HANDLE_MEANINGS: Readonly<Record<HostHandleName, string>> = {
	systemItems: "with it the hook adds notes that the model reads. Each stands in the transcript, so you read it too.",
};
