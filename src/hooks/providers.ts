import type { OAuthCredentials } from "@mariozechner/pi-ai";
import type { ProviderLogin } from "../models/logins.js";
import type { CustomProvider } from "../models/models-file.js";
import { isModelApi, readProvider } from "../models/models-file.js";
import { isRecord } from "../util/is-record.js";
import { stripAll } from "../util/sanitize.js";
import { hookName } from "./hook-name.js";
import type { ProviderLogin as ProviderLoginOptions, ProviderOptions } from "./types.js";

/** A provider that a hook registered. */
export interface HookProvider extends CustomProvider {
	/** Path of the hook. */
	readonly hook: string;
	/** Sends the requests. Absent: pi-ai does, as the provider's `api` says. */
	readonly stream?: NonNullable<ProviderOptions["stream"]>;
}

/** A hook that registers providers. */
interface ProviderOwner {
	readonly path: string;
	readonly providers: ReadonlyMap<string, HookProvider>;
}

const PROVIDER_NAME = /^[a-z0-9][\w.-]*$/i;

/** Checks the arguments of `pi.provider`. @throws TypeError that names every invalid field */
export function checkProvider(name: unknown, options: unknown, { path }: Pick<ProviderOwner, "path">): HookProvider {
	if (typeof name !== "string" || !PROVIDER_NAME.test(name)) {
		const given = JSON.stringify(name) ?? String(name);
		throw new TypeError(`${given} is not a valid provider name: use letters, digits, "_", "." and "-"`);
	}
	const invalid = (reasons: readonly string[]) =>
		new TypeError(`the provider ${name} is invalid: ${reasons.join("; ")}`);
	if (typeof options !== "object" || options === null) throw invalid(["it must be an object"]);
	const { stream, login, ...fields }: ProviderOptions = options;
	// A hook that sends the requests may have a wire format that pi does not know.
	const isOwnApi = stream !== undefined && typeof fields.api === "string" && !isModelApi(fields.api);
	const { api, ...others } = fields;
	const { provider, problems } = readProvider(name, isOwnApi ? others : fields);
	if (stream !== undefined && typeof stream !== "function") problems.push("stream must be a function");
	if (login !== undefined) problems.push(...loginProblems(login));
	if (!provider || problems.length > 0) throw invalid(problems);
	const own = {
		...provider,
		source: stripAll(`hook ${hookName(path)}`),
		hook: path,
		...(login ? { login: providerLogin(name, login) } : {}),
	};
	if (!stream) return own;
	return {
		...own,
		stream,
		api: (isOwnApi ? api : provider.api) ?? `hook:${name}`,
		baseUrl: provider.baseUrl ?? "",
		keyless: provider.apiKey === undefined && login === undefined,
	};
}

function loginProblems(login: unknown): string[] {
	if (!isRecord(login)) return ["login must be an object"];
	const missing = ["login", "refresh", "apiKey"].filter((member) => typeof login[member] !== "function");
	const isNamed = typeof login.name === "string" && login.name.trim() !== "";
	return [
		...(isNamed ? [] : ["login.name must be a text"]),
		...missing.map((name) => `login.${name} must be a function`),
	];
}

function providerLogin(provider: string, { name, login, refresh, apiKey }: ProviderLoginOptions): ProviderLogin {
	const checked = (tokens: unknown) => {
		const { access, refresh: renewal, expires }: Record<string, unknown> = Object(tokens);
		if (typeof access === "string" && typeof renewal === "string" && typeof expires === "number")
			return { ...(tokens as OAuthCredentials), type: "oauth" as const };
		throw new TypeError(`the login of ${provider} returned no tokens: access, refresh and expires (ms)`);
	};
	return {
		provider,
		name: stripAll(name),
		login: async (steps) => checked(await login(steps)),
		refresh: async (tokens, signal) => checked(await refresh(tokens, signal)),
		toAuth: async (tokens) => ({ apiKey: apiKey(tokens) }),
	};
}

/** The providers of hooks; a later one replaces an earlier one of the same name, with a warning. */
export function listProviders(hooks: readonly ProviderOwner[]): { providers: HookProvider[]; warnings: string[] } {
	const byName = new Map<string, HookProvider>();
	const warnings: string[] = [];
	for (const { path, providers } of hooks) {
		for (const [name, provider] of providers) {
			const taken = byName.get(name);
			if (taken) warnings.push(`The provider ${name} is registered by ${taken.hook} and ${path}; the latter is used`);
			byName.set(name, provider);
		}
	}
	return { providers: [...byName.values()], warnings };
}
