import type { SessionShortcut } from "../../hooks/shortcuts.js";
import type { AgentSession } from "../../sdk/agent-session.js";
import { createKeymap, type HookKey, type Keymap } from "../../tui/keymap.js";

/** Binds the shortcuts of hooks, now and whenever they change. Reports each one that gets no key, once. */
export function bindHookKeys(
	session: Pick<AgentSession, "shortcuts" | "subscribe">,
	keymap: Pick<Keymap, "setHookKeys" | "hookProblems" | "problems">,
	warn: (problem: string) => void,
): void {
	let bound: AgentSession["shortcuts"] = [];
	const known = new Set(keymap.problems);
	const bind = () => {
		const { shortcuts } = session;
		if (shortcuts === bound || (shortcuts.length === 0 && bound.length === 0)) return;
		bound = shortcuts;
		keymap.setHookKeys(hookKeys(shortcuts));
		for (const problem of [...keymap.problems, ...keymap.hookProblems]) {
			if (!known.has(problem)) warn(problem);
			known.add(problem);
		}
	};
	session.subscribe(({ type }) => {
		if (type === "registrations_changed") bind();
	});
	bind();
}

/** Shortcuts whose key is in use by default: their ids and what is wrong. */
export function findLostKeys(shortcuts: readonly SessionShortcut[]): { id: string; problem: string }[] {
	const keymap = createKeymap();
	keymap.setHookKeys(hookKeys(shortcuts));
	return shortcuts.flatMap(({ id }) => {
		const problem = keymap.hookProblems.find((text) => text.includes(`"${id}"`));
		return problem === undefined ? [] : [{ id, problem }];
	});
}

function hookKeys(shortcuts: readonly SessionShortcut[]): HookKey[] {
	return shortcuts.map(({ id, key, description, hookName }) => ({ id, key, description, hook: hookName }));
}
