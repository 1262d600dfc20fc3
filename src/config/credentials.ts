import type { Api, Model, OAuthCredentials, OAuthProviderInterface } from "@mariozechner/pi-ai";
import { PiError } from "../errors.js";
import { withFileLock } from "../util/file-lock.js";
import { AuthFile, type StoredCredential } from "./auth-file.js";
import { AMBIENT_KEY, environmentProviders, findEnvironmentKey, variablesHint } from "./env-keys.js";
import type { Environment } from "./paths.js";
import { missingVariable, plainSecret, resolveSecret } from "./secret.js";

/** What models.json says about reaching a provider. */
export interface ProviderAccess {
	name: string;
	/** As written: variable, `!command`, or the key itself. */
	apiKey?: string;
	/** As written, like `apiKey`. */
	headers: Readonly<Record<string, string>>;
	/** Send the key as `Authorization: Bearer …` too. */
	authHeader: boolean;
	/** A server on this machine that asks for no key. */
	keyless: boolean;
}

/** Where keys come from. */
export interface CredentialsOptions {
	/** Path of auth.json. */
	authFile: string;
	env: Environment;
	home: string;
	/** `apiKeys` of the user's settings. */
	settingsKeys?: Readonly<Record<string, string>>;
	/** Providers of models.json. */
	providers?: readonly ProviderAccess[];
	/** Hears, in one line each, of files that are broken or too open. */
	onNotice?(line: string): void;
}

/** What a request needs besides the model. */
export interface RequestAuth {
	apiKey: string;
	headers?: Record<string, string>;
}

/** How a provider can be reached: with a key, a login, as a server on this machine without either, or not yet. */
export type KeyState = "key" | "login" | "local" | "none";

type OAuthLogin = Extract<StoredCredential, { type: "oauth" }>;

const LOGIN_SOURCE = "login in auth.json";
const KEYLESS_SOURCE = "no key needed";
/** Servers without keys take any text, but pi-ai wants some. */
const NO_KEY = "none";
const KEYLESS_PROVIDERS = ["ollama", "lmstudio", "llamacpp", "vllm", "demo"];
const SHORTEST_SECRET = 8;
/** Headers whose value is a secret; a scheme such as `Bearer` before it is not part of it. */
const SECRET_HEADER = /auth|key|token|secret|cookie/i;
/** A token this near to its end is renewed first: a request takes time. */
const EXPIRY_MARGIN_MS = 60_000;

/**
 * Knows where keys are and hands them out. For each provider the first of these counts: `--api-key`, auth.json (keys
 * and logins), models.json, `apiKeys` in settings, environment.
 */
export class Credentials {
	readonly #auth: AuthFile;
	readonly #options: CredentialsOptions;
	readonly #providers: ReadonlyMap<string, ProviderAccess>;
	readonly #keyless: Set<string>;
	readonly #overrides = new Map<string, string>();
	/** Values seen by resolving commands and renewing logins, for `redactSecrets`. */
	readonly #seen = new Set<string>();
	readonly #renewals = new Map<string, Promise<string | undefined>>();

	constructor(options: CredentialsOptions) {
		this.#options = options;
		this.#auth = new AuthFile(options.authFile, (line) => options.onNotice?.(line));
		this.#providers = new Map(options.providers?.map((provider) => [provider.name, provider]));
		this.#keyless = new Set(KEYLESS_PROVIDERS);
	}

	/** `--api-key`: this key for this provider, in this process only. */
	overrideKey(provider: string, key: string): void {
		this.#overrides.set(provider, key);
	}

	/** Says that a provider needs no key. */
	markKeyless(provider: string): void {
		this.#keyless.add(provider);
	}

	/** True when a key, a login or credentials of the provider's tools are known. Runs nothing. */
	hasKey(provider: string): boolean {
		return this.keySource(provider) !== undefined;
	}

