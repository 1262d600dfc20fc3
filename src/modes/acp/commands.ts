import type { AvailableCommand } from "@agentclientprotocol/sdk";
import type { PaletteItem } from "../../commands/command.js";
import { builtinName, parseSlashCommand } from "../../commands/registry.js";
import { invalidParams } from "./errors.js";

/** Commands that replace or end the session, which is up to the client. */
const REFUSED: Readonly<Record<string, string>> = {
	new: "begin a new thread in the editor",
	clear: "begin a new thread in the editor",
	resume: "choose the session in the editor",
	branch: "begin a new thread in the editor",
	quit: "close the thread in the editor",
	exit: "close the thread in the editor",
};
/** Commands that need a terminal, or that an option of the session replaces. */
const HIDDEN = new Set(["hotkeys", "theme", "login", "setup", "copy", "changelog", "model", "thinking"]);

/** The slash commands that a client offers. */
export function availableCommands(palette: readonly PaletteItem[]): AvailableCommand[] {
	return palette
		.filter(({ name, origin }) => {
			const own = builtinName(name);
			return origin !== "built-in" || !(Object.hasOwn(REFUSED, own) || HIDDEN.has(own));
		})
		.map(({ name, description, argumentHint, origin }) => ({
			name,
			description: description || origin,
			...(argumentHint ? { input: { hint: argumentHint } } : {}),
		}));
}

/** @throws RequestError for a command that would replace or end the session */
export function checkCommand(text: string): void {
	const name = builtinName(parseSlashCommand(text)?.name ?? "");
	const hint = Object.hasOwn(REFUSED, name) ? REFUSED[name] : undefined;
	if (hint !== undefined) throw invalidParams(`/${name} is not available over ACP`, hint);
}
