import type { Api, Model, SimpleStreamOptions } from "@mariozechner/pi-ai";
import { errorText, PiError } from "../errors.js";
import type { Network } from "../network/network.js";
import { packageVersion } from "../util/package-root.js";
import { repairPayload } from "./repair-payload.js";
import type { ModelClient } from "./session-setup.js";

/** Clients that pi-ai would otherwise load, slowly, during the first request. */
const PROVIDER_CLIENTS: Partial<Record<string, () => Promise<unknown>>> = {
	"anthropic-messages": () => import("@mariozechner/pi-ai/anthropic"),
	"google-generative-ai": () => import("@mariozechner/pi-ai/google"),
	"openai-completions": () => import("@mariozechner/pi-ai/openai-completions"),
	"openai-responses": () => import("@mariozechner/pi-ai/openai-responses"),
};

/** Loads pi-ai, which is slow to import, as the client of a session. Its requests use the network of the session. */
export async function loadModelClient(network: Network): Promise<ModelClient> {
	const ai = await import("../util/pi-ai.js");
	const agent = `pi/${packageVersion()}`;
	return {
		stream: (model, context, options) =>
			network.run(() =>
				ai.streamSimple(withProxy(model, network), context, {
					...withUserAgent(model, options, agent),
					...transportFor(model, network),
					onPayload: repairPayload,
				}),
			),
		// Loads pi-ai's library of schemas, which only tool calls need.
		validator: async () => (await import("@mariozechner/pi-ai")).validateToolArguments,
		isOverflow: (message, contextWindow) => ai.isContextOverflow(message, contextWindow || undefined),
		clampThinkingLevel: (model: Model<Api>, level) => ai.clampThinkingLevel(model, level),
		async prepare(model) {
			await network.prepare(model.baseUrl);
			// pi-ai imports its Bedrock client from a path that does not exist in a bundle.
			if (model.api === "bedrock-converse-stream") ai.setBedrockProviderModule(await loadBedrock(model, network));
			else await PROVIDER_CLIENTS[model.api]?.();
		},
		release: (sessionId) => ai.cleanupSessionResources(sessionId),
	};
}

/** The Bedrock client. pi does not contain the SDK that it needs, which is larger than pi. */
async function loadBedrock(model: Model<Api>, network: Network) {
	try {
		const { bedrockProviderModule } = await import("@mariozechner/pi-ai/bedrock-provider");
		// It loads this one during the first request, if there is a proxy.
		if (network.proxyOf(model.baseUrl)) await import("@smithy/node-http-handler");
		return bedrockProviderModule;
	} catch (error) {
		throw missingPackage(error) ?? error;
	}
}

/** The error for a package of the Bedrock client that is not installed; null for another error. */
export function missingPackage(error: unknown): PiError | null {
	// Node says "package" for imports and "module" for require().
	const name = /^Cannot find (?:package|module) '((?:@[\w.-]+\/)?\w[\w.-]*)'/.exec(errorText(error))?.[1];
	if (name === undefined) return null;
	return new PiError("package_missing", `Amazon Bedrock needs the package ${name}, which is not installed`, {
		hint: `install it next to pi: npm install --global ${name}`,
	});
}

/** Some providers serve a login or plan only to the client that it was made for; pi-ai or the user names that client. */
function withUserAgent(model: Model<Api>, options: SimpleStreamOptions, agent: string): SimpleStreamOptions {
	const own = Object.entries({ ...model.headers, ...options.headers });
	const named = own.find(([name]) => name.toLowerCase() === "user-agent")?.[1];
	const isClaudeLogin = model.api === "anthropic-messages" && options.apiKey?.includes("sk-ant-oat") === true;
	if (named === undefined && isClaudeLogin) return options;
	const others = Object.entries({ ...options.headers }).filter(([name]) => name.toLowerCase() !== "user-agent");
	return { ...options, headers: { ...Object.fromEntries(others), "User-Agent": named ?? agent } };
}

/** The Bedrock client does not use `fetch`; pi's patch of it asks the model for the proxy of an address. */
function withProxy(model: Model<Api>, network: Network): Model<Api> & { proxyOf?: (url: string) => string } {
	if (model.api !== "bedrock-converse-stream") return model;
	// With "socks5", its SOCKS client would resolve the host on this machine.
	return { ...model, proxyOf: (url) => network.proxyOf(url)?.url.replace(/^socks5:/, "socks5h:") ?? "" };
}

/** The Codex client prefers WebSockets, which cannot use a proxy of one session only. */
function transportFor({ api, baseUrl }: Model<Api>, network: Network): Pick<SimpleStreamOptions, "transport"> {
	const needsFetch = api === "openai-codex-responses" && !network.isOfProcess && network.proxyOf(baseUrl) !== null;
	return needsFetch ? { transport: "sse" } : {};
}
