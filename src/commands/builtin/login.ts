import { PiError } from "../../errors.js";
import { nearest } from "../../util/nearest.js";
import type { BuiltinCommandContext, CommandAccounts, LoginOption, SlashCommand } from "../command.js";

/** `/login [provider]`: keeps a key, or logs in through the provider's web site. */
export const loginCommand: SlashCommand = {
	name: "login",
	argumentHint: "[provider]",
	description: "Keep a provider's key, or log in",
	async complete(prefix, { accounts }) {
		const names = new Set((await accounts.choices()).map(({ provider }) => provider));
		return [...names].filter((name) => name.startsWith(prefix)).map((value) => ({ value }));
	},
	async run(context) {
		const { session, shell, rest } = context;
		if (!shell) {
			throw new PiError("not_a_terminal", "/login needs a terminal", {
				hint: "set the provider's key variable instead",
			});
		}
		const choices = await session.accounts.choices();
		const offered = rest ? named(choices, rest) : choices;
		const status = await chooseAccount(rest ? `How to log in to ${rest}?` : "Which provider?", offered, context);
		return status === null ? undefined : { status };
	},
};

/**
 * Has one of several accounts chosen and kept; where no model was chosen yet, one of that provider is then.
 * @returns what to tell the user; null when it was cancelled
 */
export async function chooseAccount(
	title: string,
	offered: readonly LoginOption[],
	context: BuiltinCommandContext,
): Promise<string | null> {
	const { session, ui, shell } = context;
	const choice = offered.length === 1 ? offered[0] : await ui.select(title, offered.map(option));
	if (!choice) return null;
	if (choice.kind === "login") await logIn(choice, context);
	else {
		const key = (await shell?.secret(`Key for ${choice.name}`))?.trim();
		if (!key) return null;
		await session.accounts.saveKey(choice.provider, key);
	}
	return chooseModel(choice, context);
}

function option(choice: LoginOption) {
	const how = choice.kind === "login" ? "log in in the browser" : "paste a key";
	return { label: choice.name, value: choice, description: choice.source ? `${how} · now: ${choice.source}` : how };
}

function named(choices: readonly LoginOption[], name: string): LoginOption[] {
	const found = choices.filter(({ provider }) => provider === name);
	if (found.length > 0) return found;
	const near = nearest(
		name,
		choices.map(({ provider }) => provider),
	);
	throw new PiError("bad_arguments", `There is no provider "${name}"`, {
		hint: near.length > 0 ? `did you mean ${near.join(", ")}?` : "run /login and choose one",
	});
}

async function logIn(choice: LoginOption, { session, ui, shell, signal }: BuiltinCommandContext): Promise<void> {
	const dialogs: Parameters<CommandAccounts["login"]>[1] = {
		onAddress: (url, instructions) =>
			shell?.show(`Log in to ${choice.name}`, [...(instructions ? [instructions] : []), url]),
		ask: (message, placeholder) => ui.input(message, placeholder, { signal }),
		choose: (message, options) => ui.select(message, options, { signal }),
		onProgress: (message) => ui.notify(message, "info"),
	};
	await session.accounts.login(choice.provider, dialogs, signal);
}

/** Where no model was chosen yet, the first one that can be used now. */
async function chooseModel({ provider, name }: LoginOption, { session }: BuiltinCommandContext): Promise<string> {
	const kept = `Kept the ${provider} account`;
	if (session.model) return kept;
	const model = (await session.availableModels()).find((candidate) => candidate.provider === provider);
	if (!model) return `${kept} · choose a model with /model`;
	await session.setModel(model);
	return `${kept} of ${name} · model: ${model.provider}/${model.id}`;
}
