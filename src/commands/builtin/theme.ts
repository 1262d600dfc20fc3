import { PiError } from "../../errors.js";
import type { SlashCommand } from "../command.js";

/** `/theme [name]`: chooses the color theme; without a name, in a picker with preview. */
export const themeCommand: SlashCommand = {
	name: "theme",
	argumentHint: "[name]",
	description: "Choose the color theme",
	complete: (prefix, _session, shell) =>
		(shell?.themes?.list() ?? [])
			.filter(({ name }) => name.startsWith(prefix))
			.map(({ name, description }) => ({ value: name, description })),
	async run({ shell, rest, signal }) {
		const themes = shell?.themes;
		if (!themes) {
			throw new PiError("not_a_terminal", "/theme works only in interactive mode", {
				hint: "set theme in settings.json instead",
			});
		}
		const name = rest || (await themes.choose(signal));
		return name === null ? undefined : { status: await themes.use(name) };
	},
};
