/** Maximum nesting of an entry; deeper JSON would overflow the stack of functions that walk it. */
export const MAX_ENTRY_DEPTH = 500;

/**
 * Freezes plain data and everything in it, in place, and returns it.
 * @throws RangeError if it is cyclic or nested deeper than `MAX_ENTRY_DEPTH`
 */
export function freezeDeep<T>(value: T): T {
	freezeLevel(value, 1);
	return value;
}

function freezeLevel(value: unknown, depth: number): void {
	if (typeof value !== "object" || value === null) return;
	if (depth > MAX_ENTRY_DEPTH) throw new RangeError(`nested deeper than ${MAX_ENTRY_DEPTH} levels`);
	Object.freeze(value);
	if (Array.isArray(value)) {
		for (const item of value) freezeLevel(item, depth + 1);
		return;
	}
	for (const item of Object.values(value)) freezeLevel(item, depth + 1);
}
