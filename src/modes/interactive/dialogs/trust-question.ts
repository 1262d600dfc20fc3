import type { ProjectSet } from "../../../config/trust.js";
import type { TrustAnswer } from "../../../session/project-code.js";
import type { OverlayStack } from "../../../tui/overlay-stack.js";
import type { Look } from "../../../tui/select-dialog.js";
import { type CodeChange, compareWithTrusted } from "../../code-lines.js";
import { TrustPanel, type TrustQuestion } from "./trust-panel.js";

/**
 * Shows, in the editor's place, what code of the project would run and asks whether it may. Cancelling means no.
 * @param state what a test or the screen knows better than the clock of the machine
 */
export async function askTrust(
	set: ProjectSet,
	overlays: Pick<OverlayStack, "open">,
	look: Look,
	state: Partial<Pick<TrustQuestion, "now" | "isTyping" | "clock">> = {},
): Promise<TrustAnswer> {
	const changes = new Map<string, CodeChange>();
	for (const file of set.files) {
		const change = await compareWithTrusted(file);
		if (change) changes.set(file.rel, change);
	}
	return overlays.open<TrustAnswer>(
		(settle) => new TrustPanel(look, { set, changes, now: Date.now(), ...state }, settle),
		{
			cancelled: "no",
		},
	);
}
