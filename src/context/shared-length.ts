import type { ContextMessage } from "./context-message.js";

type List = readonly ContextMessage[];

/** Lists that are another one with something added at the end. Weak: a list must not keep all before it alive. */
const extended = new WeakMap<List, WeakRef<List>>();

/** How many messages two lists begin with alike, by identity: messages of a context never change. */
export function sharedLength(a: List, b: List): number {
	if (a === b || extended.get(b)?.deref() === a) return a.length;
	const end = Math.min(a.length, b.length);
	let length = 0;
	while (length < end && (a[length] === b[length] || a[length]?.message === b[length]?.message)) length++;
	return length;
}

/** Notes that a frozen list begins with all of another frozen one, so that `sharedLength` need not look. */
export function noteExtension(base: List, list: List): void {
	if (base !== list && base.length > 0) extended.set(list, new WeakRef(base));
}
