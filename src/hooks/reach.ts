import { EVENTS, type HookNeed, SESSION_REASONS } from "./events.js";
import type { LoadedHook } from "./registry.js";
import type { HookEventName, SessionReason } from "./types.js";

/** What there is for hooks in the present mode and session. */
export type HookReach = Readonly<Record<HookNeed, boolean>>;

/** What else a hook registers, and what that needs. */
const REGISTRATIONS = { complete: "screen", render: "screen" } as const satisfies Record<string, HookNeed>;

const MISSING: Readonly<Record<HookNeed, string>> = {
	tools: "the model has no tools",
	sessions: "no other session can be opened",
	screen: "there is no screen",
};

/** Something that a hook has registered and that is never called as things are. */
export interface Unreachable {
	/** An event, `session` with a reason, or what is asked of a command or an entry type. */
	what: string;
	why: string;
}

/** What of a hook can never be called as things are; empty when all of it can. */
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
	for (const [name, { complete }] of hook.commands)
		if (complete) check(`suggestions of /${name}`, REGISTRATIONS.complete);
	for (const [type, { render }] of hook.entryTypes) if (render) check(`the drawing of ${type}`, REGISTRATIONS.render);
	return found;
}
