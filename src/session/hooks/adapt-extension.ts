import type { HookFile } from "../../hooks/discover.js";
import type { HookFactory } from "../../hooks/types.js";

/** Makes a hook of an extension. Loads the adapter on its first use: most sessions have no extension. */
export async function adaptExtension({ name }: HookFile, exported: unknown): Promise<HookFactory> {
	const { createAdapter } = await import("../../extensions/adapter.js");
	return createAdapter(name, exported);
}
