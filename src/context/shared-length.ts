import type { ContextMessage } from "./context-message.js";

type List = readonly ContextMessage[];

/** Maps a list to the one it extends. Weak: a list must not keep earlier ones alive. */
const extended = new WeakMap<List, WeakRef<List>>();

/** Number of messages that two lists share at their start, by identity: context messages never change. */
export function sharedLength(a: List, b: List): number {
	if (a === b || extended.get(b)?.deref() === a) return a.length;
	const end = Math.min(a.length, b.length);
	let length = 0;
	while (length < end && (a[length] === b[length] || a[length]?.message === b[length]?.message)) length++;
	return length;
}

/** Records that a frozen list starts with another frozen one, so that `sharedLength` need not compare them. */
export function noteExtension(base: List, list: List): void {
	if (base !== list && base.length > 0) extended.set(list, new WeakRef(base));
}
