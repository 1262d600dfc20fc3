import type { CommandThemes } from "../../commands/command.js";
import type { OverlayStack } from "../../tui/overlay-stack.js";
import type { Look } from "../../tui/select-dialog.js";
import type { ThemeController } from "./theme-controller.js";

/** What `/theme` can do with a screen. */
export function themeCommands(
	themes: ThemeController,
	place: { overlays: Pick<OverlayStack, "open">; look: Look },
): CommandThemes {
	return {
		list: () => themes.list(),
		use: (name) => themes.use(name),
		// Loaded when it is opened: a start does not wait for it.
		choose: async (signal) => (await import("./dialogs/choose-theme.js")).chooseTheme(themes, place, signal),
	};
}