	/** Where a provider's key comes from, without the key: `auth.json`, `OPENAI_API_KEY`, …; undefined when there is none. */
	keySource(provider: string): string | undefined {
		const { env, home, settingsKeys = {} } = this.#options;
		if (this.#overrides.has(provider)) return "--api-key";
		const stored = this.#auth.get(provider);
		if (stored) return stored.type === "oauth" ? LOGIN_SOURCE : "auth.json";
		const access = this.#providers.get(provider);
		if (access?.apiKey && missingVariable(access.apiKey, env) === undefined) return "models.json";
		if (Object.hasOwn(settingsKeys, provider)) return "settings.json";
		const fromEnvironment = findEnvironmentKey(provider, env, home);
		if (fromEnvironment) return fromEnvironment.source;
		return access?.keyless || this.#keyless.has(provider) ? KEYLESS_SOURCE : undefined;
	}

	/** How a provider can be reached, in a word. */
	keyState(provider: string): KeyState {
		const source = this.keySource(provider);
		if (source === undefined) return "none";
		return source === LOGIN_SOURCE ? "login" : source === KEYLESS_SOURCE ? "local" : "key";
	}

	/**
	 * The key for a model's provider; renews a login that has run out.
	 * @returns undefined when there is none
	 * @throws PiError `key_missing` when a key command fails or a login cannot be renewed
	 */
	async resolveApiKey(model: Pick<Model<Api>, "provider">): Promise<string | undefined> {
		const key = await this.#find(model.provider);
		if (key !== undefined) this.#seen.add(key);
		return key;
	}

	/**
	 * Key and headers for a request.
	 * @throws PiError `key_missing` that says what to set or run
	 */
	async requestAuth(model: Pick<Model<Api>, "provider">): Promise<RequestAuth> {
		const apiKey = await this.resolveApiKey(model);
		if (apiKey === undefined) throw this.describeMissingKey(model.provider);
		const access = this.#providers.get(model.provider);
		const headers: Record<string, string> = {};
		for (const [name, written] of Object.entries(access?.headers ?? {})) {
			const value = await resolveSecret(written, this.#options.env);
			if (value !== written && value !== undefined) this.#seen.add(value);
			// A header's value may look like a variable and be none.
			headers[name] = value ?? written;
		}
		if (access?.authHeader) headers.Authorization = `Bearer ${apiKey}`;
		return Object.keys(headers).length > 0 ? { apiKey, headers } : { apiKey };
	}

	/** Keeps a key in auth.json. @throws PiError `config_write_failed` */
	async saveKey(provider: string, key: string): Promise<void> {
		await this.#auth.set(provider, { type: "api_key", key: key.trim() });
	}

	/** Keeps the tokens of a login in auth.json. @throws PiError `config_write_failed` */
	async saveLogin(provider: string, tokens: OAuthCredentials): Promise<void> {
		await this.#auth.set(provider, { ...tokens, type: "oauth" });
	}

	/** Forgets what auth.json holds for a provider. @returns false when it held nothing */
	async removeKey(provider: string): Promise<boolean> {
		return this.#auth.remove(provider);
	}

	/** Providers in auth.json. */
	storedProviders(): { provider: string; type: StoredCredential["type"] }[] {
		return [...this.#auth.entries()].map(([provider, { type }]) => ({ provider, type }));
	}

	/** Says which key is missing and every way to give it. */
	describeMissingKey(provider: string): PiError {
		const access = this.#providers.get(provider);
		const variable = access?.apiKey && missingVariable(access.apiKey, this.#options.env);
		if (variable) {
			return new PiError(
				"key_missing",
				`No key for ${provider}: models.json takes it from ${variable}, which is not set`,
				{
					hint: `set ${variable}, or run /login ${provider} in pi`,
				},
			);
		}
		const ways = [variablesHint(provider), `run /login ${provider} in pi (kept in ${this.#options.authFile})`];
		return new PiError("key_missing", `No key for ${provider}`, { hint: ways.filter(Boolean).join(", or ") });
	}

	/** Puts `‹key›` in place of every key that is known. For text that a provider or a tool may have echoed. */
	redactSecrets(text: string): string {
		let redacted = text;
		for (const secret of this.#secrets()) {
			if (redacted.includes(secret)) redacted = redacted.replaceAll(secret, "‹key›");
		}
		return redacted;
	}

	/** Lets logins adapt their provider's models (an account's own address). Gives all others back as they are. */
	async adaptModels(models: readonly Model<Api>[]): Promise<Model<Api>[]> {
		let adapted = [...models];
		for (const [id, stored] of this.#auth.entries()) {
			if (stored.type !== "oauth") continue;
			const provider = await findOAuthProvider(id);
			adapted = provider?.modifyModels?.(adapted, stored) ?? adapted;
		}
		return adapted;
	}

	async #find(provider: string): Promise<string | undefined> {
		const { env, home, settingsKeys = {} } = this.#options;
		const override = this.#overrides.get(provider);
		if (override) return override;
		const stored = this.#auth.get(provider);
		if (stored) return stored.type === "api_key" ? stored.key : this.#loginKey(provider, stored);
		const access = this.#providers.get(provider);
		const configured = access?.apiKey === undefined ? undefined : await resolveSecret(access.apiKey, env);
		if (configured !== undefined) return configured;
		if (Object.hasOwn(settingsKeys, provider)) return settingsKeys[provider];
		return (
			findEnvironmentKey(provider, env, home)?.key ??
			(access?.keyless || this.#keyless.has(provider) ? NO_KEY : undefined)
		);
	}

	async #loginKey(id: string, login: OAuthLogin): Promise<string | undefined> {
		const provider = await findOAuthProvider(id);
		if (!provider) throw renewalFailed(id, new Error("this version of pi does not know the login"));
		if (isFresh(login)) return provider.getApiKey(login);
		const running = this.#renewals.get(id);
		if (running) return running;
		const renewal = this.#renew(provider).finally(() => this.#renewals.delete(id));
		this.#renewals.set(id, renewal);
		return renewal;
	}

	/** Refresh tokens change with each use: two processes that renew at once would log each other out. */
	async #renew(provider: OAuthProviderInterface): Promise<string | undefined> {
		const renew = async () => {
			const current = this.#auth.get(provider.id);
			if (current?.type !== "oauth") return undefined;
			if (isFresh(current)) return provider.getApiKey(current);
			try {
				const tokens = await provider.refreshToken(current);
				await this.saveLogin(provider.id, { ...current, ...tokens });
				return provider.getApiKey(tokens);
			} catch (cause) {
				if (current.expires > Date.now()) return provider.getApiKey(current);
				throw renewalFailed(provider.id, cause);
			}
		};
		return withFileLock(`${this.#auth.path}.renewal`, renew, 60_000);
	}

	/** Every known key value that is long enough to be one, longest first. */
	#secrets(): string[] {
		const { env, home, settingsKeys = {} } = this.#options;
		const values = [...this.#overrides.values(), ...Object.values(settingsKeys), ...this.#seen];
		for (const stored of this.#auth.entries().values()) {
			values.push(...(stored.type === "api_key" ? [stored.key] : [stored.access, stored.refresh]));
		}
		for (const access of this.#providers.values()) {
			values.push(plainSecret(access.apiKey ?? "", env) ?? "");
			for (const [name, written] of Object.entries(access.headers)) {
				if (SECRET_HEADER.test(name)) values.push(plainSecret(written, env)?.replace(/^\w+ /, "") ?? "");
			}
		}
		for (const provider of environmentProviders()) values.push(findEnvironmentKey(provider, env, home)?.key ?? "");
		return [...new Set(values)]
			.filter((value) => value.length >= SHORTEST_SECRET && value !== AMBIENT_KEY)
			.sort((a, b) => b.length - a.length);
	}
}

function isFresh(login: OAuthLogin): boolean {
	return login.expires - EXPIRY_MARGIN_MS > Date.now();
}

function renewalFailed(provider: string, cause: unknown): PiError {
	return new PiError("key_missing", `The login for ${provider} could not be renewed`, {
		cause,
		hint: `run /login ${provider} in pi`,
	});
}

async function findOAuthProvider(id: string): Promise<OAuthProviderInterface | undefined> {
	const { getOAuthProvider } = await import("@mariozechner/pi-ai/oauth");
	return getOAuthProvider(id);
}
