import type { AgentSession } from "../../session/agent-session.js";
import type { Keymap } from "../../tui/keymap.js";

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
		keymap.setHookKeys(
			shortcuts.map(({ id, key, description, hookName }) => ({ id, key, description, hook: hookName })),
		);
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
