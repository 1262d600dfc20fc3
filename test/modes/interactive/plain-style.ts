import type { ViewStyle } from "../../../src/modes/interactive/views/view.js";
import type { BuiltInTheme } from "../../../src/themes/built-in.js";
import { createKeymap } from "../../../src/tui/keymap.js";
import { TerminalImages } from "../../../src/tui/terminal-images.js";
import { createTheme } from "../../../src/tui/theme.js";

/** A plain style for components that are drawn without a terminal, so that lines can be compared. */
export function plainStyle(change: Partial<ViewStyle> & { themeName?: BuiltInTheme } = {}): ViewStyle {
	return {
		theme: createTheme(change.themeName ?? "plain"),
		cwd: "/home/ada/src/shop",
		home: "/home/ada",
		remote: null,
		expanded: false,
		showThinking: false,
		previewThinking: true,
		thinkingLabel: null,
		gutter: true,
		keymap: createKeymap(),
		images: new TerminalImages(),
		liveRows: () => 10,
		imageRows: () => 10,
		screenRows: () => 30,
		columns: () => 80,
		requestRender: () => {},
		redrawScreen: () => {},
		requestStreamFrame: () => {},
		...change,
	};
}
