import type { ToolHostSpec } from "./types.js";

/** @returns null for a text that names no host */
export function readHostSpec(text: string): ToolHostSpec | null {
	const parsed = /^([a-z][a-z0-9-]*)(?::(.*))?$/is.exec(text);
	return parsed ? { scheme: (parsed[1] ?? "").toLowerCase(), rest: parsed[2] ?? "", text } : null;
}
