import type { OAuthAuth, Provider } from "@mariozechner/pi-ai";

/** The login of a provider through a web site. */
export interface ProviderLogin extends OAuthAuth {
	/** The provider's id. */
	readonly provider: string;
	/** Removes models that an account cannot use. */
	filterModels?: Provider["filterModels"];
}

/** The providers of pi-ai that have a login, each loaded when it is needed: their lists of models come along. */
const PROVIDERS: Readonly<Record<string, () => Promise<Provider>>> = {
	anthropic: async () => (await import("@mariozechner/pi-ai/providers/anthropic")).anthropicProvider(),
	"github-copilot": async () => (await import("@mariozechner/pi-ai/providers/github-copilot")).githubCopilotProvider(),
	"kimi-coding": async () => (await import("@mariozechner/pi-ai/providers/kimi-coding")).kimiCodingProvider(),
	meta: async () => (await import("@mariozechner/pi-ai/providers/meta")).metaProvider(),
	"openai-codex": async () => (await import("@mariozechner/pi-ai/providers/openai-codex")).openaiCodexProvider(),
	openrouter: async () => (await import("@mariozechner/pi-ai/providers/openrouter")).openrouterProvider(),
	radius: async () => (await import("@mariozechner/pi-ai/providers/radius")).radiusProvider(),
	xai: async () => (await import("@mariozechner/pi-ai/providers/xai")).xaiProvider(),
};

/** Logins that are not pi-ai's, by provider. */
const registered = new Map<string, ProviderLogin>();

/** Adds a login, or replaces the one of its provider. @returns a function that removes it */
export function registerLogin(login: ProviderLogin): () => void {
	registered.set(login.provider, login);
	return () => {
		if (registered.get(login.provider) === login) registered.delete(login.provider);
	};
}

/** The ids of all providers with a login. */
export function loginProviders(): string[] {
	return [...new Set([...Object.keys(PROVIDERS), ...registered.keys()])];
}

/** The login of a provider; undefined if it has none. */
export async function findLogin(provider: string): Promise<ProviderLogin | undefined> {
	const own = registered.get(provider);
	if (own) return own;
	const load = Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider] : undefined;
	if (!load) return undefined;
	// pi-ai imports its logins from paths that a bundler cannot follow.
	const [{ registerBunOAuthFlows }, loaded] = await Promise.all([import("@mariozechner/pi-ai/bun-oauth"), load()]);
	registerBunOAuthFlows();
	const { oauth } = loaded.auth;
	const { filterModels } = loaded;
	if (!oauth) return undefined;
	// "OpenRouter OAuth" is not a name that people know.
	const name = oauth.name.replace(/ OAuth$/, "");
	return { ...oauth, name, provider, ...(filterModels && { filterModels }) };
}
