/** Tool names that providers accept. */
export const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** The nearest name that providers accept; a name that they accept is returned unchanged. */
export function legalToolName(name: string): string {
	if (TOOL_NAME.test(name)) return name;
	return name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "unnamed";
}
