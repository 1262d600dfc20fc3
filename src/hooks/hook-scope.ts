/** True for a hook that is part of pi: a built-in feature such as the task list, or a bundled hook. */
export function isPartOfPi({ scope }: { scope: string }): boolean {
	return scope === "builtin" || scope === "bundled";
}
