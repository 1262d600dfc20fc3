import type { OAuthLoginCallbacks } from "@mariozechner/pi-ai/oauth";
import type { CommandAccounts, LoginOption } from "../commands/command.js";
import type { LoginDialogs } from "../commands/login-dialogs.js";
import { errorText, PiError } from "../errors.js";
import type { Credentials } from "../models/credentials.js";
import { keyVariables } from "../models/env-keys.js";
import type { ModelRegistry } from "../models/models.js";
import { providerName } from "../models/provider-names.js";
import type { Network } from "../network/network.js";
import { abortable, linkSignals } from "../util/abort.js";

/** Providers that most people look for; they are offered first, in this order. */
const WELL_KNOWN: readonly string[] = [
	"anthropic",
	"openai",
	"openai-codex",
	"google",
	"github-copilot",
	"openrouter",
	"xai",
	"deepseek",
	"mistral",
	"groq",
];

/** Lists, adds and removes accounts among the credentials stored on this machine. */
export function createAccounts(
	credentials: Credentials,
	registry: ModelRegistry,
	network: Pick<Network, "run">,
): CommandAccounts {
	return {
		async choices() {
			const { getOAuthProviders } = await import("@mariozechner/pi-ai/oauth");
			const withSource = (choice: LoginOption): LoginOption => {
				const source = credentials.keySource(choice.provider);
				return source === undefined ? choice : { ...choice, source };
			};
			const sites = getOAuthProviders();
			const logins = sites.map(({ id, name }) => withSource({ provider: id, kind: "login", name }));
			// A provider with a login and no variable for a key only accepts the tokens of its login.
			const loginOnly = new Set(sites.map(({ id }) => id).filter((id) => keyVariables(id).length === 0));
			const keys = registry.providers
				.filter((provider) => !loginOnly.has(provider))
				.map((provider) => withSource({ provider, kind: "key", name: providerName(provider) }))
				.sort((a, b) => a.name.localeCompare(b.name, "en"));
			// The sort is stable, so a provider's login comes before its key.
			return [...logins, ...keys].sort((a, b) => rank(a) - rank(b));
		},
		async saveKey(provider, key) {
			await credentials.saveKey(provider, key);
			await registry.refresh();
		},
		async login(provider, dialogs, signal) {
			const { getOAuthProvider } = await import("@mariozechner/pi-ai/oauth");
			const found = getOAuthProvider(provider);
			if (!found) throw new PiError("command_failed", `${provider} has no login`, { hint: "paste a key instead" });
			const logIn = (steps: Parameters<typeof found.login>[0]) => network.run(() => found.login(steps));
			const tokens = await logInThrough(found.name, dialogs, signal, logIn);
			if (tokens === null) return false;
			await credentials.saveLogin(provider, tokens);
			await registry.refresh();
			return true;
		},
		stored: () => credentials.storedProviders().map(({ provider }) => provider),
		remove: (provider) => credentials.removeKey(provider),
	};
}

/**
 * Runs a login in the browser with its dialogs.
 * @returns null when the user canceled it
 * @throws PiError `command_failed`
 */
export async function logInThrough<T>(
	name: string,
	dialogs: LoginDialogs,
	signal: AbortSignal,
	login: (steps: OAuthLoginCallbacks & Required<Pick<OAuthLoginCallbacks, LoginStep>>) => Promise<T>,
): Promise<T | null> {
	const over = new AbortController();
	const closed = linkSignals(signal, over.signal);
	try {
		const loggedIn = login(callbacks(name, dialogs, closed.signal, () => over.abort()));
		// Not every provider honors the signal: stop waiting for those that do not.
		return await abortable(loggedIn, closed.signal);
	} catch (cause) {
		if (closed.signal.aborted) return null;
		throw new PiError("command_failed", `The login to ${name} failed: ${errorText(cause)}`, { cause });
	} finally {
		over.abort();
		closed.unlink();
	}
}

type LoginStep = "signal" | "onManualCodeInput";

/**
 * The dialogs of a login. Until the login ends, one of them has the keyboard: what is typed meanwhile, such as a redirect
 * URL with its code, cannot become a prompt.
 * @param closed aborted when the login ends, also because the browser answered
 */
function callbacks(
	name: string,
	dialogs: LoginDialogs,
	closed: AbortSignal,
	cancel: () => void,
): OAuthLoginCallbacks & Required<Pick<OAuthLoginCallbacks, LoginStep>> {
	let waiting = new AbortController();
	const wait = async () => {
		waiting = new AbortController();
		const over = AbortSignal.any([closed, waiting.signal]);
		await dialogs.choose(`Waiting for ${name}`, [{ label: "Cancel the login", value: "cancel" }], over);
		// Any answer cancels, Escape too. Without one, another dialog or the end of the login has closed this one.
		if (!over.aborted) cancel();
	};
	const waitInBackground = () => void wait().catch(cancel);
	/** Asks instead of the waiting dialog. @throws Error when the user cancels */
	const ask = async <T>(question: () => Promise<T | null>): Promise<T> => {
		waiting.abort();
		const answer = await question();
		if (answer === null) {
			if (!closed.aborted) cancel();
			throw new Error("the login was canceled");
		}
		if (!closed.aborted) waitInBackground();
		return answer;
	};
	waitInBackground();
	return {
		signal: closed,
		onAuth: ({ url, instructions }) => dialogs.onAddress(url, instructions, closed),
		onPrompt: ({ message, placeholder, allowEmpty }) =>
			ask(async () => {
				const answer = await dialogs.ask(message, placeholder, closed);
				return answer === "" && !allowEmpty ? null : answer;
			}),
		onManualCodeInput: () =>
			ask(() => dialogs.ask(`Log in to ${name} in the browser, or paste the redirect URL`, "https://…", closed)),
		onProgress: (message) => dialogs.onProgress(message),
		onSelect: ({ message, options }) =>
			ask(() =>
				dialogs.choose(
					message,
					options.map(({ id, label }) => ({ label, value: id })),
					closed,
				),
			),
	};
}

function rank({ provider }: LoginOption): number {
	const at = WELL_KNOWN.indexOf(provider);
	return at < 0 ? WELL_KNOWN.length : at;
}
