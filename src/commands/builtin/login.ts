import { errorText, PiError } from "../../errors.js";
import { cleanKey, hasSeveralLines, keyProblem } from "../../models/key-shape.js";
import { providerName } from "../../models/provider-names.js";
import { nearest } from "../../util/nearest.js";
import type { BuiltinCommandContext, CommandSession, LoginOption, SlashCommand } from "../command.js";
import type { LoginDialogs } from "../login-dialogs.js";

/** `/login [provider]`: saves an API key, or logs in through the provider's web site. */
export const loginCommand: SlashCommand = {
	name: "login",
	argumentHint: "[provider]",
	description: "Save an API key, or log in to a provider",
	async complete(prefix, { accounts }) {
		const names = new Set((await accounts.choices()).map(({ provider }) => provider));
		return [...names].filter((name) => name.startsWith(prefix)).map((value) => ({ value }));
	},
	async run(context) {
		const { session, shell, rest } = context;
		if (!shell) {
			throw new PiError("not_a_terminal", "/login needs a terminal", {
				hint: "set the provider's API key variable instead",
			});
		}
		const choices = await session.accounts.choices();
		const offered = rest ? named(choices, rest) : choices;
		const status = await chooseAccount(titleOf(offered), offered, context);
		return status === null ? undefined : { status };
	},
};

/**
 * Lets the user choose and save one of several accounts; without a model, selects one of that provider.
 * @returns a status line; null when canceled
 */
export async function chooseAccount(
	title: string,
	offered: readonly LoginOption[],
	context: BuiltinCommandContext,
): Promise<string | null> {
	const choice = await saveAccount(title, offered, context);
	return choice && chooseModel(choice, context.session);
}

/** Asks for an API key of a provider, or logs in to it. @returns whether it is saved now */
export async function logInTo(provider: string, context: BuiltinCommandContext): Promise<boolean> {
	const offered = named(await context.session.accounts.choices(), provider);
	return (await saveAccount(`Log in to ${providerName(provider)}`, offered, context)) !== null;
}

/** @returns the saved account; null when canceled */
async function saveAccount(
	title: string,
	offered: readonly LoginOption[],
	context: BuiltinCommandContext,
): Promise<LoginOption | null> {
	const choice =
		offered.length === 1 ? offered[0] : await context.ui.select(title, offered.map(option), { keepsOrder: true });
	return choice && (await save(choice, context)) ? choice : null;
}

async function save(choice: LoginOption, context: BuiltinCommandContext): Promise<boolean> {
	if (choice.kind === "login") return logIn(choice, context);
	const { session, shell, ui, signal } = context;
	let refusal = "";
	// A key that the provider refuses returns to the question.
	for (;;) {
		const typed = (await shell?.secret(`${refusal}API key for ${choice.name}`)) ?? "";
		const key = cleanKey(typed);
		if (key === "") return false;
		const problem =
			keyProblem(choice.provider, key) ?? (hasSeveralLines(typed) ? "it was pasted as several lines" : null);
		if (problem !== null && !(await confirmKey(problem, context))) return false;
		shell?.hint?.(`Trying the key · ${choice.name}`);
		const trial = await session.accounts.tryKey(choice.provider, key, signal);
		if (signal.aborted) return false;
		if (trial.state === "refused") {
			refusal = `Not saved: ${trial.reason} · `;
			continue;
		}
		if (trial.state === "doubtful" && !(await confirmKey(trial.reason, context))) return false;
		await session.accounts.saveKey(choice.provider, key);
		if (trial.state === "untried") ui.notify(`The key is saved but was not tried: ${trial.reason}`, "info");
		return true;
	}
}

function confirmKey(problem: string, { ui }: BuiltinCommandContext): Promise<boolean> {
	return ui.confirm("Save this API key?", `It may be wrong: ${problem}.`);
}

function titleOf(offered: readonly LoginOption[]): string {
	const [first, ...others] = new Set(offered.map(({ provider }) => provider));
	return first !== undefined && others.length === 0 ? `Log in to ${providerName(first)}` : "Which provider?";
}

function option(choice: LoginOption) {
	const how = choice.kind === "login" ? "log in with the browser" : "paste an API key";
	return { label: choice.name, value: choice, description: choice.source ? `${how} · current: ${choice.source}` : how };
}

/** The choices of a provider that the user named: by its id, or by a part of its id or name. */
function named(choices: readonly LoginOption[], name: string): LoginOption[] {
	const wanted = name.toLowerCase();
	const found = choices.filter(({ provider }) => provider === wanted);
	if (found.length > 0) return found;
	const similar = choices.filter((choice) =>
		`${choice.provider} ${providerName(choice.provider)}`.toLowerCase().includes(wanted),
	);
	if (similar.length > 0) return similar;
	const near = nearest(
		name,
		choices.map(({ provider }) => provider),
	);
	throw new PiError("bad_arguments", `Unknown provider "${name}"`, {
		hint: near.length > 0 ? `did you mean ${near.join(", ")}?` : "run /login and choose one",
	});
}

/** @returns false when the user canceled the login */
function logIn(choice: LoginOption, context: BuiltinCommandContext): Promise<boolean> {
	const { session, signal } = context;
	return session.accounts.login(choice.provider, loginDialogs(choice.name, context), signal);
}

/** The dialogs of a login through a web site. */
export function loginDialogs(name: string, { ui, shell, signal }: BuiltinCommandContext): LoginDialogs {
	// It is of no use after the login.
	const hint = (message: string) => (shell?.hint ? shell.hint(message) : ui.notify(message, "info"));
	return {
		onAddress(url, instructions, over) {
			const lines = [...(instructions ? [instructions] : []), url];
			if (!shell) return ui.notify(lines.join("\n"), "info");
			const hide = shell.show(`Log in to ${name}`, lines);
			if (hide) over.addEventListener("abort", hide, { once: true });
		},
		...(shell
			? {
					async copyAddress(url) {
						try {
							await shell.copy(url);
							hint("Copied the address");
						} catch (error) {
							ui.notify(errorText(error), "warning");
						}
					},
				}
			: {}),
		ask: (message, placeholder, closed) => ui.input(message, placeholder, { signal: closed ?? signal }),
		choose: (message, options, closed) => ui.select(message, options, { signal: closed ?? signal }),
		onProgress: hint,
	};
}

/** Without a model, selects the best one of the provider. @returns a status line */
async function chooseModel({ provider, name }: LoginOption, session: CommandSession): Promise<string> {
	const saved = `Saved your ${name} account`;
	if (session.model) return saved;
	const model = session.models.bestOf(provider);
	if (!model) return `${saved} · choose a model with /model`;
	await session.setModel(model);
	return `${saved} · model: ${model.provider}/${model.id}`;
}
