import type { ViewStyle } from "./views/view.js";

/** The key that opens the transcript, where everything that the screen shortens is complete; empty when it has no key. */
export function transcriptHint(style: Pick<ViewStyle, "expanded" | "keymap" | "isTranscript">): string {
	const key = transcriptKey(style);
	return key && `${key} transcript`;
}

/** The key alone, for rows without space for the hint. */
export function transcriptKey({
	expanded,
	keymap,
	isTranscript = false,
}: Pick<ViewStyle, "expanded" | "keymap" | "isTranscript">): string {
	return expanded || isTranscript ? "" : keymap.keyOf("app.transcript");
}
