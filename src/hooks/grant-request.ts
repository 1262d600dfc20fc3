import type { HookFile } from "./discover.js";
import type { HostHandleName } from "./handles.js";

/** A hook that cannot do without a handle which nobody has granted it yet. */
export interface GrantRequest {
	file: HookFile;
	handle: HostHandleName;
}

/** What the user says to it: kept in the settings, for this run, or the hook is not loaded. */
export type GrantAnswer = "grant" | "once" | "no";
