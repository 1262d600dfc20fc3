import type { Api, Model, OAuthCredentials } from "@mariozechner/pi-ai";
import type { Environment } from "../config/paths.js";
import { PiError } from "../errors.js";
import { withFileLock } from "../util/file-lock.js";
import { revealLine } from "../util/reveal.js";
import { isSecretName, SecretMask } from "../util/secret-mask.js";
import { AuthFile, type StoredCredential } from "./auth-file.js";
import { AMBIENT_KEY, environmentProviders, findEnvironmentKey, variablesHint } from "./env-keys.js";
import { findLogin, loginProviders, type ProviderLogin } from "./logins.js";
import { missingVariable, plainSecret, resolveSecret } from "./secret.js";

/** Access to a provider as models.json configures it. */
export interface ProviderAccess {
	name: string;
	/** What configures it. Default: `models.json`. */
	source?: string;
	/** Unresolved: an environment variable, `!command`, or the key itself. */
	apiKey?: string;
	/** Values are unresolved, like `apiKey`. */
	headers: Readonly<Record<string, string>>;
	/** Headers of single models by id; they replace those of the provider. */
	modelHeaders?: Readonly<Record<string, Readonly<Record<string, string>>>>;
	/** Also send the key as `Authorization: Bearer …`. */
	authHeader: boolean;
	/** A local server that requires no key. */
	keyless: boolean;
	/** How users log in; it replaces that of pi-ai. */
	login?: ProviderLogin;
}

/** Sources of API keys. */
export interface CredentialsOptions {
	/** Path of auth.json. */
	authFile: string;
	env: Environment;
	home: string;
	/** `apiKeys` of the user's settings. */
	settingsKeys?: Readonly<Record<string, string>>;
	/** Providers of models.json. */
	providers?: readonly ProviderAccess[];
	/** Receives a line for each file that is broken or readable by other users. */
	onNotice?(line: string): void;
}

/** Key and headers of a request. */
export interface RequestAuth {
	apiKey: string;
	headers?: Record<string, string>;
}

/** How a provider is authenticated: an API key, a login, neither because it is a local server, or not yet. */
export type KeyState = "key" | "login" | "local" | "none";

type OAuthLogin = Extract<StoredCredential, { type: "oauth" }>;

const LOGIN_SOURCE = "login in auth.json";
const KEYLESS_SOURCE = "no key needed";
/** Servers without keys accept any text, but pi-ai requires a key. */
const NO_KEY = "none";
const KEYLESS_PROVIDERS = new Set(["ollama", "lmstudio", "llamacpp", "vllm", "demo"]);
/** A token that expires this soon is renewed before the request, which takes time itself. */
const EXPIRY_MARGIN_MS = 60_000;
/** Time limit for renewing a login, ms. */
const RENEWAL_MS = 60_000;

/**
 * Finds the API keys of providers. The order of precedence is `--api-key`, auth.json (keys and logins), models.json,
 * `apiKeys` in the settings, environment.
 */
export class Credentials {
	readonly #auth: AuthFile;
	readonly #options: CredentialsOptions;
	readonly #providers: ReadonlyMap<string, ProviderAccess>;
	readonly #overrides = new Map<string, string>();
	/** Secrets from key commands and renewed logins, for `redactSecrets`. */
	readonly #seen = new Set<string>();
	readonly #renewals = new Map<string, Promise<string | undefined>>();

	constructor(options: CredentialsOptions) {
		this.#options = options;
		this.#auth = new AuthFile(options.authFile, (line) => options.onNotice?.(line));
		this.#providers = new Map(options.providers?.map((provider) => [provider.name, provider]));
	}

	/** Uses this key for the provider, in this process only (`--api-key`). */
	overrideKey(provider: string, key: string): void {
		this.#overrides.set(provider, key);
	}

	/** Whether a key, a login or credentials of the provider's own tools exist. Runs no key command. */
	hasKey(provider: string): boolean {
		return this.keySource(provider) !== undefined;
	}

