import { AsyncScopes, type OpenScope } from "../util/async-scopes.js";
import type { ProxyRules } from "./proxy-rules.js";

/** Receives what is known of the requests of one call. */
export interface Exchange {
	/** The requests use this route. */
	onRoute(route: RequestRoute): void;
	/** A request of `lightFetch` was answered. @param headers names and values in turn */
	onResponse(url: string, status: number, headers: readonly string[]): void;
	/** A connection of `lightFetch` failed, before or during the response. */
	onFailure(url: string, error: Error): void;
	/** The JSON body of a failed response from `url`. */
	onErrorBody(url: string, body: string): void;
}

/** How a session sends requests. */
export interface RequestRoute {
	/** null: all directly. */
	proxyOf: ProxyRules | null;
	/** Options for `fetch`, with the client for the proxies. */
	options(): Promise<object>;
}

/** What a request belongs to. */
export interface RequestScope {
	/** Absent for requests of the program itself. */
	route?: RequestRoute;
	/** The call that waits for the response. */
	exchange?: Exchange;
}

/**
 * Clients of providers call the global `fetch` and pass nothing on to it. So the requests of sessions that run at the same
 * time differ in the asynchronous context in which they begin.
 */
const scopes = new AsyncScopes<RequestScope>();

/** Opens a scope for requests, in addition to the current one. Close it as soon as all of them have begun. */
export function openScope(scope: RequestScope): OpenScope {
	return scopes.open({ ...scopes.current, ...scope });
}

/** Calls a function in a scope that remains open: its requests may begin at any later time. */
export function withScope<T>(scope: RequestScope, action: () => T): T {
	return openScope(scope).run(action);
}

/** The scope of the running code. */
export function currentScope(): RequestScope {
	return scopes.current ?? {};
}
