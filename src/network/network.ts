import { withCallerStack } from "../util/caller-stack.js";
import { pacedFetch } from "../util/paced-fetch.js";
import { isLightRequest } from "./light-headers.js";
import type { ProxyRules, ProxyServer } from "./proxy-rules.js";
import { currentScope, type RequestRoute, withScope } from "./request-scope.js";

type Environment = Readonly<Record<string, string | undefined>>;

/** The way to the servers: directly, or through the proxies that an environment names. */
export interface Network {
	/** The proxy that requests to an address go through; null for a direct connection. */
	proxyOf(url: string): ProxyServer | null;
	/** Loads what requests to an address need: the proxy client, if the environment names a proxy. */
	prepare(url?: string): Promise<void>;
	/**
	 * For the clients of models that accept a `fetch`: Node's own takes 15 to 40 ms to load, so that of the process avoids it
	 * as long as nothing else has loaded it.
	 */
	readonly clientFetch: typeof globalThis.fetch;
	/** Calls a function; the requests of `fetch` that begin in it, or later because of it, use this network. */
	run<T>(action: () => T): T;
	/** True if everything in the process uses this network, WebSockets too. */
	readonly isOfProcess: boolean;
}

/** The network of pi's own process; null in another program, which has its own. */
let ofProcess: { env: Environment; network: Network } | null = null;

/**
 * Sets up `fetch` for this process: paced, with the error bodies of exchanges, and through the proxies that the environment
 * names. The proxy client is loaded with the first request. The stack traces of failures name the caller.
 * @throws PiError `proxy_invalid`
 */
export async function setUpNetwork(env: Environment): Promise<void> {
	const fetch = pacedFetch(globalThis.fetch);
	const rules = await readRules(env);
	let ready: Promise<void> | null = null;
	const prepare = async (url?: string) => {
		if (rules) ready ??= import("./global-proxies.js").then(({ useProxies }) => useProxies(rules));
		else if (url !== undefined)
			await import("./light-fetch.js").then(({ prepareLightFetch }) => prepareLightFetch(url));
		await ready;
	};
	const proxyOf = (url: string) => rules?.(url) ?? null;
	const clientFetch = rules ? globalFetch : lightOr(globalFetch);
	ofProcess = { env, network: { isOfProcess: true, proxyOf, prepare, clientFetch, run: (action) => action() } };
	const send = withErrorBodies(async (...request) => {
		await prepare();
		return fetch(...request);
	});
	globalThis.fetch = withCallerStack(send);
}

/** The `fetch` of the process at the time of the call: hooks may replace it. */
const globalFetch: typeof globalThis.fetch = (...request) => globalThis.fetch(...request);

/** `lightFetch` for the requests that it can send while Node's fetch is not loaded, and another function for all others. */
function lightOr(other: typeof globalThis.fetch): typeof globalThis.fetch {
	const light = withErrorBodies(async (...request) => {
		const sent: readonly unknown[] = request;
		if (!isLightRequest(sent)) return other(...request);
		const { lightFetch } = await import("./light-fetch.js");
		return lightFetch(...sent);
	});
	const send = withCallerStack(light);
	return (...request) => (isFetchLoaded() ? other : send)(...request);
}

/** True once anything in the process used Node's fetch, or, like a hook may do, replaced its connections. */
function isFetchLoaded(): boolean {
	return Symbol.for("undici.globalDispatcher.1") in globalThis;
}

/**
 * The network of a session with this environment: that of the process if it has the same environment, else one that only
 * the requests in its `run` use.
 * @throws PiError `proxy_invalid`
 */
export async function networkOf(env: Environment): Promise<Network> {
	if (ofProcess?.env === env) return ofProcess.network;
	const rules = await readRules(env);
	let loaded: Promise<object> | null = null;
	const options = () => {
		loaded ??= rules
			? import("./proxy-dispatcher.js").then(({ ProxyDispatcher }) => ({ dispatcher: new ProxyDispatcher(rules) }))
			: Promise.resolve({});
		return loaded;
	};
	const route: RequestRoute = { proxyOf: rules, options };
	installRoutes();
	return {
		isOfProcess: false,
		clientFetch: globalFetch,
		proxyOf: (url) => rules?.(url) ?? null,
		prepare: async () => void (await options()),
		run(action) {
			currentScope().exchange?.onRoute(route);
			return withScope({ route }, action);
		},
	};
}

