import type { Look } from "../../../src/modes/interactive/views/view.js";
import type { BuiltInTheme } from "../../../src/themes/built-in.js";
import { createKeymap } from "../../../src/tui/keymap.js";
import { TerminalImages } from "../../../src/tui/terminal-images.js";
import { createTheme } from "../../../src/tui/theme.js";

/** A look for components that are drawn without a terminal; plain, so that lines can be compared. */
export function plainLook(change: Partial<Look> & { themeName?: BuiltInTheme } = {}): Look {
	return {
		theme: createTheme(change.themeName ?? "plain"),
		cwd: "/home/ada/src/shop",
		home: "/home/ada",
		expanded: false,
		showThinking: false,
		previewThinking: true,
		gutter: true,
		keymap: createKeymap(),
		images: new TerminalImages(),
		liveRows: () => 10,
		imageRows: () => 10,
		requestRender: () => {},
		requestStreamFrame: () => {},
		...change,
	};
}
