import { setGlobalDispatcher } from "undici/lib/global.js";
import { ProxyDispatcher } from "./proxy-dispatcher.js";
import type { ProxyRules } from "./proxy-rules.js";

/** Makes `fetch` and the WebSockets of this process connect through proxies. */
export function useProxies(proxyOf: ProxyRules): void {
	setGlobalDispatcher(new ProxyDispatcher(proxyOf));
}
