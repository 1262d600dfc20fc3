import type { OAuthLoginCallbacks, OAuthProviderInterface } from "@mariozechner/pi-ai/oauth";
import type { CommandAccounts, LoginDialogs, LoginOption } from "../commands/command.js";
import type { Credentials } from "../config/credentials.js";
import type { ModelRegistry } from "../config/models.js";
import { errorText, PiError } from "../errors.js";
import { abortable, linkSignals } from "../util/abort.js";

/** Lists, adds and removes accounts among the credentials stored on this machine. */
export function createAccounts(credentials: Credentials, registry: ModelRegistry): CommandAccounts {
	return {
		async choices() {
			const { getOAuthProviders } = await import("@mariozechner/pi-ai/oauth");
			const withSource = (choice: LoginOption): LoginOption => {
				const source = credentials.keySource(choice.provider);
				return source === undefined ? choice : { ...choice, source };
			};
			const logins = getOAuthProviders().map(({ id, name }) => withSource({ provider: id, kind: "login", name }));
			const providers = [...new Set(registry.all().map(({ provider }) => provider))].sort();
			const keys = providers.map((provider) => withSource({ provider, kind: "key", name: provider }));
			return [...logins, ...keys];
		},
		async saveKey(provider, key) {
			await credentials.saveKey(provider, key);
			await registry.refresh();
		},
		async login(provider, dialogs, signal) {
			const { getOAuthProvider } = await import("@mariozechner/pi-ai/oauth");
			const found = getOAuthProvider(provider);
			if (!found) throw new PiError("command_failed", `${provider} has no login`, { hint: "paste a key instead" });
			const canceled = new AbortController();
			const linked = linkSignals(signal, canceled.signal);
			const ended = new AbortController();
			try {
				const ask = callbacks(found, dialogs, linked.signal, ended.signal, () => canceled.abort());
				// Not every provider honors the signal: stop waiting for those that do not.
				const tokens = await abortable(found.login(ask), linked.signal);
				await credentials.saveLogin(provider, tokens);
				await registry.refresh();
				return true;
			} catch (cause) {
				if (linked.signal.aborted) return false;
				throw new PiError("command_failed", `The login to ${found.name} failed: ${errorText(cause)}`, { cause });
			} finally {
				ended.abort();
				linked.unlink();
			}
		},
		stored: () => credentials.storedProviders().map(({ provider }) => provider),
		remove: (provider) => credentials.removeKey(provider),
	};
}

/**
 * The dialogs of a login. From the moment the browser is needed until the login ends, one of them has the keyboard: what is
 * typed meanwhile, such as a redirect URL with its code, cannot become a prompt.
 * @param ended aborted when the login is over, for example because the browser answered
 */
function callbacks(
	{ name, usesCallbackServer }: OAuthProviderInterface,
	dialogs: LoginDialogs,
	signal: AbortSignal,
	ended: AbortSignal,
	cancel: () => void,
): OAuthLoginCallbacks {
	let waiting = new AbortController();
	const answered = <T>(answer: T | null): T => {
		if (answer !== null) return answer;
		if (!ended.aborted) cancel();
		throw new Error("the login was canceled");
	};
	const wait = async () => {
		waiting = new AbortController();
		const closed = AbortSignal.any([signal, ended, waiting.signal]);
		const chosen = await dialogs.choose(
			`Waiting for ${name}`,
			[{ label: "Cancel the login", value: "cancel" }],
			closed,
		);
		// Closed by a signal, it was not the user's answer.
		if (chosen !== null || !closed.aborted) cancel();
	};
	return {
		signal,
		onAuth({ url, instructions }) {
			dialogs.onAddress(url, instructions);
			if (!usesCallbackServer) void wait();
		},
		async onPrompt({ message, placeholder, allowEmpty }) {
			waiting.abort();
			const answer = answered(await dialogs.ask(message, placeholder, AbortSignal.any([signal, ended])));
			return answered(answer === "" && !allowEmpty ? null : answer);
		},
		async onManualCodeInput() {
			const closed = AbortSignal.any([signal, ended]);
			return answered(
				await dialogs.ask(`Log in to ${name} in the browser, or paste the redirect URL`, "https://…", closed),
			);
		},
		onProgress: (message) => dialogs.onProgress(message),
		async onSelect({ message, options }) {
			waiting.abort();
			const items = options.map(({ id, label }) => ({ label, value: id }));
			return (await dialogs.choose(message, items, AbortSignal.any([signal, ended]))) ?? undefined;
		},
	};
}
