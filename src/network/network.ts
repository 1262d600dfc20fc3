import { pacedFetch } from "../util/paced-fetch.js";
import { withErrorBodies } from "./error-bodies.js";
import { isLightRequest } from "./light-headers.js";
import type { ProxyRules, ProxyServer } from "./proxy-rules.js";

let rules: ProxyRules | null = null;
let ready: Promise<void> | null = null;

/**
 * Sets up `fetch` for this process: paced, with `watchErrorBodies`, and through the proxies that the environment names. The
 * proxy client is loaded with the first request. Without proxies, requests to models use `lightFetch`.
 * @throws PiError `proxy_invalid`
 */
export async function setUpNetwork(env: Readonly<Record<string, string | undefined>>): Promise<void> {
	const fetch = pacedFetch(globalThis.fetch);
	const isProxied = Object.keys(env).some((name) => /^(?:https?|all)_proxy$/i.test(name) && env[name]);
	rules = isProxied ? (await import("./proxy-rules.js")).readProxyRules(env) : null;
	ready = null;
	globalThis.fetch = withErrorBodies(async (...request) => {
		const sent: readonly unknown[] = request;
		if (!rules && !isFetchLoaded() && isLightRequest(sent)) {
			const { lightFetch } = await import("./light-fetch.js");
			return lightFetch(...sent, () => fetch(...request));
		}
		await prepareNetwork();
		return fetch(...request);
	});
}

/** True once anything in the process used Node's fetch, or, like a hook may do, replaced its connections. */
function isFetchLoaded(): boolean {
	return Symbol.for("undici.globalDispatcher.1") in globalThis;
}

/** Loads what requests to an address need. For proxies, also call it before using WebSockets. */
export async function prepareNetwork(url?: string): Promise<void> {
	const current = rules;
	if (current) ready ??= import("./proxy-dispatcher.js").then(({ useProxies }) => useProxies(current));
	else if (url !== undefined) await import("./light-fetch.js").then(({ prepareLightFetch }) => prepareLightFetch(url));
	await ready;
}

/** The proxy that requests to an address go through; null for a direct connection. */
export function proxyOf(url: string): ProxyServer | null {
	return rules?.(url) ?? null;
}
