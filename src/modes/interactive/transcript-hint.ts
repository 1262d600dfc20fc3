import type { ViewStyle } from "./views/view.js";

/** The key that opens the transcript, where everything that the screen shortens is complete; empty when it has no key. */
export function transcriptHint(style: Pick<ViewStyle, "expanded" | "keymap">): string {
	const key = transcriptKey(style);
	return key && `${key} transcript`;
}

/** The key alone, for rows without space for the hint. */
export function transcriptKey({ expanded, keymap }: Pick<ViewStyle, "expanded" | "keymap">): string {
	return expanded ? "" : keymap.keyOf("app.transcript");
}
