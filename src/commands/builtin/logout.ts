import type { SlashCommand } from "../command.js";

/** `/logout [provider]`: forgets a key or login that pi keeps. */
export const logoutCommand: SlashCommand = {
	name: "logout",
	argumentHint: "[provider]",
	description: "Forget a provider's key or login",
	complete: (prefix, { accounts }) =>
		accounts
			.stored()
			.filter((name) => name.startsWith(prefix))
			.map((value) => ({ value })),
	async run({ session, ui, rest }) {
		const stored = session.accounts.stored();
		if (stored.length === 0) return { status: "pi keeps no key" };
		const provider = rest || (await ui.select("Forget which account?", stored));
		if (!provider) return;
		const removed = await session.accounts.remove(provider);
		return { status: removed ? `Forgot the ${provider} account` : `pi keeps no key of ${provider}` };
	},
};
