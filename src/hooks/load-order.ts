import { BUNDLED_HOOKS } from "./bundled.js";
import type { LoadedHook } from "./hook-registry.js";

/** Inserts the kept hooks among the fresh ones, in their old order. */
export function inOrder(fresh: LoadedHook[], kept: LoadedHook[], old: readonly LoadedHook[]): LoadedHook[] {
	const order = [...fresh];
	for (const hook of kept) {
		const before = old.slice(0, old.indexOf(hook)).map(({ path }) => path);
		const at = order.findLastIndex(({ path }) => before.includes(path)) + 1;
		order.splice(at, 0, hook);
	}
	return order;
}

/** Bundled hooks run before the user's, in their own order. The sort is stable, so all others stay in place. */
export function byBundledOrder(a: LoadedHook, b: LoadedHook): number {
	return bundledIndex(a) - bundledIndex(b);
}

function bundledIndex({ scope, name }: LoadedHook): number {
	if (scope === "builtin") return -1;
	return scope === "bundled" ? BUNDLED_HOOKS.findIndex((hook) => hook.name === name) : BUNDLED_HOOKS.length;
}
