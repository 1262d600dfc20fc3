import type { Api, Model, SimpleStreamOptions } from "@mariozechner/pi-ai";
import { errorText, PiError } from "../../errors.js";
import type { Network } from "../../network/network.js";
import { packageVersion } from "../../util/package-root.js";
import type { ModelClient } from "../service-types.js";
import { repairPayload } from "./repair-payload.js";

/** Wire formats whose clients accept a `fetch`, and are patched to load nothing of Node's. */
const LIGHT_APIS: ReadonlySet<Api> = new Set(["anthropic-messages", "openai-completions", "openai-responses"]);

/** Loads pi-ai, which is slow to import, as the client of a session. Its requests use the network of the session. */
export async function loadModelClient(network: Network): Promise<ModelClient> {
	const ai = await import("../../util/pi-ai.js");
	const agent = `pi/${packageVersion()}`;
	return {
		stream(model, context, { reasoning, ...options }) {
			const level = ai.clampThinkingLevel(model, reasoning ?? "off");
			return network.run(() =>
				ai.streamSimple(withoutToolChanges(model), context, {
					...withHeaders(model, options, agent),
					...transportFor(model, network),
					...proxyFor(model, network),
					...(LIGHT_APIS.has(model.api) && { fetch: network.clientFetch }),
					// Clients handle a level that the model lacks in different ways, and some models cannot do without one.
					...(level !== "off" && { reasoning: level }),
					onPayload: (payload) => {
						const repaired = repairPayload(payload, { model, level });
						return options.onPayload ? options.onPayload(repaired ?? payload, model) : repaired;
					},
				}),
			);
		},
		// Loads pi-ai's library of schemas, which only tool calls need.
		validator: async () => (await import("@mariozechner/pi-ai")).validateToolArguments,
		isOverflow: (message, contextWindow) => ai.isContextOverflow(message, contextWindow || undefined),
		clampThinkingLevel: (model: Model<Api>, level) => ai.clampThinkingLevel(model, level),
		async prepare(model) {
			await network.prepare(model.baseUrl);
			try {
				await ai.loadClient(model);
			} catch (error) {
				throw missingPackage(error) ?? error;
			}
		},
		release: (sessionId) => ai.cleanupSessionResources(sessionId),
	};
}

/** The error for a package of the Bedrock client, which pi does not contain: it is larger than pi. Null for another error. */
export function missingPackage(error: unknown): PiError | null {
	// Node says "package" for imports and "module" for require().
	const name = /^Cannot find (?:package|module) '((?:@[\w.-]+\/)?\w[\w.-]*)'/.exec(errorText(error))?.[1];
	if (name === undefined) return null;
	return new PiError("package_missing", `Amazon Bedrock needs the package ${name}, which is not installed`, {
		hint: `install it next to pi: npm install --global ${name}`,
	});
}

/**
 * A request of pi names the tools that are on, and never changes them in the middle of a conversation. To be able to, the client
 * would add a tool that the user does not know.
 */
function withoutToolChanges(model: Model<Api>): Model<Api> {
	const { compat } = model;
	if (!compat || !("supportsMidConvoToolChanges" in compat)) return model;
	return { ...model, compat: { ...compat, supportsMidConvoToolChanges: false } };
}

/**
 * The headers of a request. Some providers serve a login or plan only to the client that it was made for; pi-ai or the user
 * names that client.
 */
function withHeaders(model: Model<Api>, options: SimpleStreamOptions, agent: string): SimpleStreamOptions {
	const own = Object.entries({ ...model.headers, ...options.headers });
	const named = own.find(([name]) => name.toLowerCase() === "user-agent")?.[1];
	const isClaudeLogin = model.api === "anthropic-messages" && options.apiKey?.includes("sk-ant-oat") === true;
	const others = Object.entries({ ...options.headers }).filter(([name]) => name.toLowerCase() !== "user-agent");
	if (named === undefined && isClaudeLogin) return options;
	return { ...options, headers: { ...Object.fromEntries(others), "User-Agent": named ?? agent } };
}

/** The Bedrock client does not use `fetch`: it reads the variables of proxies by itself. */
function proxyFor({ api, baseUrl }: Model<Api>, network: Network): Pick<SimpleStreamOptions, "env"> {
	if (api !== "bedrock-converse-stream") return {};
	const proxy = network.proxyOf(baseUrl)?.url;
	if (proxy?.startsWith("socks5:")) {
		throw new PiError("proxy_invalid", "Amazon Bedrock cannot be reached through a SOCKS proxy", {
			hint: "set HTTPS_PROXY to an HTTP proxy, or exclude the host with NO_PROXY",
		});
	}
	return { env: proxy ? { https_proxy: proxy, http_proxy: proxy, no_proxy: "none" } : { no_proxy: "*" } };
}

/** The Codex client prefers WebSockets, which cannot use a proxy of one session only. */
function transportFor({ api, baseUrl }: Model<Api>, network: Network): Pick<SimpleStreamOptions, "transport"> {
	const needsFetch = api === "openai-codex-responses" && !network.isOfProcess && network.proxyOf(baseUrl) !== null;
	return needsFetch ? { transport: "sse" } : {};
}
