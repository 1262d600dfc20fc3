import { subscribe, unsubscribe } from "node:diagnostics_channel";

/** Properties of the HTTP exchange behind a reply that the message of the client omits. */
export interface ResponseFacts {
	/** Status of the response; null when none arrived. */
	status: number | null;
	/** The delay that a failed response requests, in ms; null for none. */
	retryAfterMs: number | null;
	/** The response is a web page. */
	isPage: boolean;
	/** The error that broke the connection. */
	error: { code: string; message: string } | null;
}

/** Facts about a request without an HTTP exchange. */
export const NO_FACTS: ResponseFacts = { status: null, retryAfterMs: null, isPage: false, error: null };

/** Reads the HTTP exchange of a request. */
export interface ResponseWatch {
	/** The facts about the last exchange so far. */
	readonly facts: ResponseFacts;
	stop(): void;
}

/**
 * Watches the requests to the server at `baseUrl`. pi-ai does not expose headers and connection errors, so this reads them
 * from the diagnostics channels of Node's fetch.
 */
export function watchResponse(baseUrl: string): ResponseWatch {
	const origin = originOf(baseUrl);
	let facts = NO_FACTS;
	const onHeaders = (published: unknown) => {
		const { request, response } = published as Published;
		if (String(request?.origin) !== origin || !response?.headers) return;
		facts = readFacts(response.statusCode ?? 0, response.headers);
	};
	const onError = (published: unknown) => {
		const { request, error } = published as Published;
		if (String(request?.origin) !== origin || !error) return;
		// Happy eyeballs fails with one error for each address that was tried.
		const [first = error] = error.errors ?? [];
		facts = { ...facts, error: { code: first.code ?? error.code ?? "", message: first.message ?? "" } };
	};
	subscribe(HEADERS, onHeaders);
	subscribe(ERROR, onError);
	return {
		get facts() {
			return facts;
		},
		stop() {
			unsubscribe(HEADERS, onHeaders);
			unsubscribe(ERROR, onError);
		},
	};
}

const HEADERS = "undici:request:headers";
const ERROR = "undici:request:error";

interface Failure {
	code?: string;
	message?: string;
}

interface Published {
	request?: { origin?: unknown };
	response?: { statusCode?: number; headers?: readonly (Buffer | string)[] };
	error?: Failure & { errors?: readonly Failure[] };
}

function readFacts(status: number, headers: readonly (Buffer | string)[]): ResponseFacts {
	const facts = { ...NO_FACTS, status };
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
