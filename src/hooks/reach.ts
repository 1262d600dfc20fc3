import { EVENTS, type HookNeed, SESSION_REASONS } from "./events.js";
import type { LoadedHook } from "./hook-registry.js";
import type { HookEventName, SessionReason } from "./types.js";

/** Which needs of hooks the current mode and session meet. */
export type HookReach = Readonly<Record<HookNeed, boolean>>;

/** Needs of registrations other than event handlers. */
const REGISTRATIONS = { complete: "screen", render: "screen", shortcut: "screen" } as const satisfies Record<
	string,
	HookNeed
>;

const MISSING: Readonly<Record<HookNeed, string>> = {
	tools: "the model has no tools",
	sessions: "no other session can be opened",
	screen: "there is no screen",
	user: "nobody can run a shell command",
};

/** A registration that is never called in the current mode and session. */
export interface Unreachable {
	/** An event, `session` with a reason, a shortcut, a tool, or a callback of a command or entry type. */
	what: string;
	why: string;
}

/** The registrations of a hook that can never be called in this mode and session. */
export function unreachable(hook: LoadedHook, reach: HookReach): Unreachable[] {
	const found: Unreachable[] = [];
	const check = (what: string, need: HookNeed | null) => {
		if (need !== null && !reach[need]) found.push({ what, why: MISSING[need] });
	};
	for (const event of Object.keys(hook.handlers) as HookEventName[]) check(event, EVENTS[event].needs);
	if (hook.handlers.session) {
		for (const reason of Object.keys(SESSION_REASONS) as SessionReason[]) {
			check(`session ${reason}`, SESSION_REASONS[reason].needs);
		}
	}
	for (const name of hook.tools.keys()) check(`tool ${name}`, "tools");
	for (const [name, { complete }] of hook.commands)
		if (complete) check(`completion of /${name}`, REGISTRATIONS.complete);
	for (const [type, { render }] of hook.entryTypes) if (render) check(`rendering of ${type}`, REGISTRATIONS.render);
	for (const { key } of hook.shortcuts) check(`shortcut ${key}`, REGISTRATIONS.shortcut);
	return found;
}