	/** Where a provider's key comes from: `auth.json`, `OPENAI_API_KEY`, …; undefined if it has none. */
	keySource(provider: string): string | undefined {
		const { env, home, settingsKeys = {} } = this.#options;
		if (this.#overrides.has(provider)) return "--api-key";
		const stored = this.#auth.get(provider);
		if (stored) return stored.type === "oauth" ? LOGIN_SOURCE : "auth.json";
		const access = this.#providers.get(provider);
		if (access?.apiKey && missingVariable(access.apiKey, env) === undefined) return sourceOf(access);
		if (Object.hasOwn(settingsKeys, provider)) return "settings.json";
		const fromEnvironment = findEnvironmentKey(provider, env, home);
		if (fromEnvironment) return fromEnvironment.source;
		return access?.keyless || KEYLESS_PROVIDERS.has(provider) ? KEYLESS_SOURCE : undefined;
	}

	/** The hook that configures a provider, such as `hook corp`; undefined for all others. */
	hookOf(provider: string): string | undefined {
		return this.#providers.get(provider)?.source;
	}

	keyState(provider: string): KeyState {
		const source = this.keySource(provider);
		if (source === undefined) return "none";
		return source === LOGIN_SOURCE ? "login" : source === KEYLESS_SOURCE ? "local" : "key";
	}

	/**
	 * The key for a model's provider; renews an expired login.
	 * @returns undefined if the provider has no key
	 * @throws PiError `key_missing` if a key command fails or a login cannot be renewed
	 */
	async resolveApiKey(model: Pick<Model<Api>, "provider">): Promise<string | undefined> {
		const key = await this.#find(model.provider);
		if (key !== undefined) this.#seen.add(key);
		return key;
	}

	/**
	 * Key and headers for a request.
	 * @throws PiError `key_missing`, also for a key or a header that cannot be sent; the hint names what to set or run
	 */
	async requestAuth({ provider, id }: Pick<Model<Api>, "provider" | "id">): Promise<RequestAuth> {
		const apiKey = await this.resolveApiKey({ provider });
		if (apiKey === undefined) throw this.describeMissingKey(provider);
		return this.authWith({ provider, id }, apiKey);
	}

	/**
	 * Headers for a request with this key, which need not be saved. It is a secret from now on.
	 * @throws PiError `key_missing` for a key or a header that cannot be sent
	 */
	async authWith({ provider, id }: Pick<Model<Api>, "provider" | "id">, apiKey: string): Promise<RequestAuth> {
		this.#seen.add(apiKey);
		checkKey(provider, apiKey, this.keySource(provider));
		const access = this.#providers.get(provider);
		const headers = new Map<string, [name: string, value: string]>();
		const own = Object.hasOwn(access?.modelHeaders ?? {}, id) ? access?.modelHeaders?.[id] : undefined;
		for (const [name, written] of Object.entries({ ...access?.headers }).concat(Object.entries({ ...own }))) {
			const value = await resolveSecret(written, this.#options.env);
			if (value !== written && value !== undefined) this.#seen.add(value);
			// A value that only looks like the name of a variable is sent unchanged.
			headers.set(name.toLowerCase(), [name, value ?? written]);
		}
		for (const header of headers.values()) checkHeader(provider, access ? sourceOf(access) : "models.json", header);
		if (access?.authHeader) headers.set("authorization", ["Authorization", `Bearer ${apiKey}`]);
		return headers.size > 0 ? { apiKey, headers: Object.fromEntries(headers.values()) } : { apiKey };
	}

	/** The ids of all providers with a login. */
	loginProviders(): string[] {
		const configured = [...this.#providers.values()].filter(({ login }) => login);
		return [...new Set([...loginProviders(), ...configured.map(({ name }) => name)])];
	}

	/** The login of a provider; undefined if it has none. */
	async findLogin(provider: string): Promise<ProviderLogin | undefined> {
		return this.#providers.get(provider)?.login ?? findLogin(provider);
	}

	/** Saves a key in auth.json. @throws PiError `config_write_failed` */
	async saveKey(provider: string, key: string): Promise<void> {
		await this.#auth.set(provider, { type: "api_key", key: key.trim() });
	}

	/** Saves the tokens of a login in auth.json. @throws PiError `config_write_failed` */
	async saveLogin(provider: string, tokens: OAuthCredentials): Promise<void> {
		await this.#auth.set(provider, { ...tokens, type: "oauth" });
	}

	/** Removes a provider from auth.json. @returns false if it was not there. @throws PiError as `AuthFile.remove` */
	async removeKey(provider: string): Promise<boolean> {
		return this.#auth.remove(provider);
	}

	/** Providers in auth.json. */
	storedProviders(): { provider: string; type: StoredCredential["type"] }[] {
		return [...this.#auth.entries()].map(([provider, { type }]) => ({ provider, type }));
	}

	/** The error for a missing key, with every way to provide it. */
	describeMissingKey(provider: string): PiError {
		const access = this.#providers.get(provider);
		const variable = access?.apiKey && missingVariable(access.apiKey, this.#options.env);
		if (variable) {
			const message = `No key for ${provider}: ${sourceOf(access)} reads it from ${variable}, which is not set`;
			return new PiError("key_missing", message, { hint: `set ${variable}, or run /login ${provider} in pi` });
		}
		const ways = [variablesHint(provider), `run /login ${provider} in pi (saves it in ${this.#options.authFile})`];
		return new PiError("key_missing", `No key for ${provider}`, { hint: ways.filter(Boolean).join(", or ") });
	}

	/** Environment variables that should contain the key of a configured provider, and are not set. */
	missingVariables(): { provider: string; variable: string; source: string }[] {
		return [...this.#providers].flatMap(([provider, access]) => {
			const variable = access.apiKey === undefined ? undefined : missingVariable(access.apiKey, this.#options.env);
			return variable === undefined ? [] : [{ provider, variable, source: sourceOf(access) }];
		});
	}

	/** Replaces every known key with `‹key›`, in text that a provider or a tool may have echoed. */
	redactSecrets(text: string): string {
		return new SecretMask(this.#secrets()).text(text);
	}

	/**
	 * Lets logins adapt the models of their provider, such as to an account's own address; others are unchanged.
	 * @param all called if a login adapts models
	 * @returns null if none does
	 */
	async adaptModels(all: () => readonly Model<Api>[]): Promise<Model<Api>[] | null> {
		let adapted: Model<Api>[] | null = null;
		for (const [id, stored] of this.#auth.entries()) {
			if (stored.type !== "oauth") continue;
			const login = await this.findLogin(id);
			const { baseUrl } = (await login?.toAuth(stored)) ?? {};
			if (!login?.filterModels && baseUrl === undefined) continue;
			const models: readonly Model<Api>[] = adapted ?? all();
			const own = models.filter(({ provider }) => provider === id);
			const usable = new Set(login?.filterModels?.(own, stored) ?? own);
			adapted = models.flatMap((model) => {
				if (model.provider !== id) return model;
				return usable.has(model) ? { ...model, ...(baseUrl !== undefined && { baseUrl }) } : [];
			});
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
			(access?.keyless || KEYLESS_PROVIDERS.has(provider) ? NO_KEY : undefined)
		);
	}

	async #loginKey(id: string, login: OAuthLogin): Promise<string | undefined> {
		const provider = await this.findLogin(id);
		if (!provider) throw renewalFailed(id, new Error("this version of pi does not support the provider's login"));
		if (isFresh(login)) return tokenOf(provider, login);
		const running = this.#renewals.get(id);
		if (running) return running;
		const renewal = this.#renew(provider).finally(() => this.#renewals.delete(id));
		this.#renewals.set(id, renewal);
		return renewal;
	}

	/** Renews under a lock: a refresh token works once, so two processes renewing at once would log each other out. */
	async #renew(login: ProviderLogin): Promise<string | undefined> {
		const { provider } = login;
		const renew = async () => {
			const current = this.#auth.get(provider);
			if (current?.type !== "oauth") return undefined;
			if (isFresh(current)) return tokenOf(login, current);
			try {
				const tokens = await login.refresh(current, AbortSignal.timeout(RENEWAL_MS));
				await this.saveLogin(provider, { ...current, ...tokens });
				return await tokenOf(login, tokens);
			} catch (cause) {
				if (current.expires > Date.now()) return tokenOf(login, current);
				throw renewalFailed(provider, cause);
			}
		};
		return withFileLock(`${this.#auth.path}.renewal`, renew, RENEWAL_MS);
	}

	/** Every known key that is long enough to be a secret, longest first. */
	#secrets(): string[] {
		const { env, home, settingsKeys = {} } = this.#options;
		const values = [...this.#overrides.values(), ...Object.values(settingsKeys), ...this.#seen];
		values.push(...this.#auth.serverSecrets());
		for (const stored of this.#auth.entries().values()) {
			values.push(...(stored.type === "api_key" ? [stored.key] : [stored.access, stored.refresh]));
		}
		for (const access of this.#providers.values()) {
			values.push(plainSecret(access.apiKey ?? "", env) ?? "");
			const groups = [access.headers, ...Object.values(access.modelHeaders ?? {})];
			for (const [name, written] of groups.flatMap((headers) => Object.entries(headers))) {
				if (isSecretName(name)) values.push(plainSecret(written, env)?.replace(/^\w+ /, "") ?? "");
			}
		}
		for (const provider of environmentProviders()) values.push(findEnvironmentKey(provider, env, home)?.key ?? "");
		return values.filter((value) => value !== AMBIENT_KEY);
	}
}

function sourceOf({ source = "models.json" }: ProviderAccess): string {
	return source;
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

/** The key for requests that a login gives. */
async function tokenOf(provider: ProviderLogin, login: OAuthLogin): Promise<string | undefined> {
	return (await provider.toAuth(login)).apiKey;
}

/** Names and values of HTTP headers as Node sends them; whitespace around a value is not sent. */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const EXPECTED = "a line break or a character outside Latin-1";

/** @throws PiError `key_missing` for a key that no header can carry; the error does not contain it */
function checkKey(provider: string, key: string, source: string | undefined): void {
	if (VALUE.test(key.trim())) return;
	const from = source === undefined ? "" : ` (${source})`;
	throw new PiError("key_missing", `The key of ${provider}${from} contains ${EXPECTED}, so it cannot be sent`, {
		hint: `correct the key, or run /login ${provider} in pi`,
	});
}

/** @throws PiError `key_missing` for a header that cannot be sent; the error does not contain its value */
function checkHeader(provider: string, source: string, [name, value]: readonly [name: string, value: string]): void {
	const header = `The header ${JSON.stringify(revealLine(name))} of ${provider} in ${source}`;
	const hint = `correct it in ${source}`;
	if (!NAME.test(name)) throw new PiError("key_missing", `${header} is not a legal header name`, { hint });
	if (VALUE.test(value.trim())) return;
	throw new PiError("key_missing", `${header} contains ${EXPECTED}, so it cannot be sent`, { hint });
}
