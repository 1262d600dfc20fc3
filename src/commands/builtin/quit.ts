import { PiError } from "../../errors.js";
import type { SlashCommand } from "../command.js";

/** `/quit`: exits pi in a terminal. Elsewhere, the program that started pi ends it. */
export const quitCommand: SlashCommand = {
	name: "quit",
	aliases: ["exit"],
	description: "Quit pi",
	async run({ shell, signal }) {
		if (!shell) {
			throw new PiError("not_a_terminal", "/quit needs a terminal", {
				hint: "pi ends after its last prompt, or when its caller ends it",
			});
		}
		if (shell.leave) await shell.leave(signal);
		else shell.quit();
	},
};
