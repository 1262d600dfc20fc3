import type { AuthEvent, AuthPrompt, ProviderAuthInteraction } from "@mariozechner/pi-ai";
import type { CommandAccounts, LoginOption } from "../../commands/command.js";
import type { LoginDialogs } from "../../commands/login-dialogs.js";
import { errorText, PiError } from "../../errors.js";
import type { Credentials } from "../../models/credentials.js";
import { keyVariables } from "../../models/env-keys.js";
import type { ModelRegistry } from "../../models/models.js";
import { providerName } from "../../models/provider-names.js";
import type { Network } from "../../network/network.js";
import { abortable, linkSignals } from "../../util/abort.js";

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
	network: Network,
	isOffline: boolean,
): CommandAccounts {
	return {
		async choices() {
			const sites = await Promise.all(credentials.loginProviders().map((id) => credentials.findLogin(id)));
			const withSource = (choice: LoginOption): LoginOption => {
				const source = credentials.keySource(choice.provider);
				return source === undefined ? choice : { ...choice, source };
			};
			const logins = sites.flatMap((site) =>
				site ? withSource({ provider: site.provider, kind: "login", name: site.name }) : [],
			);
			// A provider with a login and no variable for a key only accepts the tokens of its login.
			const loginOnly = new Set(credentials.loginProviders().filter((id) => keyVariables(id).length === 0));
			const keys = registry.providers
				.filter((provider) => !loginOnly.has(provider))
				.map((provider) => withSource({ provider, kind: "key", name: providerName(provider) }))
				.sort((a, b) => a.name.localeCompare(b.name, "en"));
			// The sort is stable, so a provider's login comes before its key.
			return [...logins, ...keys].sort((a, b) => rank(a) - rank(b));
		},
		async tryKey(provider, key, signal) {
			if (isOffline) return { state: "untried", reason: "pi is offline" };
			// Loaded when it is first needed: most sessions never try a key.
			const { tryKey } = await import("../../models/update/try-key.js");
			return tryKey(provider, key, { registry, credentials, network, signal });
		},
		async saveKey(provider, key) {
			await credentials.saveKey(provider, key);
			await registry.refresh();
		},
		async login(provider, dialogs, signal) {
			const found = await credentials.findLogin(provider);
			if (!found) throw new PiError("command_failed", `${provider} has no login`, { hint: "paste a key instead" });
			const tokens = await logInThrough(found.name, dialogs, signal, (steps) => network.run(() => found.login(steps)));
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
	login: (steps: ProviderAuthInteraction) => Promise<T>,
): Promise<T | null> {
	const over = new AbortController();
	const closed = linkSignals(signal, over.signal);
	try {
		const loggedIn = login(interaction(name, dialogs, closed.signal, () => over.abort()));
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

/**
 * The dialogs of a login. Until the login ends, one of them has the keyboard: what is typed meanwhile, such as a redirect
 * URL with its code, cannot become a prompt.
 * @param closed aborted when the login ends, also because the browser answered
 */
function interaction(
	name: string,
	dialogs: LoginDialogs,
	closed: AbortSignal,
	cancel: () => void,
): ProviderAuthInteraction {
	let waiting = new AbortController();
	/** The address to open, once it is known. A terminal breaks it into several lines, which are hard to copy. */
	let address: string | null = null;
	const wait = async () => {
		waiting = new AbortController();
		const over = AbortSignal.any([closed, waiting.signal]);
		const copy = address === null || !dialogs.copyAddress ? [] : [{ label: "Copy the address", value: "copy" }];
		const options = [...copy, { label: "Cancel the login", value: "cancel" }];
		while ((await dialogs.choose(`Waiting for ${name}`, options, over)) === "copy" && !over.aborted) {
			if (address !== null) await dialogs.copyAddress?.(address);
		}
		// Any other answer cancels, Escape too. Without one, another dialog or the end of the login has closed this one.
		if (!over.aborted) cancel();
	};
	const waitInBackground = () => void wait().catch(cancel);
	waitInBackground();
	return {
		signal: closed,
		/** Asks instead of the waiting dialog. @throws Error when the user cancels, or the question is of no use any more */
		async prompt(prompt) {
			waiting.abort();
			const over = prompt.signal ? AbortSignal.any([closed, prompt.signal]) : closed;
			const answer = await ask(name, dialogs, prompt, over, address);
			if (answer === null && !over.aborted) cancel();
			if (!closed.aborted) waitInBackground();
			if (answer === null) throw new Error("the login was canceled");
			return answer;
		},
		notify(event) {
			address = notify(dialogs, event, closed) ?? address;
			// The dialog that waits offers to copy the address.
			if (event.type === "progress" || event.type === "info" || waiting.signal.aborted) return;
			waiting.abort();
			waitInBackground();
		},
	};
}

/** @returns null if the user cancels */
async function ask(
	name: string,
	dialogs: LoginDialogs,
	prompt: AuthPrompt,
	over: AbortSignal,
	address: string | null,
): Promise<string | null> {
	switch (prompt.type) {
		case "select": {
			const options = prompt.options.map(({ id, label }) => ({ label, value: id }));
			return dialogs.choose(prompt.message, options, over);
		}
		case "manual_code": {
			const question = `Log in to ${name} in the browser, or paste the redirect URL`;
			const { copyAddress } = dialogs;
			if (address === null || !copyAddress) return dialogs.ask(question, "https://…", over);
			for (;;) {
				const answer = await dialogs.ask(question, "https://… · enter without text copies the address", over);
				if (answer !== "" || over.aborted) return answer;
				await copyAddress(address);
			}
		}
		default:
			return dialogs.ask(prompt.message, prompt.placeholder, over);
	}
}

/** @returns the address that the user shall open; null if the event has none */
function notify(dialogs: LoginDialogs, event: AuthEvent, closed: AbortSignal): string | null {
	if (event.type === "auth_url") {
		dialogs.onAddress(event.url, event.instructions, closed);
		return event.url;
	}
	if (event.type === "device_code") {
		dialogs.onAddress(event.verificationUri, `Enter the code ${event.userCode} at:`, closed);
		return event.verificationUri;
	}
	dialogs.onProgress(event.message);
	return null;
}

function rank({ provider }: LoginOption): number {
	const at = WELL_KNOWN.indexOf(provider);
	return at < 0 ? WELL_KNOWN.length : at;
}
