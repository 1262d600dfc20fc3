import type { ProviderLogin, ProviderOptions } from "../hooks/types.js";
import { isRecord } from "../util/is-record.js";
import type { Refusals } from "./refusals.js";

/** Fields of a provider that pi does not read, and why. */
export const REFUSED_PROVIDER_FIELDS: Readonly<Record<string, string>> = {
	refreshModels: "the models of a provider are those of its registration; register it again to change them",
};
/** Fields of a model that pi does not read, and why. */
export const REFUSED_MODEL_FIELDS: Readonly<Record<string, string>> = {
	inputLimits: "pi takes the limits of a provider from its own list",
	promptCache: "pi sends no requests that keep a cache warm",
};
/** Fields of the login of a provider that pi does not read, and why. */
export const REFUSED_OAUTH_FIELDS: Readonly<Record<string, string>> = {
	modifyModels: "the models are those of its registration",
};
const PRICES = ["input", "output", "cacheRead", "cacheWrite"];

type Fields = Record<string, unknown>;
type Fn = (...args: unknown[]) => unknown;

const isFn = (value: unknown): value is Fn => typeof value === "function";

/** The provider of a hook for one of an extension. `pi.provider` checks its fields. */
export function adaptProvider(name: string, config: unknown, refusals: Refusals): ProviderOptions {
	const { streamSimple, oauth, name: _, models, ...fields }: Fields = Object(config);
	const refuse = (from: Fields, reasons: Readonly<Record<string, string>>, of: string) => {
		for (const [field, reason] of Object.entries(reasons)) {
			if (from[field] !== undefined) refusals.refuse(`${field} of ${of} ${name}`, reason);
			delete from[field];
		}
	};
	refuse(fields, REFUSED_PROVIDER_FIELDS, "the provider");
	const isSent = isFn(streamSimple);
	const adaptModel = (model: unknown): unknown => {
		const own: Fields = { ...Object(model) };
		refuse(own, REFUSED_MODEL_FIELDS, "models of the provider");
		// All models of the provider are sent by its function.
		if (isSent) delete own.api;
		if (isRecord(own.cost)) own.cost = Object.fromEntries(PRICES.map((price) => [price, Object(own.cost)[price]]));
		return own;
	};
	return {
		...fields,
		...(Array.isArray(models) ? { models: models.map(adaptModel) as NonNullable<ProviderOptions["models"]> } : {}),
		...(isSent ? { stream: adaptStream(streamSimple) } : {}),
		...(isRecord(oauth) ? { login: adaptLogin(name, oauth, refusals) } : {}),
	};
}

/** Extensions get the system prompt and the tools as the first message. */
function adaptStream(streamSimple: Fn): NonNullable<ProviderOptions["stream"]> {
	return async (model, context, options) => {
		const { normalizeContext } = await import("../models/library.js");
		return streamSimple(model, normalizeContext(context), options) as ReturnType<
			NonNullable<ProviderOptions["stream"]>
		>;
	};
}

function adaptLogin(provider: string, oauth: Fields, refusals: Refusals): ProviderLogin {
	const { name = provider, login, refreshToken, getApiKey } = oauth;
	for (const [field, reason] of Object.entries(REFUSED_OAUTH_FIELDS))
		if (oauth[field] !== undefined) refusals.refuse(`oauth.${field} of the provider ${provider}`, reason);
	return {
		name: String(name),
		...(isFn(login) && { login: async (steps: Steps) => login.call(oauth, callbacks(steps)) }),
		...(isFn(refreshToken) && { refresh: async (...args: unknown[]) => refreshToken.apply(oauth, args) }),
		...(isFn(getApiKey) && { apiKey: (tokens: unknown) => getApiKey.call(oauth, tokens) }),
	} as ProviderLogin;
}

type Steps = Parameters<ProviderLogin["login"]>[0];

/** The steps of a login as extensions use them. */
function callbacks({ notify, prompt, signal }: Steps): object {
	return {
		signal,
		onAuth: ({ url, instructions }: { url: string; instructions?: string }) =>
			notify({ type: "auth_url", url, ...(instructions === undefined ? {} : { instructions }) }),
		onDeviceCode: ({ userCode, verificationUri }: { userCode: string; verificationUri: string }) =>
			notify({ type: "device_code", userCode, verificationUri }),
		onProgress: (message: string) => notify({ type: "progress", message }),
		onPrompt: ({ message, placeholder }: { message: string; placeholder?: string }) =>
			prompt({ type: "text", message, ...(placeholder === undefined ? {} : { placeholder }) }),
		onManualCodeInput: () => prompt({ type: "manual_code", message: "Paste the redirect URL" }),
		onSelect: ({ message, options }: { message: string; options: { id: string; label: string }[] }) =>
			prompt({ type: "select", message, options }),
	};
}
