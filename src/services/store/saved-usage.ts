import { sessionDirs } from "../../log/catalog.js";
import type { UsageIndex } from "../../usage/usage-index.js";
import type { Store } from "../service-types.js";

/** Opens the index of the usage of all saved sessions. It has read no session file yet. */
export async function openSavedUsage({
	usageIndex,
	sessionsRoot,
	sessionDir,
}: Pick<Store, "usageIndex" | "sessionsRoot" | "sessionDir">): Promise<UsageIndex> {
	const { UsageIndex } = await import("../../usage/usage-index.js");
	const own = sessionDir === null ? [] : [sessionDir];
	return new UsageIndex(usageIndex, () => [...new Set([...sessionDirs(sessionsRoot), ...own])]);
}
