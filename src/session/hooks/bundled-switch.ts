import { BUNDLED_HOOKS } from "../../hooks/bundled.js";
import { bundledPath, preferredHook } from "../../hooks/bundled-words.js";
import { hookFileName } from "../../hooks/hook-name.js";
import type { LoadedHook } from "../../hooks/hook-registry.js";
import type { Code, Store } from "../../services/service-types.js";
import type { SessionHooks } from "./session-hooks.js";

/** The name of the bundled hook that owns entries of a type and is off; undefined if none is, or the user wants no hooks. */
export function turnedOffHook(
	type: string,
	{ replaced, failures }: Pick<SessionHooks, "replaced" | "failures">,
	{ bundledHooks }: Pick<Code, "bundledHooks">,
): string | undefined {
	const owners = BUNDLED_HOOKS.filter(({ entryTypes = [] }) => entryTypes.includes(type));
	const hook = bundledHooks ? preferredHook(owners, type) : undefined;
	const path = hook && bundledPath(hook.name);
	if (path === undefined || replaced.has(path) || failures.some((failure) => failure.path === path)) return undefined;
	return hook?.name;
}

/** Explains a command that only a hook provides which does not run; null when no such hook provides it. */
export function describeInactive(
	command: string,
	hooks: Pick<SessionHooks, "loaded" | "isEnabled" | "replaced" | "failures">,
	{ code, store }: { code: Pick<Code, "bundledHooks">; store: Pick<Store, "settings"> },
): { message: string; hint: string } | null {
	const { loaded, replaced, failures } = hooks;
	const isOff = (hook: LoadedHook) => hook.scope !== "bundled" && !hooks.isEnabled(hook);
	const off = loaded.find((hook) => hook.commands.has(command) && isOff(hook));
	if (off) {
		const message = `Unknown command /${command}: the hook ${hookFileName(off.path)}, which provides it, is off`;
		return { message, hint: "turn it on in /hooks" };
	}
	const hook = preferredHook(
		BUNDLED_HOOKS.filter(({ commands }) => commands.includes(command)),
		command,
	);
	if (!hook) return null;
	const path = bundledPath(hook.name);
	const by = replaced.get(path);
	const unknown = `Unknown command /${command}`;
	if (by) {
		const message = `${unknown}: ${by.path} replaces the bundled hook ${hook.name}, which provides it`;
		return { message, hint: "a hook with a command of a bundled hook replaces all of it" };
	}
	if (failures.some((failure) => failure.path === path)) {
		return {
			message: `${unknown}: the bundled hook ${hook.name}, which provides it, did not load`,
			hint: "see /hooks",
		};
	}
	const message = `${unknown}: the bundled hook ${hook.name}, which provides it, is off`;
	if (!code.bundledHooks) return { message, hint: `start pi without --no-hooks, or with --hook ${path}` };
	const setting = store.settings.current.hooks.includes(`-${path}`)
		? `remove "-${path}" from "hooks" in settings.json`
		: `add "${path}" to "hooks" in settings.json`;
	return { message, hint: `turn it on in /hooks, or ${setting}` };
}
