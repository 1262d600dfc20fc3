import { withCallerStack } from "../util/caller-stack.js";
import { pacedFetch } from "../util/paced-fetch.js";
import { withErrorBodies } from "./error-bodies.js";
import type { ProxyRules, ProxyServer } from "./proxy-rules.js";
import { currentScope, type RequestRoute, withScope } from "./request-scope.js";

type Environment = Readonly<Record<string, string | undefined>>;

/** The way to the servers: directly, or through the proxies that an environment names. */
export interface Network {
	/** The proxy that requests to an address go through; null for a direct connection. */
	proxyOf(url: string): ProxyServer | null;
	/** Loads what requests need: the proxy client, if the environment names a proxy. */
	prepare(): Promise<void>;
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
	const prepare = async () => {
		if (rules) ready ??= import("./global-proxies.js").then(({ useProxies }) => useProxies(rules));
		await ready;
	};
	const proxyOf = (url: string) => rules?.(url) ?? null;
	ofProcess = { env, network: { isOfProcess: true, proxyOf, prepare, run: (action) => action() } };
	const send = withErrorBodies(async (...request) => {
		await prepare();
		return fetch(...request);
	});
	globalThis.fetch = withCallerStack(send);
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
