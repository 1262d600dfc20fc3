import { providerName } from "../../models/provider-names.js";
import type { SlashCommand } from "../command.js";

/** `/logout [provider]`: removes a saved API key or login. */
export const logoutCommand: SlashCommand = {
	name: "logout",
	argumentHint: "[provider]",
	description: "Remove a saved API key or login",
	complete: (prefix, { accounts }) =>
		accounts
			.stored()
			.filter((name) => name.startsWith(prefix))
			.map((value) => ({ value })),
	async run({ session, ui, rest }) {
		const stored = session.accounts.stored();
		if (stored.length === 0) return { status: "No saved API keys or logins" };
		const provider = rest || (await ui.select("Remove which account?", stored.map(option)));
		if (!provider) return;
		const name = providerName(provider);
		const removed = await session.accounts.remove(provider);
		return { status: removed ? `Removed the ${name} account` : `No saved API key or login for ${name}` };
	},
};

function option(provider: string) {
	return { label: providerName(provider), value: provider };
}
