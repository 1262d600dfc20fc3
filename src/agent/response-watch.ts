import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { proxyOf } from "../network/network.js";
import { currentScope, type Exchange, openScope } from "../network/request-scope.js";
import { hostAndPort, NO_FACTS, type ResponseFacts } from "./response-facts.js";
import { publicHeaders, type ResponseHead } from "./response-headers.js";

/** Reads the HTTP exchange of a request. */
export interface ResponseWatch {
	/** The facts about the last exchange so far. */
	readonly facts: ResponseFacts;
	/** Calls a function: the requests that begin in it, or later because of it, are watched. */
	run<T>(action: () => T): T;
	stop(): void;
}

/**
 * Watches requests to the server at `baseUrl`. pi-ai does not expose headers and connection errors, so this reads them
 * from `lightFetch` and the diagnostics channels of Node's fetch, and the bodies of failed responses, of which clients omit
 * parts, from our own `fetch`.
 * @param onResponse called with each response when its headers have arrived
 */
export function watchResponse(baseUrl: string, onResponse?: (response: ResponseHead) => void): ResponseWatch {
	const origin = originOf(baseUrl);
	let facts: ResponseFacts = { ...NO_FACTS, proxy: proxyOf(baseUrl)?.host ?? null };
	const noteResponse = (status: number, headers: readonly (Buffer | string)[]) => {
		facts = { ...NO_FACTS, proxy: facts.proxy, ...readFacts(status, headers) };
		onResponse?.({ status, headers: publicHeaders(headers) });
		// The client has its stream. It may repeat a request that failed.
		if (status >= 200 && status < 300) scope.close();
	};
	const noteFailure = (error: Failure, isProxyError: boolean) => {
		// Happy eyeballs fails with one error for each address that was tried.
		const [first = error] = error.errors ?? [];
		facts = { ...facts, isProxyError, error: { code: first.code ?? error.code ?? "", message: first.message ?? "" } };
	};
	const exchange: Exchange = {
		onRoute(route) {
			facts = { ...facts, proxy: route.proxyOf?.(baseUrl)?.host ?? null };
		},
		onResponse(url, status, headers) {
			if (originOf(url) === origin) noteResponse(status, headers);
		},
		onFailure(url, error) {
			if (originOf(url) === origin) noteFailure(error, false);
		},
		onErrorBody(url, body) {
			if (originOf(url) === origin) facts = { ...facts, body };
		},
	};
	const scope = openScope({ exchange });
	const onCreate = (published: unknown) => {
		const { request } = published as Published;
		if (request && currentScope().exchange === exchange) exchanges.set(request, exchange);
	};
	/** Whether a request belongs to this exchange. Those of a proxy client for CONNECT may begin outside of any. */
	const isOwn = (request: Published["request"]) => {
		const owner = request && exchanges.get(request);
		return owner === exchange || (owner === undefined && request?.method === "CONNECT");
	};
	const onHeaders = (published: unknown) => {
		const { request, response } = published as Published;
		// Not the answer of a proxy to CONNECT, before the request.
		if (!isOwn(request) || request?.method === "CONNECT" || !hopOf(request, origin) || !response?.headers) return;
		noteResponse(response.statusCode ?? 0, response.headers);
	};
	const onError = (published: unknown) => {
		const { request, error } = published as Published;
		const hop = hopOf(request, origin);
		if (isOwn(request) && hop !== null && error) noteFailure(error, hop === "proxy" || facts.isProxyError);
	};
	subscribe(CREATE, onCreate);
	subscribe(HEADERS, onHeaders);
	subscribe(ERROR, onError);
	return {
		get facts() {
			return facts;
		},
		run: scope.run,
		stop() {
			scope.close();
			unsubscribe(CREATE, onCreate);
			unsubscribe(HEADERS, onHeaders);
			unsubscribe(ERROR, onError);
		},
	};
}

/** The exchange of each request that began in one. */
const exchanges = new WeakMap<object, Exchange>();

const CREATE = "undici:request:create";
const HEADERS = "undici:request:headers";
const ERROR = "undici:request:error";

interface Failure {
	code?: string;
	message?: string;
	errors?: readonly Failure[];
}

interface Published {
	request?: { origin?: unknown; method?: unknown; path?: unknown };
	response?: { statusCode?: number; headers?: readonly (Buffer | string)[] };
	error?: Failure;
}

/** The end of the connection of a request to `origin`: the server, or a proxy on the way; null for another request. */
function hopOf(request: Published["request"], origin: string): "server" | "proxy" | null {
	if (!request || origin === "") return null;
	if (String(request.origin) === origin) return "server";
	// Proxies connect to HTTPS servers, and forward requests to HTTP servers.
	const isTunnel = request.method === "CONNECT" && request.path === hostAndPort(origin);
	return isTunnel || String(request.path).startsWith(`${origin}/`) ? "proxy" : null;
}

function readFacts(
	status: number,
	headers: readonly (Buffer | string)[],
): Pick<ResponseFacts, "status" | "retryAfterMs" | "isPage"> {
	const facts = { status, retryAfterMs: null as number | null, isPage: false };
	for (let i = 0; i + 1 < headers.length; i += 2) {
		const name = String(headers[i]).toLowerCase();
		const value = String(headers[i + 1]);
		if (name === "content-type") facts.isPage = /^text\/html\b/i.test(value);
		if (status < 400) continue;
		if (name === "retry-after-ms" && Number.isFinite(Number(value))) facts.retryAfterMs = Number(value);
		else if (name === "retry-after") facts.retryAfterMs ??= parseRetryAfter(value, Date.now());
	}
	return facts;
}

/** Value of a Retry-After header in ms: seconds or an HTTP date; null when it is invalid. */
export function parseRetryAfter(value: string, nowMs: number): number | null {
	const seconds = Number(value);
	if (value.trim() !== "" && Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
	const at = Date.parse(value);
	return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}

function originOf(baseUrl: string): string {
	try {
		return new URL(baseUrl).origin;
	} catch {
		return ""; // a provider without a URL, such as a scripted one, has no responses to watch
	}
}
