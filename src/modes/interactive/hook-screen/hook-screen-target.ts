import type { EntryTheme } from "../../../hooks/types.js";
import type { CompletionSource } from "../../../tui/completion.js";
import type { EditorFrame } from "../../../tui/editor-frame.js";
import type { Keymap } from "../../../tui/keymap.js";
import type { OverlayStack } from "../../../tui/overlay-stack.js";
import type { PromptEditor } from "../../../tui/prompt-editor.js";
import type { Draft } from "../dialogs/typing-guard.js";
import type { Screen } from "../screen.js";
import type { ThemeController } from "../theme-controller.js";

/** The screen as hooks use it. */
export interface HookScreenTarget {
	screen: Screen;
	editor: PromptEditor;
	/** The place of the editor. */
	frame: EditorFrame;
	overlays: OverlayStack;
	completions: { base: CompletionSource; use(source: CompletionSource): void };
	theme: EntryTheme;
	themes: Pick<ThemeController, "all" | "named" | "override">;
	keymap: Keymap;
	/** A component that opens while this has text ignores keys until the user pauses. */
	draft: Draft;
}
