import { pacedFetch } from "../util/paced-fetch.js";
import { withErrorBodies } from "./error-bodies.js";
import type { ProxyRules, ProxyServer } from "./proxy-rules.js";

let rules: ProxyRules | null = null;
let ready: Promise<void> | null = null;

/**
 * Sets up `fetch` for this process: paced, with `watchErrorBodies`, and through the proxies that the environment names. The proxy client is loaded
 * with the first request.
 * @throws PiError `proxy_invalid`
 */
export async function setUpNetwork(env: Readonly<Record<string, string | undefined>>): Promise<void> {
	const fetch = withErrorBodies(pacedFetch(globalThis.fetch));
	const isProxied = Object.keys(env).some((name) => /^(?:https?|all)_proxy$/i.test(name) && env[name]);
	rules = isProxied ? (await import("./proxy-rules.js")).readProxyRules(env) : null;
	ready = null;
	globalThis.fetch = rules
		? async (...request) => {
				await prepareNetwork();
				return fetch(...request);
			}
		: fetch;
}

/** Loads the proxy client, if the environment names a proxy. For clients that do not use `fetch`, such as WebSockets. */
export function prepareNetwork(): Promise<void> {
	const current = rules;
	ready ??= current ? import("./proxy-dispatcher.js").then(({ useProxies }) => useProxies(current)) : Promise.resolve();
	return ready;
}

/** The proxy that requests to an address go through; null for a direct connection. */
export function proxyOf(url: string): ProxyServer | null {
	return rules?.(url) ?? null;
}
