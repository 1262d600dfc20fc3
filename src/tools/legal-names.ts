/** Tool names that providers accept. */
export const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** The nearest name that providers accept; a name that they accept is returned unchanged. */
export function legalToolName(name: string): string {
	if (TOOL_NAME.test(name)) return name;
	return name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "unnamed";
}

/**
 * The part of a call id that must be unique in a request, without characters that no provider accepts. Some providers use
 * `.` or `:` in ids and expect them back. An id of OpenAI's Responses API is `call|item`; `call` must be unique.
 */
export function callIdPart(id: string): string {
	return legalId(id).split("|", 1)[0]?.slice(0, 64) || "call";
}

/** The nearest call id that providers accept and whose part is not in `used`; adds its part to `used`. */
export function uniqueCallId(id: string, used: Set<string>): string {
	const base = callIdPart(id);
	let unique = base;
	for (let n = 2; used.has(unique); n++) unique = `${base.slice(0, 58)}_${n}`;
	used.add(unique);
	return [unique, ...legalId(id).split("|").slice(1)].join("|");
}

function legalId(id: string): string {
	return id.replace(/[^\x21-\x7e]/g, "_");
}