/** The proxy that requests of the running code to an address go through; null for a direct connection. */
export function proxyOf(url: string): ProxyServer | null {
	const { route } = currentScope();
	return (route ? route.proxyOf?.(url) : ofProcess?.network.proxyOf(url)) ?? null;
}

async function readRules(env: Environment): Promise<ProxyRules | null> {
	const isProxied = Object.keys(env).some((name) => /^(?:https?|all)_proxy$/i.test(name) && env[name]);
	return isProxied ? (await import("./proxy-rules.js")).readProxyRules(env) : null;
}

/** The functions that `installRoutes` has put in the place of `fetch`. */
const routed = new WeakSet<typeof globalThis.fetch>();

/**
 * Lets `fetch` follow the route of the scope, once for all sessions: clients of providers accept no other `fetch`. Requests
 * of the program itself are unchanged.
 */
function installRoutes(): void {
	const { fetch } = globalThis;
	if (routed.has(fetch)) return;
	const onRoute = withErrorBodies(
		pacedFetch(async (input, init) => fetch(input, { ...init, ...(await currentScope().route?.options()) })),
	);
	const withRoutes: typeof fetch = (...request) => (currentScope().route ? onRoute : fetch)(...request);
	routed.add(withRoutes);
	globalThis.fetch = withRoutes;
}

/** Maximum number of redirects of a request. */
const MAX_REDIRECTS = 5;

/**
 * Wraps `fetch` so that it follows redirects within a server only, since another server must not get the key. Any other redirect is
 * returned as the response.
 */
function withinServer(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
	return async (input, init) => {
		const scope = currentScope();
		let response = await fetch(input, { ...init, redirect: "manual" });
		for (let count = 0; count < MAX_REDIRECTS; count++) {
			const target = redirectWithin(input, init, response);
			if (target === null) break;
			await response.body?.cancel();
			// The scope may be closed by now: all requests of its owner have begun.
			response = await withScope(scope, () => fetch(target, { ...init, redirect: "manual" }));
		}
		return response;
	};
}

/** @returns the address on the same server that repeats the request; null if the response is not such a redirect */
function redirectWithin(
	input: Parameters<typeof globalThis.fetch>[0],
	init: RequestInit | undefined,
	{ status, headers, url }: Response,
): string | null {
	const location = headers.get("location");
	const isRepeated = status === 307 || status === 308 || (status >= 301 && status <= 303 && isRead(init));
	if (location === null || !isRepeated || input instanceof Request || !URL.canParse(location, url)) return null;
	const target = new URL(location, url);
	return target.origin === new URL(url).origin ? target.href : null;
}

function isRead(init: RequestInit | undefined): boolean {
	return (init?.method ?? "GET").toUpperCase() === "GET";
}

/** Longer bodies do not only say what is wrong. Bytes. */
const MAX_BYTES = 64 * 1024;

/**
 * Wraps `fetch` so that the exchange of a request gets the JSON body of a failed response (status 400 and above) before
 * the client reads it. Responses are unchanged.
 */
function withErrorBodies(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
	const send = withinServer(fetch);
	return async (...request) => {
		const { exchange } = currentScope();
		const response = await (exchange ? send : fetch)(...request);
		const { status, headers, url } = response;
		if (status < 400 || !exchange || !/\bjson\b/i.test(headers.get("content-type") ?? "")) return response;
		if (Number(headers.get("content-length")) > MAX_BYTES) return response;
		try {
			exchange.onErrorBody(url, await response.clone().text());
		} catch {
			// It broke off: the client fails to read it too, and reports that.
		}
		return response;
	};
}
