import type { OAuthLoginCallbacks } from "@mariozechner/pi-ai/oauth";
import type { CommandAccounts, LoginDialogs, LoginOption } from "../commands/command.js";
import type { Credentials } from "../config/credentials.js";
import type { ModelRegistry } from "../config/models.js";
import { errorText, PiError } from "../errors.js";
import { abortable } from "../util/abort.js";

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
			try {
				// Not every provider honors the signal: stop waiting for those that do not.
				const tokens = await abortable(found.login(callbacks(dialogs, signal)), signal);
				await credentials.saveLogin(provider, tokens);
				await registry.refresh();
			} catch (cause) {
				const why = signal.aborted ? "it was canceled" : errorText(cause);
				throw new PiError("command_failed", `The login to ${found.name} failed: ${why}`, { cause });
			}
		},
		stored: () => credentials.storedProviders().map(({ provider }) => provider),
		remove: (provider) => credentials.removeKey(provider),
	};
}

function callbacks(dialogs: LoginDialogs, signal: AbortSignal): OAuthLoginCallbacks {
	return {
		signal,
		onAuth: ({ url, instructions }) => dialogs.onAddress(url, instructions),
		async onPrompt({ message, placeholder, allowEmpty }) {
			const answer = await dialogs.ask(message, placeholder);
			if (answer === null || (answer === "" && !allowEmpty)) throw new Error("it was canceled");
			return answer;
		},
		onProgress: (message) => dialogs.onProgress(message),
		async onSelect({ message, options }) {
			const choice = await dialogs.choose(
				message,
				options.map(({ id, label }) => ({ label, value: id })),
			);
			return choice ?? undefined;
		},
	};
}
