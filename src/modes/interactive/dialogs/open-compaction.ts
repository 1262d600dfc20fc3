import type { CompactionTokens, CompactionTrial } from "../../../commands/compaction.js";
import { type CompactionAnswer, CompactionPanel } from "./compaction-panel.js";
import type { PanelParts } from "./open-panels.js";

/**
 * Shows a compaction in the editor's place until the user accepts it or not. Hooks are asked while the editor is there:
 * they may have questions of their own.
 * @returns null when nothing was written
 */
export async function openCompaction(trial: CompactionTrial, parts: PanelParts): Promise<CompactionTokens | null> {
	for (;;) {
		const offered = await trial.askHooks();
		const left = new AbortController();
		const answer = await parts.overlays.open<CompactionAnswer>(
			(settle) => new CompactionPanel(parts.look, { ...parts, trial, offered, signal: left.signal, onAnswer: settle }),
			{ signal: trial.signal, cancelled: { kind: "cancel" } },
		);
		left.abort();
		if (answer.kind === "done") return answer.tokens;
		if (answer.kind === "cancel") return null;
	}
}
