import type { HookKeybindings } from "../hooks/types.js";
import { currentTheme } from "./running-code.js";

/** Their names of actions; those of the editor are the same. Actions that pi lacks have no key. */
const ACTIONS: ReadonlyMap<unknown, string> = new Map([
	["tui.select.up", "dialog.up"],
	["tui.select.down", "dialog.down"],
	["tui.select.pageUp", "dialog.pageUp"],
	["tui.select.pageDown", "dialog.pageDown"],
	["tui.select.confirm", "dialog.accept"],
	["tui.select.cancel", "dialog.cancel"],
	["app.interrupt", "app.abort"],
	["app.clear", "app.interrupt"],
	["app.clipboard.pasteImage", "app.pasteImage"],
	["app.editor.external", "app.externalEditor"],
	["app.message.dequeue", "app.editQueue"],
	["app.message.followUp", "app.followUp"],
	["app.model.cycleBackward", "app.modelPrevious"],
	["app.model.cycleForward", "app.modelNext"],
	["app.model.select", "app.model"],
	["app.session.delete", "dialog.delete"],
	["app.session.rename", "dialog.rename"],
	["app.session.togglePath", "dialog.scope"],
	["app.thinking.cycle", "app.thinkingLevel"],
	["app.thinking.toggle", "app.toggleThinking"],
	["app.tools.expand", "app.transcript"],
]);

/** The keys of pi under the names that extensions use. */
export function extensionKeys(keys: HookKeybindings): HookKeybindings {
	return { matches: (data, action) => keys.matches(data, ACTIONS.get(action) ?? action) };
}

/** What extensions import to show keys. @param keysOf the keys of an action of pi, as the user has bound them */
export function keyTexts(keysOf: (action: string) => readonly string[]) {
	/** Such as `escape/ctrl+c`; empty without a key. */
	const keyText = (action: string) => keysOf(ACTIONS.get(action) ?? action).join("/");
	return {
		keyText,
		/** The keys, if any, and what they do. */
		keyHint(action: string, description: string) {
			const [keys, { dim, muted }] = [keyText(action), currentTheme()];
			return keys === "" ? muted(description) : `${dim(keys)} ${muted(description)}`;
		},
	};
}
