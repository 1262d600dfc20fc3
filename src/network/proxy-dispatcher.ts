// The entry point of undici also loads its own fetch, WebSocket and caches, which takes four times as long.
import connect from "undici/lib/api/api-connect.js";
import buildConnector from "undici/lib/core/connect.js";
import Agent from "undici/lib/dispatcher/agent.js";
import Dispatcher from "undici/lib/dispatcher/dispatcher.js";
import Pool from "undici/lib/dispatcher/pool.js";
import ProxyAgent from "undici/lib/dispatcher/proxy-agent.js";
import { type ProxyRules, type ProxyServer, proxyAccount } from "./proxy-rules.js";

// Proxy agents use a method that only the entry point adds.
Object.assign(Dispatcher.prototype, { connect });

/** Maximum time for a proxy to connect to a server, ms. */
const MAX_CONNECT_MS = 60_000;

/** Connects to servers directly or through proxies, as the rules say. */
export class ProxyDispatcher extends Dispatcher {
	readonly #direct = new Agent();
	readonly #agents = new Map<string, Dispatcher>();

	constructor(private readonly proxyOf: ProxyRules) {
		super();
	}

	override dispatch(options: Agent.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
		const proxy = this.proxyOf(String(options.origin));
		return (proxy ? this.#agentOf(proxy) : this.#direct).dispatch(options, handler);
	}

	#agentOf(proxy: ProxyServer): Dispatcher {
		const agent = this.#agents.get(proxy.url) ?? createAgent(proxy);
		this.#agents.set(proxy.url, agent);
		return agent;
	}
}

function createAgent({ url }: ProxyServer): Dispatcher {
	const proxy = new URL(url);
	if (proxy.protocol === "socks5:") return createSocksAgent(proxy);
	const { user, password } = proxyAccount(proxy);
	return new ProxyAgent({
		uri: url,
		// The agent itself ignores a user name without a password.
		...(user && { token: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` }),
		// Proxies forward plain HTTP; many refuse tunnels to other ports than 443.
		proxyTunnel: false,
		clientFactory: (origin, options) => new Pool(origin, { ...options, headersTimeout: MAX_CONNECT_MS }),
	});
}

/** undici's own SOCKS client is experimental: it prints a warning, and its errors do not say which step failed. */
function createSocksAgent(proxy: URL): Dispatcher {
	const startTls = buildConnector({ timeout: MAX_CONNECT_MS });
	return new Agent({
		connect(options, callback) {
			const isSecure = options.protocol === "https:";
			const port = Number(options.port) || (isSecure ? 443 : 80);
			const host = options.hostname.replace(/^\[(.*)\]$/, "$1");
			import("./socks.js")
				.then(({ connectThroughSocks }) => connectThroughSocks(proxy, host, port, MAX_CONNECT_MS))
				.then(
					(socket) => (isSecure ? startTls({ ...options, httpSocket: socket }, callback) : callback(null, socket)),
					(error: Error) => callback(error, null),
				);
		},
	});
}
