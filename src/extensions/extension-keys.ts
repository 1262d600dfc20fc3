import type { HookKeybindings } from "../hooks/types.js";

/** Their names of keys in dialogs; those of the editor are the same. */
const KEYS: Readonly<Record<string, string>> = {
	"tui.select.up": "dialog.up",
	"tui.select.down": "dialog.down",
	"tui.select.confirm": "dialog.accept",
	"tui.select.cancel": "dialog.cancel",
};

/** The keys of pi under the names that extensions use. */
export function extensionKeys(keys: HookKeybindings): HookKeybindings {
	return { matches: (data, action) => keys.matches(data, KEYS[action] ?? action) };
}
