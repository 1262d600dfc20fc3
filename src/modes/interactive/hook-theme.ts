import type { EntryTheme } from "../../hooks/types.js";
import type { Theme } from "../../tui/theme.js";

/** The theme as hooks see it. It follows changes of the theme, so hooks may keep it. */
export function hookTheme(theme: Theme): EntryTheme {
	return Object.freeze<EntryTheme>({
		accent: (text) => theme.accent(text),
		dim: (text) => theme.dim(text),
		muted: (text) => theme.muted(text),
		bold: (text) => theme.bold(text),
		italic: (text) => theme.italic(text),
		success: (text) => theme.success(text),
		warning: (text) => theme.warning(text),
		error: (text) => theme.error(text),
		added: (text) => theme.added(text),
		removed: (text) => theme.removed(text),
		addedWord: (text) => theme.addedWord(text),
		removedWord: (text) => theme.removedWord(text),
		gutterIn: (text) => theme.gutterIn(text),
		gutterOut: (text) => theme.gutterOut(text),
		gutterSummary: (text) => theme.gutterSummary(text),
		userText: (text) => theme.userText(text),
		thinking: (text) => theme.thinking(text),
		bashBorder: (text) => theme.bashBorder(text),
		get markdown() {
			return theme.markdown;
		},
		get selectList() {
			return theme.selectList;
		},
		get editor() {
			return theme.editor;
		},
	});
}
