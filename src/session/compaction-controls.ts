import type { CommandCompaction, UndoPlan } from "../commands/compaction.js";
import { activeReplacement } from "../context/replacement.js";
import { PiError } from "../errors.js";
import { type ContextUndoEntry, entryTimestamp } from "../log/entry.js";
import type { AutoCompaction, AutoCompactionDeps } from "./auto-compaction.js";
import { tokensOf } from "./compaction-trial.js";

/** What the controls act on. */
export interface CompactionControlsDeps extends Pick<AutoCompactionDeps, "parts" | "state" | "context" | "tryContext"> {
	compaction: AutoCompaction;
	/** True while the agent runs. */
	isRunning(): boolean;
	/** Aborted when the session ends. */
	ended: AbortSignal;
}

/** Compactions as commands begin and undo them: never while the agent runs. */
export function createCompactionControls(deps: CompactionControlsDeps): CommandCompaction {
	const { state, context, compaction, ended } = deps;
	const refuseWhileRunning = (command: string) => {
		if (!deps.isRunning()) return;
		throw new PiError("session_busy", "The agent is running", { hint: `press escape first, then ${command}` });
	};
	const undoEntry = (entryIndex: number): ContextUndoEntry => ({
		type: "context_undo",
		timestamp: entryTimestamp(),
		entryIndex,
	});
	return {
		async begin(focus, signal) {
			refuseWhileRunning("/compact");
			const trial = await compaction.begin("manual", focus, signal);
			return {
				...trial,
				async accept(draft) {
					if (deps.isRunning())
						throw new PiError("session_busy", "The agent is running", { hint: "accept it when the run is over" });
					return trial.accept(draft);
				},
			};
		},
		async planUndo() {
			refuseWhileRunning("/uncompact");
			if (compaction.isRunning) throw new PiError("session_busy", "A compaction is running");
			const { entries } = state.log;
			const active = activeReplacement(entries);
			if (!active) return null;
			const { kind, entryIndex } = active;
			const undone = await deps.tryContext(Object.freeze([...entries, Object.freeze(undoEntry(entryIndex))]), ended);
			const tokensAfter = tokensOf(undone);
			const limit = limitOf(deps);
			const exceeded = limit !== null && tokensAfter > limit ? limit : null;
			return { kind, entryIndex, tokensBefore: tokensOf(context.current), tokensAfter, exceeded } satisfies UndoPlan;
		},
		async undo({ entryIndex, tokensBefore }) {
			state.append(undoEntry(entryIndex));
			await context.rebuild(ended);
			await state.log.flush();
			return { tokensBefore, tokensAfter: tokensOf(context.current) };
		},
	};
}

/** Tokens from which on the session is compacted by itself, else what the model takes; null when that is not known. */
function limitOf({ parts, state, compaction }: CompactionControlsDeps): number | null {
	const window = state.model?.contextWindow ?? 0;
	if (window === 0) return null;
	return compaction.enabled ? window - parts.settings.current.compaction.reserveTokens : window;
}
