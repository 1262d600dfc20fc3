import { dirname } from "node:path";
import type { CommandShell } from "../commands/command.js";
import { type CommandSources, paletteItems } from "../commands/registry.js";
import { PiError } from "../errors.js";
import type { HookControl } from "../hooks/host-context.js";
import type { SessionMode } from "../hooks/types.js";
import { findSession } from "../log/catalog.js";
import { abortable } from "../util/abort.js";
import type { Compaction } from "./compaction.js";
import type { Lifecycle } from "./lifecycle.js";
import type { Prompter } from "./prompter.js";
import type { Reloader } from "./reloader.js";
import type { SessionRunner } from "./session-run.js";
import type { SessionCore } from "./session-setup.js";
import { SessionName } from "./session-state.js";

export interface HookControlDeps extends Pick<SessionCore, "setup" | "activity" | "state" | "context"> {
	mode(): SessionMode;
	shell(): CommandShell | null;
	compaction(): Pick<Compaction, "run">;
	lifecycle(): Pick<Lifecycle, "newSession" | "branch" | "switchSession" | "setName">;
	reloader(): Pick<Reloader, "reload">;
	prompter(): Pick<Prompter, "delivered">;
	queue(): Pick<SessionRunner["queue"], "size">;
	sources(): CommandSources;
}

/** The session as hooks control it; every member reads current state. */
export function createHookControl(deps: HookControlDeps): HookControl {
	const { setup, activity, state, context } = deps;
	const name = new SessionName();
	const untilIdle = async (signal?: AbortSignal): Promise<void> => {
		const isBusy = () => activity.has("run", "compacting", "shell", "switching", "prompting") || deps.queue().size > 0;
		const until = (event: Promise<unknown>) => (signal ? abortable(event, signal) : event);
		for (;;) {
			// A prompt of `pi.send` may not have begun its run yet.
			await until(deps.prompter().delivered());
			if (activity.has("closing")) throw new PiError("session_busy", "The session is closing");
			if (!isBusy()) return;
			await until(activity.changed());
		}
	};
	return {
		get isIdle() {
			const isRunning = activity.has("run") && activity.current.phase !== "ending";
			return !isRunning && !activity.has("compacting", "shell", "switching", "closing");
		},
		get queued() {
			return deps.queue().size;
		},
		get commands() {
			const list = paletteItems(deps.sources()).map(({ name, description, origin, path }) =>
				Object.freeze({ name, description, source: origin, ...(path === undefined ? {} : { path }) }),
			);
			return Object.freeze(list);
		},
		get usage() {
			const tokens = context.tokens();
			const contextWindow = state.model?.contextWindow ?? 0;
			return Object.freeze({
				tokens,
				contextWindow,
				percent: contextWindow > 0 ? (100 * tokens) / contextWindow : null,
			});
		},
		get sessionName() {
			return name.of(state.log);
		},
		get mode() {
			return deps.mode();
		},
		abort: () => activity.abort("run", "compacting", "shell"),
		async compact(focus, signal) {
			const { tokensBefore, tokensAfter } = await deps.compaction().run({ focus, signal });
			return { tokensBefore, tokensAfter };
		},
		setSessionName: (text) => deps.lifecycle().setName(text),
		newSession: () => deps.lifecycle().newSession(),
		async branch(entryIndex) {
			const text = await deps.lifecycle().branch(entryIndex);
			if (text !== null) deps.shell()?.setEditorText(text);
			return text !== null;
		},
		switchSession: async (path) => {
			const { path: current } = state.log;
			const dir = current === null ? (setup.sessionDir ?? setup.cwd) : dirname(current);
			return deps.lifecycle().switchSession(findSession(dir, path));
		},
		async reload() {
			await deps.reloader().reload(deps.shell()?.rereadFiles?.() ?? null);
			return true;
		},
		quit(whenIdle) {
			const shell = deps.shell();
			if (!shell) return false;
			// It fails only while the session is closing already.
			if (whenIdle)
				untilIdle().then(
					() => shell.quit(),
					() => {},
				);
			else shell.quit();
			return true;
		},
		waitForIdle: untilIdle,
	};
}
