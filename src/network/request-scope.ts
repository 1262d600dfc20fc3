import { AsyncLocalStorage } from "node:async_hooks";
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

/** A scope whose requests may still begin. */
export interface OpenScope {
	/** Calls a function; all requests that begin in it, or later because of it, have this scope in addition to the current one. */
	run<T>(action: () => T): T;
	/** Requests that begin from now on may have no scope. */
	close(): void;
}

/**
 * Clients of providers call the global `fetch` and pass nothing on to it. So the requests of sessions that run at the same
 * time differ in the asynchronous context in which they begin.
 */
const scopes = new AsyncLocalStorage<RequestScope>();
/** Number of open scopes. */
let open = 0;

/**
 * Opens a scope. Close it as soon as all its requests have begun: while one is open, Node 20 and 22 trace every promise of
 * the process, which takes a fifth of the CPU time that a stream takes.
 */
export function openScope(scope: RequestScope): OpenScope {
	let isOpen = true;
	open += 1;
	return {
		run: (action) => scopes.run({ ...scopes.getStore(), ...scope }, action),
		close() {
			if (!isOpen) return;
			isOpen = false;
			open -= 1;
			if (open === 0) scopes.disable();
		},
	};
}

/** Calls a function in a scope that remains open: its requests may begin at any later time. */
export function withScope<T>(scope: RequestScope, action: () => T): T {
	return openScope(scope).run(action);
}

/** The scope of the running code. */
export function currentScope(): RequestScope {
	return scopes.getStore() ?? {};
}
